/*
 * The math of Asin for one element: the arc sine.
 *
 * generated/asin_compute.h calls asin_of for each element of the output, and rknn_kernel_asin.vx is
 * generated from this file.
 */
#ifndef ASIN_SCALAR_H
#define ASIN_SCALAR_H

#include "generated/asin.h"
#include "include/opkit/compute/math.h"

/* Returns an element of output. */
static inline float asin_of(float input, const struct asin_params *params)
{
    (void)params;

    return opkit_asin(input);
}

#endif
