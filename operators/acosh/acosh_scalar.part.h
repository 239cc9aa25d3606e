#include <stdbool.h>

#include "generated/acosh.h"
#include "include/opkit/compute/math.h"

#define ACOSH_LN2 0.693147181f

/*
 * Returns the inverse hyperbolic cosine.
 *
 * With t = x - 1, which is exact near 1, it is ln(1 + t + sqrt(t (t + 2))); for large x, where t^2
 * may overflow, ln x + ln 2.
 */
static inline float acosh_of(float input, const struct acosh_params *params)
{
    (void)params;

    const float above = input - 1.0f;
    const float t = above < -1.0f ? -1.0f : above; /* below 0, the root is NaN */
    const bool is_large = input > 1.0e9f;
    const float root = opkit_sqrt(t * (t + 2.0f));

    return opkit_log1p(is_large ? input : t + root) + (is_large ? ACOSH_LN2 : 0.0f);
}
