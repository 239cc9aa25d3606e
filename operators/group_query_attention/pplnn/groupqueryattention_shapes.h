/*
 * The shape rule of GroupQueryAttention, for runtimes that infer shapes at run time.
 *
 * present_key and present_value are buffers of the past's length, or have the new rows behind it.
 */
#ifndef GROUPQUERYATTENTION_SHAPES_H
#define GROUPQUERYATTENTION_SHAPES_H

#include "../generated/groupqueryattention.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *groupqueryattention_shapes(const struct groupqueryattention_inputs *inputs,
                                              const struct groupqueryattention_params *params,
                                              struct groupqueryattention_outputs *outputs)
{
    const struct opkit_tensor *query = &inputs->query, *past = &inputs->past_key;
    struct opkit_tensor *const present[] = {&outputs->present_key, &outputs->present_value};
    const size_t heads = (size_t)params->num_heads, kv_heads = (size_t)params->kv_num_heads;
    const size_t rows = past->rank == 4 ? past->shape[2] : 0;
    const size_t total = (size_t)params->total_sequence_length;

    if (query->rank != 3) {
        return "query must be [N, S, heads * size]";
    }
    const size_t size = query->shape[2] / (inputs->key.rank == 3 ? heads : heads + 2 * kv_heads);
    outputs->output.rank = 3;
    outputs->output.shape[0] = query->shape[0];
    outputs->output.shape[1] = query->shape[1];
    outputs->output.shape[2] = heads * size;
    for (size_t i = 0; i < 2; i++) {
        present[i]->rank = 4;
        present[i]->shape[0] = query->shape[0];
        present[i]->shape[1] = kv_heads;
        present[i]->shape[2] = total > rows ? total : rows;
        present[i]->shape[3] = size;
    }
    return NULL;
}

#endif
