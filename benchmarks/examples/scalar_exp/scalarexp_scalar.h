/* The math of ScalarExp for one element: e to the power of x. */
#ifndef SCALAREXP_SCALAR_H
#define SCALAREXP_SCALAR_H

#include "generated/scalarexp.h"
#include "include/opkit/compute/fp16.h"
#include "include/opkit/compute/math.h"

static inline float scalarexp_of(float x, const struct scalarexp_params *params)
{
    (void)params;

    return opkit_exp(x);
}

#if defined(OPKIT_FP16)
OPKIT_FP16_INLINE opkit_fp16 scalarexp_of_half(opkit_fp16 x, const struct scalarexp_params *params)
{
    (void)params;

    return opkit_fp16_exp(x);
}
#endif

#endif
