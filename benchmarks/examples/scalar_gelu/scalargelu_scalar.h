/* The math of ScalarGelu for one element: x / 2 (1 + erf(x / sqrt 2)). */
#ifndef SCALARGELU_SCALAR_H
#define SCALARGELU_SCALAR_H

#include "generated/scalargelu.h"
#include "include/opkit/compute/fp16.h"
#include "include/opkit/compute/math.h"

static inline float scalargelu_of(float x, const struct scalargelu_params *params)
{
    (void)params;

    return x * opkit_normal_cdf(x);
}

#if defined(OPKIT_FP16)
OPKIT_FP16_INLINE opkit_fp16 scalargelu_of_half(opkit_fp16 x,
                                                const struct scalargelu_params *params)
{
    (void)params;

    return x * opkit_fp16_normal_cdf(x);
}
#endif

#endif
