/*
 * The math of GroupQueryAttention: attention with a cache, and with rotary embedding.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in groupqueryattention_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements
 * in all. Floating-point tensors are arrays of float, also if the model has float16; integer
 * tensors are not converted.
 *
 * Keys are rotated on their way into present_key, queries into memory of their own.
 */
#ifndef GROUPQUERYATTENTION_COMPUTE_H
#define GROUPQUERYATTENTION_COMPUTE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "generated/groupqueryattention.h"
#include "opkit/compute/attention.h"
#include "opkit/compute/rotary.h"

/* A call. */
struct groupqueryattention_call {
    const struct groupqueryattention_inputs *inputs;
    const struct groupqueryattention_params *params;
    struct opkit_attention_sizes sizes;
    size_t pairs; /* of a token's features that are rotated */
};

/* Checks types. Returns NULL, or an error message. */
static const char *
groupqueryattention_check_types(const struct groupqueryattention_inputs *inputs,
                                const struct groupqueryattention_outputs *outputs)
{
    const struct opkit_tensor *const floats[] = {
        &inputs->query,      &inputs->key,       &inputs->value,        &inputs->past_key,
        &inputs->past_value, &inputs->cos_cache, &inputs->sin_cache,    &inputs->attention_bias,
        &inputs->head_sink,  &outputs->output,   &outputs->present_key, &outputs->present_value,
    };

    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
        if (floats[i]->type != OPKIT_FLOAT32) {
            return "all tensors but seqlens_k and position_ids must be float16 or float32";
        }
    }
    if (inputs->seqlens_k.type != OPKIT_INT32) {
        return "seqlens_k must be int32";
    }
    return inputs->position_ids.type == OPKIT_INT64 ? NULL : "position_ids must be int64";
}

/* Whether a tensor is [N, S, heads * size]. */
static bool groupqueryattention_has_rows(const struct opkit_tensor *tensor,
                                         const struct opkit_attention_sizes *sizes, size_t heads)
{
    return tensor->rank == 3 && tensor->shape[0] == sizes->batches &&
           tensor->shape[1] == sizes->queries && tensor->shape[2] == heads * sizes->features;
}

/* Reads the sizes. Returns NULL, or an error message. */
static const char *groupqueryattention_read(struct groupqueryattention_call *call)
{
    const struct groupqueryattention_inputs *inputs = call->inputs;
    const struct opkit_tensor *query = &inputs->query, *past = &inputs->past_key;
    struct opkit_attention_sizes *sizes = &call->sizes;
    const bool is_packed = opkit_attention_is_absent(&inputs->key);
    const bool has_past = !opkit_attention_is_absent(past);

    sizes->heads = (size_t)call->params->num_heads;
    sizes->kv_heads = (size_t)call->params->kv_num_heads;
    if (sizes->heads % sizes->kv_heads != 0) {
        return "num_heads must be a multiple of kv_num_heads";
    }
    const size_t heads = sizes->heads + (is_packed ? 2 * sizes->kv_heads : 0);
    if (query->rank != 3 || query->shape[2] % heads != 0) {
        return "query must be [N, S, heads * size]: num_heads, and twice kv_num_heads without key";
    }
    sizes->batches = query->shape[0];
    sizes->queries = query->shape[1];
    sizes->features = sizes->value_features = query->shape[2] / heads;
    if (sizes->features < 1 || sizes->features > OPKIT_ATTENTION_MAX_FEATURES) {
        return "heads must have 1 to 768 features";
    }
    if (is_packed ? !opkit_attention_is_absent(&inputs->value)
                  : !groupqueryattention_has_rows(&inputs->key, sizes, sizes->kv_heads) ||
                        !groupqueryattention_has_rows(&inputs->value, sizes, sizes->kv_heads)) {
        return "key and value must be [N, S, kv_num_heads * size], or both be left out: [1]";
    }
    sizes->past = has_past && past->rank == 4 ? past->shape[2] : 0;
    if (has_past == opkit_attention_is_absent(&inputs->past_value) ||
        (has_past && (!opkit_attention_has_shape(past, sizes->batches, sizes->kv_heads, sizes->past,
                                                 sizes->features) ||
                      !opkit_attention_has_shape(&inputs->past_value, sizes->batches,
                                                 sizes->kv_heads, sizes->past, sizes->features)))) {
        return "past_key and past_value must be [N, kv_num_heads, P, size], or both be left out: "
               "[1]";
    }
    const int64_t total = call->params->total_sequence_length;
    if (total < (int64_t)sizes->queries ||
        (total > (int64_t)sizes->past && total != (int64_t)(sizes->past + sizes->queries))) {
        return "total_sequence_length must be from S to P, or P + S";
    }
    sizes->keys = total > (int64_t)sizes->past ? (size_t)total : sizes->past;
    return NULL;
}

/* Returns the number of keys of a batch before the new ones. */
static size_t groupqueryattention_past(const struct groupqueryattention_call *call, size_t batch)
{
    return (size_t)opkit_attention_max(
        (int64_t)call->inputs->seqlens_k.int32[batch] + 1 - (int64_t)call->sizes.queries, 0);
}

/* Returns the row of a position in the caches of cosines and sines. */
static int64_t groupqueryattention_position(const struct groupqueryattention_call *call,
                                            size_t batch, size_t row)
{
    const struct opkit_tensor *ids = &call->inputs->position_ids;
    const size_t queries = call->sizes.queries;

    if (opkit_attention_is_absent(ids)) {
        return (int64_t)(groupqueryattention_past(call, batch) + row);
    }
    return call->params->total_sequence_length == (int64_t)queries
               ? ids->int64[0] + (int64_t)row
               : ids->int64[batch * queries + row];
}

/* Checks seqlens_k, and the positions and their caches. Returns NULL, or an error message. */
static const char *groupqueryattention_check_positions(struct groupqueryattention_call *call)
{
    const struct groupqueryattention_inputs *inputs = call->inputs;
    const struct opkit_attention_sizes *sizes = &call->sizes;
    const struct opkit_tensor *cosines = &inputs->cos_cache, *sines = &inputs->sin_cache;
    const struct opkit_tensor *ids = &inputs->position_ids, *used = &inputs->seqlens_k;

    if (used->size != sizes->batches) {
        return "seqlens_k must be [N]";
    }
    for (size_t i = 0; i < used->size; i++) {
        if (used->int32[i] < 0 || used->int32[i] >= call->params->total_sequence_length) {
            return "seqlens_k must be from 0 to total_sequence_length - 1";
        }
    }
    const bool is_rotary = call->params->do_rotary == 1;
    const bool is_whole =
        cosines->rank == 2 && cosines->shape[1] >= 1 && cosines->shape[1] <= sizes->features / 2;
    if (sines->rank != cosines->rank ||
        memcmp(sines->shape, cosines->shape, sizeof sines->shape) != 0 ||
        (!is_whole && (is_rotary || !opkit_attention_is_absent(cosines)))) {
        return "cos_cache and sin_cache must be [rows, pairs of features]";
    }
    if (!opkit_attention_is_absent(ids) &&
        (ids->rank != 2 || ids->shape[0] != sizes->batches || ids->shape[1] != sizes->queries)) {
        return "position_ids must be [N, S]";
    }
    call->pairs = is_rotary ? cosines->shape[1] : 0;
    for (size_t i = 0; i < sizes->batches * sizes->queries && is_rotary; i++) {
        const int64_t position =
            groupqueryattention_position(call, i / sizes->queries, i % sizes->queries);

        if (position < 0 || position >= (int64_t)cosines->shape[0]) {
            return "positions must be rows of cos_cache";
        }
    }
    return NULL;
}

/* Checks the other shapes. Returns NULL, or an error message. */
static const char *groupqueryattention_check(const struct groupqueryattention_call *call,
                                             const struct groupqueryattention_outputs *outputs)
{
    const struct opkit_attention_sizes *sizes = &call->sizes;
    const struct opkit_tensor *bias = &call->inputs->attention_bias;
    const struct opkit_tensor *sinks = &call->inputs->head_sink;

    if (call->params->local_window_size == 0) {
        return "local_window_size must be -1 or above 0";
    }
    if (!opkit_attention_is_absent(bias) &&
        !opkit_attention_has_shape(bias, bias->shape[0] == 1 ? 1 : sizes->batches,
                                   bias->shape[1] == 1 ? 1 : sizes->heads, sizes->queries,
                                   (size_t)call->params->total_sequence_length)) {
        return "attention_bias must be [N or 1, num_heads or 1, S, total_sequence_length]";
    }
    if (sinks->rank != 1 || (sinks->size != 1 && sinks->size != sizes->heads)) {
        return "head_sink must be [num_heads]";
    }
    if (!groupqueryattention_has_rows(&outputs->output, sizes, sizes->heads)) {
        return "output must be [N, S, num_heads * size]";
    }
    if (!opkit_attention_has_shape(&outputs->present_key, sizes->batches, sizes->kv_heads,
                                   sizes->keys, sizes->features) ||
        !opkit_attention_has_shape(&outputs->present_value, sizes->batches, sizes->kv_heads,
                                   sizes->keys, sizes->features)) {
        return "present_key and present_value must be [N, kv_num_heads, keys, size]";
    }
    return NULL;
}

/* Rotates a token; without pairs, it is copied. */
static void groupqueryattention_rotate(const struct groupqueryattention_call *call, size_t batch,
                                       size_t row, size_t pairs, const float *x, float *y)
{
    const size_t first =
        pairs > 0 ? (size_t)groupqueryattention_position(call, batch, row) * pairs : 0;

    opkit_rotate_token(x, call->inputs->cos_cache.float32 + first,
                       call->inputs->sin_cache.float32 + first, pairs,
                       call->sizes.features - 2 * pairs, call->params->rotary_interleaved == 1, y);
}

/*
 * Writes the keys or values of the past, the new ones and zeros.
 *
 *   x        the new ones of the first head
 *   width    from one row of x to the next one
 *   pairs    of features that are rotated
 */
static void groupqueryattention_join(const struct groupqueryattention_call *call,
                                     const struct opkit_tensor *past, const float *x, size_t width,
                                     size_t pairs, struct opkit_tensor *present)
{
    const struct opkit_attention_sizes *sizes = &call->sizes;
    const size_t features = sizes->features, rows = sizes->queries;

    for (size_t i = 0; i < sizes->batches * sizes->kv_heads; i++) {
        const size_t batch = i / sizes->kv_heads, head = i % sizes->kv_heads;
        const size_t before = groupqueryattention_past(call, batch);
        float *to = present->float32 + i * sizes->keys * features;

        if (before > 0) {
            memcpy(to, past->float32 + i * sizes->past * features, before * features * sizeof *to);
            to += before * features;
        }
        for (size_t row = 0; row < rows; row++, to += features) {
            groupqueryattention_rotate(call, batch, row, pairs,
                                       x + (batch * rows + row) * width + head * features, to);
        }
        memset(to, 0, (sizes->keys - before - rows) * features * sizeof *to);
    }
}

/* Sets the limits of keys, attention_bias and the sinks. */
static void groupqueryattention_limit(const struct groupqueryattention_call *call,
                                      struct opkit_attention_task *task)
{
    static const float zero = 0.0F;
    const struct groupqueryattention_params *params = call->params;
    const struct opkit_tensor *bias = &call->inputs->attention_bias;
    const struct opkit_tensor *sinks = &call->inputs->head_sink;
    const bool has_sinks = sinks->size > 1 || sinks->float32[0] > -65504.0F;

    task->is_causal = params->causal == 1;
    task->left = params->local_window_size - 1;
    task->right = -1;
    task->min_position = 0;
    task->sinks = has_sinks ? sinks->float32 : params->smooth_softmax == 1 ? &zero : NULL;
    task->sink_step = sinks->size > 1 ? 1 : 0;
    task->mask = opkit_attention_is_absent(bias) ? NULL : bias;
    task->mask_keys = (size_t)params->total_sequence_length;
    task->mask_steps.row = task->mask_keys;
    task->mask_steps.head = bias->shape[1] == 1 ? 0 : call->sizes.queries * task->mask_keys;
    task->mask_steps.batch =
        bias->shape[0] == 1 ? 0 : bias->shape[1] * call->sizes.queries * task->mask_keys;
}

/*
 * Computes the outputs:
 *
 *   inputs->query                    [N, S, num_heads * size]; without key, with those behind it
 *   inputs->key                      [N, S, kv_num_heads * size]; none: [1]
 *   inputs->value                    [N, S, kv_num_heads * size]; none: [1]
 *   inputs->past_key                 [N, kv_num_heads, P, size]; none: [1]
 *   inputs->past_value               [N, kv_num_heads, P, size]; none: [1]
 *   inputs->seqlens_k                the keys of each batch, with those of key, minus 1, [N]
 *   inputs->cos_cache                [rows, pairs]; none: [1]
 *   inputs->sin_cache                [rows, pairs]; none: [1]
 *   inputs->position_ids             the rows of the positions, [N, S]; none: [1]
 *   inputs->attention_bias           [N or 1, num_heads or 1, S, total_sequence_length]; none: [1]
 *   inputs->head_sink                [num_heads]; none: [1] of -65504
 *   params->total_sequence_length    the largest number of keys: at most P, or P + S
 *   params->num_heads                the heads of query
 *   params->kv_num_heads             the heads of key and value
 *   params->causal                   1: no keys after a query's own position
 *   params->do_rotary                1: query and key are rotated
 *   params->local_window_size        the keys that a query takes, at most; -1: all
 *   params->rotary_interleaved       1: the pairs are neighbors; 0: halves of the features
 *   params->scale                    the factor of the scores; 0: 1 / sqrt(size)
 *   params->smooth_softmax           1: without head_sink, the sinks are 0
 *   params->softcap                  above 0: scores x become softcap * tanh(x / softcap)
 *   outputs->output                  [N, S, num_heads * size]
 *   outputs->present_key             past_key, key, zeros: [N, kv_num_heads, keys, size]
 *   outputs->present_value           past_value, value, zeros: [N, kv_num_heads, keys, size]
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *groupqueryattention_compute(const struct groupqueryattention_inputs *inputs,
                                               const struct groupqueryattention_params *params,
                                               struct groupqueryattention_outputs *outputs)
{
    struct groupqueryattention_call call;
    struct opkit_attention_task task;
    const struct opkit_attention_sizes *sizes = &call.sizes;

    call.inputs = inputs;
    call.params = params;
    const char *problem = groupqueryattention_check_types(inputs, outputs);
    if (problem == NULL) {
        problem = groupqueryattention_read(&call);
    }
    if (problem == NULL) {
        problem = groupqueryattention_check_positions(&call);
    }
    if (problem == NULL) {
        problem = groupqueryattention_check(&call, outputs);
    }
    if (problem != NULL) {
        return problem;
    }

    const size_t features = sizes->features, columns = sizes->heads * features;
    const size_t kv_columns = sizes->kv_heads * features, width = inputs->query.shape[2];
    const bool is_packed = opkit_attention_is_absent(&inputs->key);
    const float *packed = inputs->query.float32 + columns;
    const size_t kv_width = is_packed ? width : kv_columns;
    groupqueryattention_join(&call, &inputs->past_key, is_packed ? packed : inputs->key.float32,
                             kv_width, call.pairs, &outputs->present_key);
    groupqueryattention_join(&call, &inputs->past_value,
                             is_packed ? packed + kv_columns : inputs->value.float32, kv_width, 0,
                             &outputs->present_value);

    const size_t tokens = sizes->batches * sizes->queries * sizes->heads;
    int64_t *used =
        (int64_t *)malloc(sizes->batches * sizeof *used + tokens * features * sizeof(float) + 1);
    if (used == NULL) {
        return "out of memory";
    }
    float *q = (float *)(used + sizes->batches);
    for (size_t i = 0; i < sizes->batches; i++) {
        used[i] = (int64_t)inputs->seqlens_k.int32[i] + 1;
    }
    for (size_t i = 0; i < tokens; i++) {
        const size_t row = i / sizes->heads, head = i % sizes->heads;

        groupqueryattention_rotate(&call, row / sizes->queries, row % sizes->queries, call.pairs,
                                   inputs->query.float32 + row * width + head * features,
                                   q + i * features);
    }
    task.sizes = *sizes;
    groupqueryattention_limit(&call, &task);
    task.used_keys = used;
    const float scale =
        params->scale == 0.0F ? (float)(1.0 / sqrt((double)features)) : params->scale;
    task.scale = scale * OPKIT_PER_LN2;
    task.softcap = params->softcap * OPKIT_PER_LN2;
    task.q = q;
    task.k = outputs->present_key.float32;
    task.v = outputs->present_value.float32;
    task.y = outputs->output.float32;
    task.y_steps.batch = sizes->queries * columns;
    task.y_steps.head = features;
    task.y_steps.row = columns;
    task.q_steps = task.y_steps;
    opkit_attention_run_all(&task);
    free(used);
    return NULL;
}

#endif
