/*
 * The shape rule of Attention, for runtimes that infer shapes at run time.
 *
 * y has the shape of q, with value size instead of head size; the keys and values of the past are
 * before the new ones.
 */
#ifndef ATTENTION_SHAPES_H
#define ATTENTION_SHAPES_H

#include <string.h>

#include "../generated/attention.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *attention_shapes(const struct attention_inputs *inputs,
                                    const struct attention_params *params,
                                    struct attention_outputs *outputs)
{
    const struct opkit_tensor *q = &inputs->q, *k = &inputs->k, *v = &inputs->v;
    const struct opkit_tensor *past = &inputs->past_key;
    const bool is_flat = q->rank == 3;

    if ((q->rank != 3 && q->rank != 4) || k->rank != q->rank || v->rank != q->rank) {
        return "q, k and v must have 3 dimensions, or 4";
    }
    const size_t size = /* of a head of k, if k has 3 dimensions */
        params->kv_num_heads > 0 ? k->shape[2] / (size_t)params->kv_num_heads : 0;
    const size_t heads =
        params->q_num_heads == 0 && size > 0 ? q->shape[2] / size : (size_t)params->q_num_heads;
    if (is_flat && (params->q_num_heads < 0 || heads < 1 || params->kv_num_heads < 1)) {
        return "q_num_heads and kv_num_heads must divide the last dimension of q, k and v of 3 "
               "dimensions; of 4, they must be 0 or the second one";
    }
    const size_t kv_heads = is_flat ? (size_t)params->kv_num_heads : k->shape[1];
    const size_t groups = is_flat ? kv_heads : 1; /* of the last dimension of k and v */
    const size_t value_size = v->shape[v->rank - 1] / groups;

    outputs->y.rank = q->rank;
    memcpy(outputs->y.shape, q->shape, sizeof q->shape);
    outputs->y.shape[q->rank - 1] = is_flat ? heads * value_size : value_size;
    if (params->has_present == 0) {
        outputs->present_key.rank = outputs->present_value.rank = 1;
        outputs->present_key.shape[0] = outputs->present_value.shape[0] = 1;
        return NULL;
    }
    outputs->present_key.rank = outputs->present_value.rank = 4;
    outputs->present_key.shape[0] = outputs->present_value.shape[0] = q->shape[0];
    outputs->present_key.shape[1] = outputs->present_value.shape[1] = kv_heads;
    outputs->present_key.shape[2] = outputs->present_value.shape[2] =
        k->shape[k->rank - 2] + (past->rank == 4 ? past->shape[2] : 0);
    outputs->present_key.shape[3] = k->shape[k->rank - 1] / groups;
    outputs->present_value.shape[3] = value_size;
    return NULL;
}

#endif
