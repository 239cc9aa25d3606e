#include <math.h>
#include <stdbool.h>

#include "generated/ceil.h"

/* Returns x rounded up to an integer: without a call, so that compilers vectorize the loop. */
static inline float ceil_of(float x, const struct ceil_params *params)
{
    (void)params;

    /* A float of 2^23 or more has no fraction; infinity and NaN do not fit int32. */
    const bool has_fraction = fabsf(x) < 8388608.0f;
    const float truncated = (float)(int32_t)(has_fraction ? x : 0.0f);
    const float rounded = truncated < x ? truncated + 1.0f : truncated;

    return has_fraction ? copysignf(rounded, x) : x; /* -0 for -0.5 */
}
