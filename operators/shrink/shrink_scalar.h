/*
 * The math of Shrink for one element: 0 around 0, else x moved towards 0.
 *
 * generated/shrink_compute.h calls shrink_of for each element of the output, and
 * rknn_kernel_shrink.vx is generated from this file.
 */
#ifndef SHRINK_SCALAR_H
#define SHRINK_SCALAR_H

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

#endif
