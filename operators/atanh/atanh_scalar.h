/*
 * The math of Atanh for one element: the inverse hyperbolic tangent.
 *
 * generated/atanh_compute.h calls atanh_of for each element of the output, and rknn_kernel_atanh.vx
 * is generated from this file.
 */
#ifndef ATANH_SCALAR_H
#define ATANH_SCALAR_H

#include <math.h>

#include "generated/atanh.h"
#include "include/opkit/compute/math.h"

/*
 * Returns an element of output: with m = |x|, ln(1 + 2m / (1 - m)) / 2, exact near 0, with the sign
 * of x.
 */
static inline float atanh_of(float input, const struct atanh_params *params)
{
    (void)params;

    const float m = fabsf(input);

    return copysignf(0.5f * opkit_log1p(2.0f * m / (1.0f - m)), input);
}

#endif
