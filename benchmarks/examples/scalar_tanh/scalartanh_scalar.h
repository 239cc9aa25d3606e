/* The math of ScalarTanh for one element: the hyperbolic tangent. */
#ifndef SCALARTANH_SCALAR_H
#define SCALARTANH_SCALAR_H

#include "generated/scalartanh.h"
#include "include/opkit/compute/math.h"

static inline float scalartanh_of(float x, const struct scalartanh_params *params)
{
    (void)params;

    return opkit_tanh(x);
}

#endif
