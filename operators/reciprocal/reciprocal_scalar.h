/*
 * The math of Reciprocal for one element: 1 / x.
 *
 * generated/reciprocal_compute.h calls reciprocal_of for each element of the output, and
 * rknn_kernel_reciprocal.vx is generated from this file.
 */
#ifndef RECIPROCAL_SCALAR_H
#define RECIPROCAL_SCALAR_H

#include "generated/reciprocal.h"

/* Returns an element of y. */
static inline float reciprocal_of(float x, const struct reciprocal_params *params)
{
    (void)params;

    return 1.0f / x;
}

#endif
