/*
 * The math of Attention: sums of values, weighted by how well their keys match each query.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in attention_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16; booleans are uint8.
 */
#ifndef ATTENTION_COMPUTE_H
#define ATTENTION_COMPUTE_H

#include <math.h>
#include <string.h>

#include "generated/attention.h"
#include "opkit/compute/attention.h"

/* Reads the heads and features of q, k or v. Returns false if they do not fit its shape. */
static bool attention_read_heads(const struct opkit_tensor *tensor, int64_t given, size_t *heads,
                                 size_t *rows, size_t *features)
{
    if (tensor->rank == 4) {
        *heads = tensor->shape[1];
        *rows = tensor->shape[2];
        *features = tensor->shape[3];
        return given == 0 || given == (int64_t)*heads;
    }
    if (given < 1 || (int64_t)tensor->shape[2] % given != 0) {
        return false;
    }
    *heads = (size_t)given;
    *rows = tensor->shape[1];
    *features = tensor->shape[2] / *heads;
    return true;
}

/*
 * Returns the heads of q that the model gives. librknnrt 1.6.0 hands over no attribute whose name
 * begins with q_: without it, q of 3 dimensions has heads of the size of k's.
 */
static int64_t attention_given_heads(const struct opkit_tensor *q, const struct opkit_tensor *k,
                                     const struct attention_params *params)
{
    const int64_t size = params->kv_num_heads > 0 ? (int64_t)k->shape[2] / params->kv_num_heads : 0;

    return q->rank == 3 && params->q_num_heads == 0 && size > 0 ? (int64_t)q->shape[2] / size
                                                                : params->q_num_heads;
}

/* Reads the shapes of q, k, v, past_key and past_value. Returns NULL, or an error message. */
static const char *attention_read(const struct attention_inputs *inputs,
                                  const struct attention_params *params,
                                  struct opkit_attention_sizes *sizes)
{
    const struct opkit_tensor *q = &inputs->q, *k = &inputs->k, *v = &inputs->v;
    size_t value_heads, values, key_features;

    if ((q->rank != 3 && q->rank != 4) || k->rank != q->rank || v->rank != q->rank) {
        return "q, k and v must have 3 dimensions, or 4";
    }
    sizes->batches = q->shape[0];
    if (!attention_read_heads(q, attention_given_heads(q, k, params), &sizes->heads,
                              &sizes->queries, &sizes->features) ||
        !attention_read_heads(k, params->kv_num_heads, &sizes->kv_heads, &sizes->keys,
                              &key_features) ||
        !attention_read_heads(v, params->kv_num_heads, &value_heads, &values,
                              &sizes->value_features)) {
        return "q_num_heads and kv_num_heads must divide the last dimension of q, k and v of 3 "
               "dimensions; of 4, they must be 0 or the second one";
    }
    if (sizes->kv_heads == 0 || sizes->heads % sizes->kv_heads != 0) {
        return "the heads of q must be a multiple of those of k";
    }
    if (k->shape[0] != sizes->batches || key_features != sizes->features) {
        return "k must have the batches and the head size of q";
    }
    if (v->shape[0] != sizes->batches || value_heads != sizes->kv_heads || values != sizes->keys) {
        return "v must have the batches, heads and rows of k";
    }
    if (sizes->features < 1 || sizes->features > OPKIT_ATTENTION_MAX_FEATURES ||
        sizes->value_features > OPKIT_ATTENTION_MAX_FEATURES) {
        return "heads must have 1 to 768 features";
    }
    const bool has_past = !opkit_attention_is_absent(&inputs->past_key);
    sizes->past = has_past && inputs->past_key.rank == 4 ? inputs->past_key.shape[2] : 0;
    if (has_past == opkit_attention_is_absent(&inputs->past_value) ||
        (has_past &&
         (!opkit_attention_has_shape(&inputs->past_key, sizes->batches, sizes->kv_heads,
                                     sizes->past, sizes->features) ||
          !opkit_attention_has_shape(&inputs->past_value, sizes->batches, sizes->kv_heads,
                                     sizes->past, sizes->value_features)))) {
        return "past_key and past_value must be [N, kv heads, P, size], or both be left out: [1]";
    }
    if (params->has_present == 0 && (q->rank != 4 || has_past)) {
        return "has_present must be 1 with past_key, and for q of 3 dimensions";
    }
    sizes->keys += sizes->past;
    return NULL;
}

/* Reads attn_mask. Returns NULL, or an error message. */
static const char *attention_read_mask(const struct opkit_tensor *mask,
                                       struct opkit_attention_task *task)
{
    const struct opkit_attention_sizes *sizes = &task->sizes;
    const size_t sides[] = {sizes->batches, sizes->heads, sizes->queries, sizes->keys};
    size_t steps[4] = {0};
    size_t step = 1;

    task->mask = NULL;
    task->mask_keys = sizes->keys;
    if (opkit_attention_is_absent(mask)) {
        return NULL;
    }
    if (mask->rank > 4) {
        return "attn_mask must have at most 4 dimensions";
    }
    for (size_t axis = 4; axis-- > 4 - mask->rank;) {
        const size_t side = mask->shape[axis + mask->rank - 4];

        if (axis == 3 ? side > sides[axis] : side != 1 && side != sides[axis]) {
            return "attn_mask must broadcast to [N, heads, Q, keys]; it may have fewer keys";
        }
        steps[axis] = side == 1 ? 0 : step;
        step *= side;
    }
    task->mask = mask;
    task->mask_keys = mask->shape[mask->rank - 1];
    task->mask_steps.batch = steps[0];
    task->mask_steps.head = steps[1];
    task->mask_steps.row = steps[2];
    return NULL;
}

/* Reads nonpad_kv_seqlen. Returns NULL, or an error message. */
static const char *attention_read_used(const struct opkit_tensor *used,
                                       struct opkit_attention_task *task)
{
    const struct opkit_attention_sizes *sizes = &task->sizes;

    task->used_keys = NULL;
    if (opkit_attention_is_absent(used) && used->int64[0] == -1) {
        return NULL;
    }
    if (used->rank != 1 || used->size != sizes->batches) {
        return "nonpad_kv_seqlen must be [N]";
    }
    if (sizes->past > 0) {
        return "nonpad_kv_seqlen must be left out, [1] of -1, with past_key";
    }
    for (size_t i = 0; i < used->size; i++) {
        if (used->int64[i] < 0 || used->int64[i] > (int64_t)sizes->keys) {
            return "nonpad_kv_seqlen must be from 0 to the count of keys";
        }
    }
    task->used_keys = used->int64;
    return NULL;
}

/* Checks types. Returns NULL, or an error message. */
static const char *attention_check_types(const struct attention_inputs *inputs,
                                         const struct attention_outputs *outputs)
{
    if (inputs->q.type != OPKIT_FLOAT32 || inputs->k.type != OPKIT_FLOAT32 ||
        inputs->v.type != OPKIT_FLOAT32 || inputs->past_key.type != OPKIT_FLOAT32 ||
        inputs->past_value.type != OPKIT_FLOAT32 || outputs->y.type != OPKIT_FLOAT32 ||
        outputs->present_key.type != OPKIT_FLOAT32 ||
        outputs->present_value.type != OPKIT_FLOAT32) {
        return "q, k, v, past_key, past_value and the outputs must be float16 or float32";
    }
    if (inputs->attn_mask.type != OPKIT_FLOAT32 && inputs->attn_mask.type != OPKIT_UINT8) {
        return "attn_mask must be float16, float32 or bool";
    }
    return inputs->nonpad_kv_seqlen.type == OPKIT_INT64 ? NULL : "nonpad_kv_seqlen must be int64";
}

/* Checks the params that change no shape. Returns NULL, or an error message. */
static const char *attention_check_params(const struct attention_params *params)
{
    const int64_t precision = params->softmax_precision;

    if (params->has_present != 0 && params->has_present != 1) {
        return "has_present must be 0 or 1";
    }
    if (params->is_causal != 0 && params->is_causal != 1) {
        return "is_causal must be 0 or 1";
    }
    if (params->left_window_size < -1 || params->right_window_size < -1) {
        return "left_window_size and right_window_size must be -1 or above";
    }
    if (params->qk_matmul_output_mode < 0 || params->qk_matmul_output_mode > 3) {
        return "qk_matmul_output_mode must be from 0 to 3";
    }
    if (!(params->softcap >= 0.0F)) {
        return "softcap must be 0 or above";
    }
    if (precision != 0 && precision != 1 && precision != 10 && precision != 11 && precision != 16) {
        return "softmax_precision must be 0, 1, 10, 11 or 16";
    }
    return NULL;
}

/* Checks the outputs' shapes. Returns NULL, or an error message. */
static const char *attention_check_outputs(const struct attention_inputs *inputs,
                                           const struct attention_params *params,
                                           const struct attention_outputs *outputs,
                                           const struct opkit_attention_sizes *sizes)
{
    const struct opkit_tensor *y = &outputs->y;
    const bool is_flat = inputs->q.rank == 3;
    const size_t columns = is_flat ? sizes->heads * sizes->value_features : sizes->value_features;

    if (y->rank != inputs->q.rank || y->shape[y->rank - 1] != columns ||
        memcmp(y->shape, inputs->q.shape, (y->rank - 1) * sizeof *y->shape) != 0) {
        return "y must have the shape of q, with value size instead of head size";
    }
    if (params->has_present == 0) {
        return opkit_attention_is_absent(&outputs->present_key) &&
                       opkit_attention_is_absent(&outputs->present_value)
                   ? NULL
                   : "present_key and present_value must be [1] without has_present";
    }
    if (!opkit_attention_has_shape(&outputs->present_key, sizes->batches, sizes->kv_heads,
                                   sizes->keys, sizes->features) ||
        !opkit_attention_has_shape(&outputs->present_value, sizes->batches, sizes->kv_heads,
                                   sizes->keys, sizes->value_features)) {
        return "present_key and present_value must be [N, kv heads, keys, size]";
    }
    return NULL;
}

/* Returns the steps of a tensor of 3 dimensions, or of 4, with heads of some features. */
static struct opkit_attention_steps attention_steps_of(const struct opkit_tensor *tensor,
                                                       size_t heads, size_t rows, size_t features)
{
    const bool is_flat = tensor->rank == 3;
    const struct opkit_attention_steps steps = {heads * rows * features,
                                                is_flat ? features : rows * features,
                                                is_flat ? heads * features : features};
    return steps;
}

/* Writes the keys or values of the past, then the new ones. */
static void attention_join(const struct opkit_attention_sizes *sizes,
                           const struct opkit_tensor *past, const struct opkit_tensor *added,
                           struct opkit_tensor *present)
{
    const size_t features = present->shape[3], rows = sizes->keys - sizes->past;
    const struct opkit_attention_steps steps =
        attention_steps_of(added, sizes->kv_heads, rows, features);
    const size_t parts = steps.row == features ? 1 : rows; /* that are dense */
    const size_t part = rows / (parts > 0 ? parts : 1) * features;
    float *to = present->float32;

    for (size_t i = 0; i < sizes->batches * sizes->kv_heads; i++) {
        const float *from =
            added->float32 + i / sizes->kv_heads * steps.batch + i % sizes->kv_heads * steps.head;

        if (sizes->past > 0) {
            memcpy(to, past->float32 + i * sizes->past * features,
                   sizes->past * features * sizeof *to);
            to += sizes->past * features;
        }
        for (size_t j = 0; j < parts; j++, to += part) {
            memcpy(to, from + j * steps.row, part * sizeof *to);
        }
    }
}

/*
 * Computes the outputs:
 *
 *   inputs->q                        [N, heads, Q, head size] or [N, Q, heads * head size]
 *   inputs->k                        [N, kv heads, K, head size] or [N, K, kv heads * head size]
 *   inputs->v                        [N, kv heads, K, value size] or [N, K, kv heads * value size]
 *   inputs->attn_mask                broadcast to [N, heads, Q, keys]; none: [1] of 0
 *   inputs->past_key                 [N, kv heads, P, head size]; none: [1]
 *   inputs->past_value               [N, kv heads, P, value size]; none: [1]
 *   inputs->nonpad_kv_seqlen         the count of keys that are no padding, [N]; none: [1] of -1
 *   params->has_present              0: without present_key and present_value
 *   params->is_causal                1: a query takes no keys after its own position
 *   params->kv_num_heads             the heads of k and v of 3 dimensions
 *   params->left_window_size         the keys before a query's position, at most; -1: all
 *   params->q_num_heads              the heads of q of 3 dimensions; 0: of the size of those of k
 *   params->qk_matmul_output_mode    has no effect
 *   params->right_window_size        the keys after a query's position, at most; -1: all
 *   params->scale                    the factor of the scores; below 0: 1 / sqrt(head size)
 *   params->softcap                  above 0: scores x become softcap * tanh(x / softcap)
 *   params->softmax_precision        has no effect: the weights are float32
 *   outputs->y                       the shape of q, with value size instead of head size
 *   outputs->present_key             past_key, then k: [N, kv heads, keys, head size]; or [1] of 0
 *   outputs->present_value           past_value, then v: [N, kv heads, keys, value size]; or [1]
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *attention_compute(const struct attention_inputs *inputs,
                                     const struct attention_params *params,
                                     struct attention_outputs *outputs)
{
    struct opkit_attention_task task;
    struct opkit_attention_sizes *sizes = &task.sizes;

    const char *problem = attention_check_types(inputs, outputs);
    if (problem == NULL) {
        problem = attention_check_params(params);
    }
    if (problem == NULL) {
        problem = attention_read(inputs, params, sizes);
    }
    if (problem == NULL) {
        problem = attention_read_mask(&inputs->attn_mask, &task);
    }
    if (problem == NULL) {
        problem = attention_read_used(&inputs->nonpad_kv_seqlen, &task);
    }
    if (problem == NULL) {
        problem = attention_check_outputs(inputs, params, outputs, sizes);
    }
    if (problem != NULL) {
        return problem;
    }
    if (params->has_present == 1) {
        attention_join(sizes, &inputs->past_key, &inputs->k, &outputs->present_key);
        attention_join(sizes, &inputs->past_value, &inputs->v, &outputs->present_value);
        task.k = outputs->present_key.float32;
        task.v = outputs->present_value.float32;
    } else {
        outputs->present_key.float32[0] = outputs->present_value.float32[0] = 0.0F;
        task.k = inputs->k.float32;
        task.v = inputs->v.float32;
    }
    task.is_causal = params->is_causal == 1;
    task.left = params->left_window_size;
    task.right = params->right_window_size;
    task.min_position = INT64_MIN;
    task.sinks = NULL;
    const float scale =
        params->scale < 0.0F ? (float)(1.0 / sqrt((double)sizes->features)) : params->scale;
    task.scale = scale * OPKIT_PER_LN2;
    task.softcap = params->softcap * OPKIT_PER_LN2;
    task.q = inputs->q.float32;
    task.y = outputs->y.float32;
    task.q_steps = attention_steps_of(&inputs->q, sizes->heads, sizes->queries, sizes->features);
    task.y_steps =
        attention_steps_of(&outputs->y, sizes->heads, sizes->queries, sizes->value_features);
    opkit_attention_run_all(&task);
    return NULL;
}

#endif
