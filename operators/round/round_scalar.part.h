#include <math.h>

#include "generated/round.h"

/* Returns the nearest integer, of two the even one: without a call, as compilers vectorize then. */
static inline float round_of(float x, const struct round_params *params)
{
    (void)params;

#if defined(__aarch64__)
    return rintf(x); /* an instruction */
#else
    /* A sum from 2^23 up has no bits for a fraction: it is rounded. So are larger floats. */
    const float magnitude = fabsf(x);
    const float shift = magnitude < 8388608.0f ? 8388608.0f : 0.0f;

    return copysignf((magnitude + shift) - shift, x); /* -0 stays */
#endif
}
