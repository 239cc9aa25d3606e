#include <math.h>

#include "generated/round.h"

/*
 * Returns the nearest integer, of two the even one.
 *
 * The sum with 2^23 has no bits for a fraction: it is rounded, ties to even.
 */
static inline float round_of(float x, const struct round_params *params)
{
    (void)params;

    const float magnitude = fabsf(x);
    const float rounded = (magnitude + 8388608.0f) - 8388608.0f;

    return magnitude < 8388608.0f ? copysignf(rounded, x) : x; /* infinity, NaN and -0 stay */
}
