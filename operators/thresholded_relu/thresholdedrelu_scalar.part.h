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
