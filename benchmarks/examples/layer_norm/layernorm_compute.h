/* The math of LayerNorm: each row gets the mean 0 and the variance 1, then scale and bias. */
#ifndef LAYERNORM_COMPUTE_H
#define LAYERNORM_COMPUTE_H

#include <math.h>

#include "generated/layernorm.h"
#include "include/opkit/compute/reduce.h"

static const char *layernorm_compute(const struct layernorm_inputs *inputs,
                                     const struct layernorm_params *params,
                                     struct layernorm_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->x;
    const size_t width = x->shape[x->rank - 1];
    const float *scale = inputs->scale.float32, *bias = inputs->bias.float32;

    if (inputs->scale.size != width || inputs->bias.size != width) {
        return "scale and bias must have the size of the last dimension of x";
    }
    for (size_t begin = 0; begin < x->size; begin += width) {
        const float *row = x->float32 + begin;
        float *result = outputs->y.float32 + begin;
        const double mean = opkit_sum(row, width) / (double)width;
        const double variance = opkit_sum_of_squares(row, width, (float)mean) / (double)width;
        const float factor = (float)(1.0 / sqrt(variance + (double)params->epsilon));
        const float center = (float)mean;
        for (size_t i = 0; i < width; i++) {
            result[i] = (row[i] - center) * factor * scale[i] + bias[i];
        }
    }
    return NULL;
}

#endif
