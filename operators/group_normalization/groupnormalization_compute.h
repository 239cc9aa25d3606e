/*
 * The math of GroupNormalization: mean 0 and variance 1 of each group of channels, then a scale and
 * a bias.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in groupnormalization_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in
 * all. Floating-point tensors are arrays of float, also if the model has float16.
 */
#ifndef GROUPNORMALIZATION_COMPUTE_H
#define GROUPNORMALIZATION_COMPUTE_H

#include <math.h>

#include "generated/groupnormalization.h"
#include "include/opkit/compute/reduce.h"

/* Checks tensors and params. Returns NULL, or an error message. */
static const char *groupnormalization_check(const struct groupnormalization_inputs *inputs,
                                            const struct groupnormalization_params *params,
                                            const struct opkit_tensor *y)
{
    const struct opkit_tensor *x = &inputs->x, *scale = &inputs->scale, *bias = &inputs->bias;

    if (x->type != OPKIT_FLOAT32 || scale->type != OPKIT_FLOAT32 || bias->type != OPKIT_FLOAT32 ||
        y->type != OPKIT_FLOAT32) {
        return "x, scale, bias and y must be float16 or float32";
    }
    if (params->stash_type != 1) {
        return "stash_type must be 1: the math is in float32";
    }
    if (x->rank < 3) {
        return "x must be [N, C, D1, ...], with 3 dimensions or more";
    }
    if (params->num_groups < 1 || x->shape[1] % (uint64_t)params->num_groups != 0) {
        return "num_groups must be a divisor of the channels";
    }
    if (scale->rank != 1 || bias->rank != 1 || scale->size != bias->size ||
        (scale->size != x->shape[1] && scale->size != (uint64_t)params->num_groups)) {
        return "scale and bias must have an element for each channel, or for each group";
    }
    return y->size == x->size ? NULL : "y must have the shape of x";
}

/*
 * Computes the outputs:
 *
 *   inputs->x             [N, C, D1, ...]
 *   inputs->scale         [C] or [num_groups]
 *   inputs->bias          the shape of scale
 *   params->epsilon       added to the variance
 *   params->num_groups    the number of groups, of neighboring channels
 *   params->stash_type    1: the math is in float32
 *   outputs->y            the shape of x
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *groupnormalization_compute(const struct groupnormalization_inputs *inputs,
                                              const struct groupnormalization_params *params,
                                              struct groupnormalization_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->x;

    const char *problem = groupnormalization_check(inputs, params, &outputs->y);
    if (problem != NULL) {
        return problem;
    }

    const size_t groups = x->shape[0] * (size_t)params->num_groups; /* of all images */
    const size_t count = x->size / groups;
    /* Of each group: parts with a scale and a bias of their own, channels or the whole group. */
    const size_t parts = inputs->scale.size / (size_t)params->num_groups;
    const size_t size = count / parts;
    for (size_t group = 0; group < groups; group++) {
        const float *source = x->float32 + group * count;
        const struct opkit_statistics found = opkit_measure(source, count);
        const double inverse = 1.0 / sqrt(found.variance + (double)params->epsilon);

        for (size_t part = 0; part < parts; part++) {
            const size_t index = (group * parts + part) % inputs->scale.size;
            const double factor = (double)inputs->scale.float32[index] * inverse;
            const float slope = (float)factor;
            const float offset = (float)((double)inputs->bias.float32[index] - found.rest * factor);
            const float *from = source + part * size;
            float *to = outputs->y.float32 + group * count + part * size;

            for (size_t i = 0; i < size; i++) {
                to[i] = (from[i] - found.center) * slope + offset;
            }
        }
    }
    return NULL;
}

#endif
