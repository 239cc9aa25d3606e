/*
 * The math of Sign for one element: -1, 0 or 1.
 *
 * generated/sign_compute.h calls sign_of for each element of the output, and rknn_kernel_sign.vx is
 * generated from this file.
 */
#ifndef SIGN_SCALAR_H
#define SIGN_SCALAR_H

#include <math.h>

#include "generated/sign.h"

/* Returns an element of output. */
static inline float sign_of(float input, const struct sign_params *params)
{
    (void)params;

    const float sign = input > 0.0f ? 1.0f : -1.0f;

    return fabsf(input) > 0.0f ? sign : input + 0.0f; /* 0 also for -0; or NaN */
}

#endif
