#include "generated/celu.h"
#include "include/opkit/compute/math.h"

/*
 * Returns an element of y:
 *
 *   params->alpha  y is alpha * (e^(x / alpha) - 1) for x <= 0
 */
static inline float celu_of(float x, const struct celu_params *params)
{
    const float negative = x > 0.0f ? 0.0f : x; /* or NaN */
    const float curve = params->alpha * opkit_expm1(negative / params->alpha); /* exact near 0 */

    return x > 0.0f ? x : curve;
}
