/*
 * The math of Not for one element: whether it is false.
 *
 * generated/not_compute.h calls not_of for each element of the output.
 */
#ifndef NOT_SCALAR_H
#define NOT_SCALAR_H

#include "generated/not.h"

/* Returns an element of y. */
static inline bool not_of(bool x, const struct not_params *params)
{
    (void)params;

    return !x;
}

#endif
