/* The math of Threshold, the quantized operator of docs/vx.md: on elements, as they are. */
#ifndef THRESHOLD_COMPUTE_H
#define THRESHOLD_COMPUTE_H

#include "generated/threshold.h"

static const char *threshold_compute(const struct threshold_inputs *inputs,
                                     const struct threshold_params *params,
                                     struct threshold_outputs *outputs)
{
    for (size_t i = 0; i < inputs->input.size; i++) {
        const float x = inputs->input.uint8[i];
        outputs->output.uint8[i] = (uint8_t)(x > params->minimum ? x : params->minimum);
    }
    return NULL;
}

#endif
