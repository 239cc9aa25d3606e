/* The math of ScalarMish for one element: x tanh(ln(1 + e^x)). */
#ifndef SCALARMISH_SCALAR_H
#define SCALARMISH_SCALAR_H

#include "generated/scalarmish.h"
#include "include/opkit/compute/fp16.h"
#include "include/opkit/compute/math.h"

static inline float scalarmish_of(float x, const struct scalarmish_params *params)
{
    (void)params;

    /* With t = e^x: tanh(ln(1 + t)) = (t^2 + 2 t) / (t^2 + 2 t + 2). From 20 on it is 1. */
    const float t = opkit_exp(x < 20.0F ? x : 20.0F);
    const float above = t * (t + 2.0F);

    return x * (above / (above + 2.0F));
}

#if defined(OPKIT_FP16)
OPKIT_FP16_INLINE opkit_fp16 scalarmish_of_half(opkit_fp16 x,
                                                const struct scalarmish_params *params)
{
    (void)params;

    const opkit_fp16 two = (opkit_fp16)2.0F;
    const opkit_fp16 e = opkit_fp16_exp(opkit_fp16_at_most(x, (opkit_fp16)5.0F));
    const opkit_fp16 n = e * (e + two);
    return x * (n / (n + two));
}
#endif

#endif
