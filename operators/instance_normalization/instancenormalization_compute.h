/*
 * The math of InstanceNormalization: mean 0 and variance 1 of each channel of each image, then a
 * scale and a bias.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in instancenormalization_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements
 * in all. Floating-point tensors are arrays of float, also if the model has float16.
 */
#ifndef INSTANCENORMALIZATION_COMPUTE_H
#define INSTANCENORMALIZATION_COMPUTE_H

#include <math.h>

#include "generated/instancenormalization.h"
#include "include/opkit/compute/reduce.h"

/* Checks tensors. Returns NULL, or an error message. */
static const char *instancenormalization_check(const struct instancenormalization_inputs *inputs,
                                               const struct opkit_tensor *output)
{
    const struct opkit_tensor *input = &inputs->input;

    if (input->type != OPKIT_FLOAT32 || inputs->scale.type != OPKIT_FLOAT32 ||
        inputs->b.type != OPKIT_FLOAT32 || output->type != OPKIT_FLOAT32) {
        return "input, scale, b and output must be float16 or float32";
    }
    if (input->rank < 3) {
        return "input must be [N, C, D1, ...], with 3 dimensions or more";
    }
    if (inputs->scale.rank != 1 || inputs->scale.size != input->shape[1] || inputs->b.rank != 1 ||
        inputs->b.size != input->shape[1]) {
        return "scale and b must have an element for each channel";
    }
    return output->size == input->size ? NULL : "output must have the shape of input";
}

/* Computes a channel of an image. */
OPKIT_ELEMENT_LOOP void instancenormalization_normalize(const float *x, size_t count, float epsilon,
                                                        float scale, float bias, float *y)
{
    const struct opkit_statistics channel = opkit_measure(x, count);
    const double factor = (double)scale / sqrt(channel.variance + (double)epsilon);
    const float slope = (float)factor;
    const float offset = (float)((double)bias - channel.rest * factor);

    for (size_t i = 0; i < count; i++) {
        y[i] = (x[i] - channel.center) * slope + offset;
    }
}
OPKIT_WIDEST(instancenormalization_normalize,
             (const float *x, size_t count, float epsilon, float scale, float bias, float *y),
             (x, count, epsilon, scale, bias, y))

/*
 * Computes the outputs:
 *
 *   inputs->input      [N, C, D1, ...]
 *   inputs->scale      [C]
 *   inputs->b          the bias, [C]
 *   params->epsilon    added to the variance
 *   outputs->output    the shape of input
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *instancenormalization_compute(const struct instancenormalization_inputs *inputs,
                                                 const struct instancenormalization_params *params,
                                                 struct instancenormalization_outputs *outputs)
{
    const struct opkit_tensor *input = &inputs->input;

    const char *problem = instancenormalization_check(inputs, &outputs->output);
    if (problem != NULL) {
        return problem;
    }

    const size_t planes = input->shape[0] * input->shape[1];
    const size_t count = input->size / planes;
    for (size_t plane = 0; plane < planes; plane++) {
        const size_t channel = plane % input->shape[1];

        instancenormalization_normalize_widest(
            input->float32 + plane * count, count, params->epsilon, inputs->scale.float32[channel],
            inputs->b.float32[channel], outputs->output.float32 + plane * count);
    }
    return NULL;
}

#endif
