/*
 * The math of IsNaN for one element: whether it is NaN.
 *
 * generated/isnan_compute.h calls isnan_of for each element of the output.
 */
#ifndef ISNAN_SCALAR_H
#define ISNAN_SCALAR_H

#include "generated/isnan.h"

/* Returns an element of y. */
static inline bool isnan_of(float x, const struct isnan_params *params)
{
    (void)params;

    return x != x;
}

#endif
