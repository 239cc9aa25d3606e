#include "generated/swish.h"
#include "include/opkit/compute/math.h"

/*
 * Returns an element of y:
 *
 *   params->alpha  y is x * sigmoid(alpha * x)
 */
static inline float swish_of(float x, const struct swish_params *params)
{
    return x * opkit_sigmoid(params->alpha * x);
}
