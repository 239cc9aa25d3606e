/*
 * The shape rule of LinearAttention, for runtimes that infer shapes at run time.
 *
 * output has the heads of query, with values; present_state the shape of past_state.
 */
#ifndef LINEARATTENTION_SHAPES_H
#define LINEARATTENTION_SHAPES_H

#include "../generated/linearattention.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *linearattention_shapes(const struct linearattention_inputs *inputs,
                                          const struct linearattention_params *params,
                                          struct linearattention_outputs *outputs)
{
    const struct opkit_tensor *query = &inputs->query, *key = &inputs->key, *value = &inputs->value;
    struct opkit_tensor *output = &outputs->output;

    if (query->rank != 3 || key->rank != 3 || value->rank != 3) {
        return "query must be [N, S, q_num_heads * key size], and value "
               "[N, S, kv_num_heads * value size]";
    }
    const size_t states = (size_t)params->kv_num_heads;
    const size_t size = key->shape[2] / states;
    const size_t heads =
        params->q_num_heads == 0 && size > 0 ? query->shape[2] / size : (size_t)params->q_num_heads;
    output->rank = 3;
    output->shape[0] = query->shape[0];
    output->shape[1] = query->shape[1];
    output->shape[2] = value->shape[2] / states * heads;
    return NULL;
}

#endif
