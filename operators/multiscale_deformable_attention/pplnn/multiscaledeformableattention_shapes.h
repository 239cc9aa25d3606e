/*
 * The shape rule of MultiscaleDeformableAttention, for runtimes that infer shapes at run time.
 *
 * output has the queries of attention_weights, and the channels of all heads of value.
 */
#ifndef MULTISCALEDEFORMABLEATTENTION_SHAPES_H
#define MULTISCALEDEFORMABLEATTENTION_SHAPES_H

#include "../generated/multiscaledeformableattention.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *
multiscaledeformableattention_shapes(const struct multiscaledeformableattention_inputs *inputs,
                                     const struct multiscaledeformableattention_params *params,
                                     struct multiscaledeformableattention_outputs *outputs)
{
    const struct opkit_tensor *value = &inputs->value;
    const struct opkit_tensor *weights = &inputs->attention_weights;

    (void)params;
    if (value->rank != 4) {
        return "value must be [N, S, heads, channels]";
    }
    if (weights->rank != 5) {
        return "attention_weights must be [N, queries, heads, levels, points]";
    }
    outputs->output.rank = 3;
    outputs->output.shape[0] = value->shape[0];
    outputs->output.shape[1] = weights->shape[1];
    outputs->output.shape[2] = value->shape[2] * value->shape[3];
    return NULL;
}

#endif
