/* The math of InstanceNorm: each channel gets the mean 0 and variance 1, then scale and bias. */
#ifndef INSTANCENORM_COMPUTE_H
#define INSTANCENORM_COMPUTE_H

#include <math.h>

#include "generated/instancenorm.h"
#include "include/opkit/compute/reduce.h"

static const char *instancenorm_compute(const struct instancenorm_inputs *inputs,
                                        const struct instancenorm_params *params,
                                        struct instancenorm_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->x;
    const size_t channels = x->shape[1], area = x->shape[2] * x->shape[3];

    if (x->rank != 4 || inputs->scale.size != channels || inputs->bias.size != channels) {
        return "x must have 4 dimensions; scale and bias one element for each channel";
    }
    for (size_t plane = 0; plane < x->shape[0] * channels; plane++) {
        const float *image = x->float32 + plane * area;
        float *result = outputs->y.float32 + plane * area;
        const double mean = opkit_sum(image, area) / (double)area;
        const double variance = opkit_sum_of_squares(image, area, (float)mean) / (double)area;
        const double deviation = sqrt(variance + (double)params->epsilon);
        const float factor = (float)((double)inputs->scale.float32[plane % channels] / deviation);
        const float center = (float)mean, bias = inputs->bias.float32[plane % channels];
        for (size_t i = 0; i < area; i++) {
            result[i] = (image[i] - center) * factor + bias;
        }
    }
    return NULL;
}

#endif
