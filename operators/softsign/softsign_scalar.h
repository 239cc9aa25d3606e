/*
 * The math of Softsign for one element: x / (1 + |x|).
 *
 * generated/softsign_compute.h calls softsign_of for each element of the output, and
 * rknn_kernel_softsign.vx is generated from this file.
 */
#ifndef SOFTSIGN_SCALAR_H
#define SOFTSIGN_SCALAR_H

#include <math.h>

#include "generated/softsign.h"

/* Returns an element of output. */
static inline float softsign_of(float input, const struct softsign_params *params)
{
    (void)params;

    return input / (1.0f + fabsf(input)); /* NaN for infinity, as in numpy */
}

#endif
