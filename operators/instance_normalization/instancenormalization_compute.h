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

OPKIT_ELEMENT_LOOP void
instancenormalization_run(const struct instancenormalization_inputs *inputs, float epsilon,
                          const struct instancenormalization_outputs *outputs)
{
    const size_t channels = inputs->input.shape[1];
    const size_t planes = inputs->input.shape[0] * channels;
    const size_t count = inputs->input.size / planes;

    for (size_t plane = 0; plane < planes; plane++) {
        const float *x = inputs->input.float32 + plane * count;
        float *y = outputs->output.float32 + plane * count;
        const struct opkit_statistics found = opkit_measure(x, count);
        const double scale = (double)inputs->scale.float32[plane % channels];
        const double factor = scale / sqrt(found.variance + (double)epsilon);
        const float slope = (float)factor;
        const float offset =
            (float)((double)inputs->b.float32[plane % channels] - found.rest * factor);

        for (size_t i = 0; i < count; i++) {
            y[i] = (x[i] - found.center) * slope + offset;
        }
    }
}
OPKIT_WIDEST(instancenormalization_run,
             (const struct instancenormalization_inputs *inputs, float epsilon,
              const struct instancenormalization_outputs *outputs),
             (inputs, epsilon, outputs))

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
    const char *problem = instancenormalization_check(inputs, &outputs->output);
    if (problem != NULL) {
        return problem;
    }
    instancenormalization_run_widest(inputs, params->epsilon, outputs);
    return NULL;
}

#endif
