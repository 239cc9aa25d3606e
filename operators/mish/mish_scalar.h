/*
 * The math of Mish for one element: x * tanh(ln(1 + e^x)).
 *
 * generated/mish_compute.h calls mish_of for each element of the output, and rknn_kernel_mish.vx is
 * generated from this file.
 */
#ifndef MISH_SCALAR_H
#define MISH_SCALAR_H

#include "generated/mish.h"
#include "include/opkit/compute/math.h"

/*
 * Returns an element of y.
 *
 * With e = e^x, tanh(ln(1 + e)) is (e^2 + 2e) / (e^2 + 2e + 2): without a difference of close
 * numbers, so exact to the last bits for all x. From 20 on, it is 1.
 */
static inline float mish_of(float x, const struct mish_params *params)
{
    (void)params;

    const float e = opkit_exp(x < 20.0f ? x : 20.0f);
    const float n = e * (e + 2.0f);
    return x * (n / (n + 2.0f));
}

#endif
