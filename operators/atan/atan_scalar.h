/*
 * The math of Atan for one element: the arc tangent.
 *
 * generated/atan_compute.h calls atan_of for each element of the output, and rknn_kernel_atan.vx is
 * generated from this file.
 */
#ifndef ATAN_SCALAR_H
#define ATAN_SCALAR_H

#include "generated/atan.h"
#include "include/opkit/compute/math.h"

/* Returns an element of output. */
static inline float atan_of(float input, const struct atan_params *params)
{
    (void)params;

    return opkit_atan(input);
}

#endif
