/*
 * The math of Round for one element: rounded to the nearest integer, halfway cases to the even one.
 *
 * generated/round_compute.h calls round_of for each element of the output, and rknn_kernel_round.vx
 * is generated from this file.
 */
#ifndef ROUND_SCALAR_H
#define ROUND_SCALAR_H

#include <math.h>

#include "generated/round.h"

/*
 * Returns an element of y. The sum with 2^23 has no bits for a fraction: it is rounded, ties to
 * even.
 */
static inline float round_of(float x, const struct round_params *params)
{
    (void)params;

    const float magnitude = fabsf(x);
    const float rounded = (magnitude + 8388608.0f) - 8388608.0f;

    return magnitude < 8388608.0f ? copysignf(rounded, x) : x; /* infinity, NaN and -0 stay */
}

#endif
