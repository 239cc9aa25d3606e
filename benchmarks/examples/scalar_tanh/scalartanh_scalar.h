/* The math of ScalarTanh for one element: the hyperbolic tangent. */
#ifndef SCALARTANH_SCALAR_H
#define SCALARTANH_SCALAR_H

#include "generated/scalartanh.h"
#include "include/opkit/compute/fp16.h"
#include "include/opkit/compute/math.h"

static inline float scalartanh_of(float x, const struct scalartanh_params *params)
{
    (void)params;

    return opkit_tanh(x);
}

#if defined(OPKIT_FP16)
OPKIT_FP16_INLINE opkit_fp16 scalartanh_of_half(opkit_fp16 x,
                                                const struct scalartanh_params *params)
{
    (void)params;

    return opkit_fp16_tanh(x);
}
#endif

#endif
