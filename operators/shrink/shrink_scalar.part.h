#include "generated/shrink.h"

/*
 * Returns an element of output:
 *
 *   params->lambd  output is 0 for x from -lambd to lambd
 *   params->bias   subtracted from x above lambd, added to x below -lambd
 */
static inline float shrink_of(float input, const struct shrink_params *params)
{
    const float upper = input > params->lambd ? input - params->bias : 0.0f; /* 0 for NaN */

    return input < -params->lambd ? input + params->bias : upper;
}
