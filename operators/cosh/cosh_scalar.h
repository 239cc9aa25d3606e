/*
 * The math of Cosh for one element: the hyperbolic cosine.
 *
 * generated/cosh_compute.h calls cosh_of for each element of the output, and rknn_kernel_cosh.vx is
 * generated from this file.
 */
#ifndef COSH_SCALAR_H
#define COSH_SCALAR_H

#include "generated/cosh.h"
#include "include/opkit/compute/math.h"

/* Returns an element of output. */
static inline float cosh_of(float input, const struct cosh_params *params)
{
    (void)params;

    return opkit_cosh(input);
}

#endif
