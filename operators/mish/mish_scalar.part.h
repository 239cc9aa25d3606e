#include "generated/mish.h"
#include "include/opkit/compute/fp16.h"
#include "include/opkit/compute/math.h"

/*
 * Returns x * tanh(ln(1 + e^x)).
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

#if defined(OPKIT_FP16)
/* The same of halves, for `fp16_math`: from 5 on, the result is x. */
OPKIT_FP16_INLINE opkit_fp16 mish_of_half(opkit_fp16 x, const struct mish_params *params)
{
    (void)params;

    const opkit_fp16 two = (opkit_fp16)2.0F;
    const opkit_fp16 e = opkit_fp16_exp(opkit_fp16_at_most(x, (opkit_fp16)5.0F));
    const opkit_fp16 n = e * (e + two);
    return x * (n / (n + two));
}
#endif
