/*
 * The math of Sinh for one element: the hyperbolic sine.
 *
 * generated/sinh_compute.h calls sinh_of for each element of the output, and rknn_kernel_sinh.vx is
 * generated from this file.
 */
#ifndef SINH_SCALAR_H
#define SINH_SCALAR_H

#include "generated/sinh.h"
#include "include/opkit/compute/math.h"

/* Returns an element of output. */
static inline float sinh_of(float input, const struct sinh_params *params)
{
    (void)params;

    return opkit_sinh(input);
}

#endif
