#include "generated/swiglu.h"
#include "include/opkit/compute/math.h"

/*
 * Returns an element of y:
 *
 *   a
 *   b
 *   params->alpha  y is a * sigmoid(alpha * a) * b
 */
static inline float swiglu_of(float a, float b, const struct swiglu_params *params)
{
    return a * opkit_sigmoid(params->alpha * a) * b;
}
