/*
 * The math of Neg for one element: -x.
 *
 * generated/neg_compute.h calls neg_of for each element of the output, and rknn_kernel_neg.vx is
 * generated from this file.
 */
#ifndef NEG_SCALAR_H
#define NEG_SCALAR_H

#include "generated/neg.h"

/* Returns an element of y. */
static inline float neg_of(float x, const struct neg_params *params)
{
    (void)params;

    return -x;
}

#endif
