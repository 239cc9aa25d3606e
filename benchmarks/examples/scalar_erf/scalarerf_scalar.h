/* The math of ScalarErf for one element: the error function. */
#ifndef SCALARERF_SCALAR_H
#define SCALARERF_SCALAR_H

#include "generated/scalarerf.h"
#include "include/opkit/compute/math.h"

static inline float scalarerf_of(float x, const struct scalarerf_params *params)
{
    (void)params;

    return opkit_erf(x);
}

#endif
