/*
 * The math of IsInf for one element: whether it is infinite.
 *
 * generated/isinf_compute.h calls isinf_of for each element of the output.
 */
#ifndef ISINF_SCALAR_H
#define ISINF_SCALAR_H

#include <float.h>

#include "generated/isinf.h"

/*
 * Returns an element of y:
 *
 *   params->detect_negative  whether it is true for -infinity
 *   params->detect_positive  whether it is true for infinity
 */
static inline bool isinf_of(float x, const struct isinf_params *params)
{
    const bool is_negative = x < -FLT_MAX;
    const bool is_positive = x > FLT_MAX;

    /* Without &&, a branch: compilers vectorize the loop. */
    return (is_negative & (params->detect_negative != 0)) |
           (is_positive & (params->detect_positive != 0));
}

#endif
