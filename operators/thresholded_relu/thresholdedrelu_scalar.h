/*
 * The math of ThresholdedRelu for one element: x above a threshold, else 0.
 *
 * generated/thresholdedrelu_compute.h calls thresholdedrelu_of for each element of the output, and
 * rknn_kernel_thresholdedrelu.vx is generated from this file.
 */
#ifndef THRESHOLDEDRELU_SCALAR_H
#define THRESHOLDEDRELU_SCALAR_H

#include "generated/thresholdedrelu.h"

/*
 * Returns an element of y:
 *
 *   params->alpha  the threshold: y is 0 up to it
 */
static inline float thresholdedrelu_of(float x, const struct thresholdedrelu_params *params)
{
    return x > params->alpha ? x : 0.0f; /* 0 for NaN */
}

#endif
