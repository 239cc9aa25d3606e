/*
 * The math of Or for one element: whether one of two elements is true, or both.
 *
 * generated/or_compute.h calls or_of for each element of the output; the inputs are broadcast as
 * in numpy.
 */
#ifndef OR_SCALAR_H
#define OR_SCALAR_H

#include "generated/or.h"

/* Returns an element of c. */
static inline bool or_of(bool a, bool b, const struct or_params *params)
{
    (void)params;

    return a || b;
}

#endif
