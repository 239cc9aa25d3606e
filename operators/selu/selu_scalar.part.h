#include "generated/selu.h"
#include "include/opkit/compute/math.h"

/*
 * Returns an element of y:
 *
 *   x
 *   params->alpha  y is gamma * alpha * (e^x - 1) for x <= 0
 *   params->gamma  y is gamma * x for x > 0
 */
static inline float selu_of(float x, const struct selu_params *params)
{
    /* One of the two is 0, of x's sign; both pass NaN. */
    const float positive = opkit_at_least(x, -0.0F);
    const float negative = opkit_at_most(x, 0.0F);

    return params->gamma * (positive + params->alpha * opkit_expm1(negative)); /* exact near 0 */
}
