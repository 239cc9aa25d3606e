#include "generated/celu.h"
#include "include/opkit/compute/math.h"

/*
 * Returns an element of y:
 *
 *   params->alpha  y is alpha * (e^(x / alpha) - 1) for x <= 0
 */
static inline float celu_of(float x, const struct celu_params *params)
{
    /* One of the two is 0, of x's sign; both pass NaN. */
    const float positive = opkit_at_least(x, -0.0f);
    const float negative = opkit_at_most(x, 0.0f);

    return positive + params->alpha * opkit_expm1(negative / params->alpha); /* exact near 0 */
}
