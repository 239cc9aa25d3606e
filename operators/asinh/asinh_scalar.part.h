#include <math.h>
#include <stdbool.h>

#include "generated/asinh.h"
#include "include/opkit/compute/math.h"

#define ASINH_LN2 0.693147181f

/*
 * Returns the inverse hyperbolic sine.
 *
 * With m = |x|, it is ln(1 + m + m^2 / (1 + sqrt(m^2 + 1))), exact near 0, with the sign of x; for
 * large x, where m^2 may overflow, ln m + ln 2.
 */
static inline float asinh_of(float input, const struct asinh_params *params)
{
    (void)params;

    const float m = fabsf(input);
    const bool is_large = m > 1.0e9f;
    const float more = m * m / (1.0f + opkit_sqrt(m * m + 1.0f));
    const float logarithm = opkit_log1p(is_large ? m : m + more);

    return copysignf(logarithm + (is_large ? ASINH_LN2 : 0.0f), input);
}
