/*
 * The math of Tan for one element: the tangent.
 *
 * generated/tan_compute.h calls tan_of for each element of the output, and rknn_kernel_tan.vx is
 * generated from this file.
 */
#ifndef TAN_SCALAR_H
#define TAN_SCALAR_H

#include "generated/tan.h"
#include "include/opkit/compute/math.h"

/* Returns an element of output. */
static inline float tan_of(float input, const struct tan_params *params)
{
    (void)params;

    return opkit_tan(input);
}

#endif
