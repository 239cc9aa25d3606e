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
    const float negative = x > 0.0F ? 0.0F : x; /* or NaN */
    const float curve = params->alpha * opkit_expm1(negative); /* exact near 0, too */

    return params->gamma * (x > 0.0F ? x : curve);
}
