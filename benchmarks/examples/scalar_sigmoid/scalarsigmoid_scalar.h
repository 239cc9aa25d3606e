/* The math of ScalarSigmoid for one element: 1 / (1 + e^-x). */
#ifndef SCALARSIGMOID_SCALAR_H
#define SCALARSIGMOID_SCALAR_H

#include "generated/scalarsigmoid.h"
#include "include/opkit/compute/math.h"

static inline float scalarsigmoid_of(float x, const struct scalarsigmoid_params *params)
{
    (void)params;

    return opkit_sigmoid(x);
}

#endif
