#include <math.h>

#include "generated/ceil.h"
#include "include/opkit/compute/float_bits.h"

/* Returns x rounded up to an integer: without a call, so that compilers vectorize the loop. */
static inline float ceil_of(float x, const struct ceil_params *params)
{
    (void)params;

#if defined(__aarch64__)
    return ceilf(x); /* an instruction */
#else
    /* A sum from 2^23 up has no bits for a fraction: it is rounded. So are larger floats. */
    const uint32_t sign = opkit_float_bits(x) & 0x80000000U;
    const float magnitude = fabsf(x);
    const float shift = magnitude < 8388608.0f ? 8388608.0f : 0.0f;
    const float whole = (magnitude + shift) - shift;
    const float nearest = opkit_float_from_bits(opkit_float_bits(whole) | sign);
    const float rounded = nearest + (nearest < x ? 1.0f : 0.0f);

    return opkit_float_from_bits(opkit_float_bits(rounded) | sign); /* -0 for -0.5 */
#endif
}
