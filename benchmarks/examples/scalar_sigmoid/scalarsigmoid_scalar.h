/* The math of ScalarSigmoid for one element: 1 / (1 + e^-x). */
#ifndef SCALARSIGMOID_SCALAR_H
#define SCALARSIGMOID_SCALAR_H

#include "generated/scalarsigmoid.h"
#include "include/opkit/compute/fp16.h"
#include "include/opkit/compute/math.h"

static inline float scalarsigmoid_of(float x, const struct scalarsigmoid_params *params)
{
    (void)params;

    return opkit_sigmoid(x);
}

#if defined(OPKIT_FP16)
OPKIT_FP16_INLINE opkit_fp16 scalarsigmoid_of_half(opkit_fp16 x,
                                                   const struct scalarsigmoid_params *params)
{
    (void)params;

    return opkit_fp16_sigmoid(x);
}
#endif

#endif
