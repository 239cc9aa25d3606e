/*
 * The math of Acos for one element: the arc cosine.
 *
 * generated/acos_compute.h calls acos_of for each element of the output, and rknn_kernel_acos.vx is
 * generated from this file.
 */
#ifndef ACOS_SCALAR_H
#define ACOS_SCALAR_H

#include "generated/acos.h"
#include "include/opkit/compute/math.h"

/* Returns an element of output. */
static inline float acos_of(float input, const struct acos_params *params)
{
    (void)params;

    return opkit_acos(input);
}

#endif
