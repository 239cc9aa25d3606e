#include <math.h>

#include "generated/atanh.h"
#include "include/opkit/compute/math.h"

/*
 * Returns the inverse hyperbolic tangent: with m = |x|, ln(1 + 2m / (1 - m)) / 2, exact near 0,
 * with the sign of x.
 */
static inline float atanh_of(float input, const struct atanh_params *params)
{
    (void)params;

    const float m = fabsf(input);

    return copysignf(0.5f * opkit_log1p(2.0f * m / (1.0f - m)), input);
}
