/*
 * The math of LinearAttention: attention by a recurrent state of fixed size.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in linearattention_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in
 * all. Floating-point tensors are arrays of float, also if the model has float16.
 *
 * The columns of a state, one for each element of a value, do not depend on each other. So a part
 * of the work is some columns of one head: they stay in the cache for all positions.
 */
#ifndef LINEARATTENTION_COMPUTE_H
#define LINEARATTENTION_COMPUTE_H

#include <math.h>
#include <string.h>

#include "generated/linearattention.h"
#include "include/opkit/compute/math.h"
#include "include/opkit/compute/matrix_state.h"
#include "include/opkit/compute/parallel.h"
#include "include/opkit/compute/processor.h"

enum {
    LINEARATTENTION_GRAIN = 65536 /* elements of states that are worth a thread */
};

/* A call: its tensors, and its sizes. */
struct linearattention_call {
    const float *query, *key, *value, *past, *decay, *beta;
    float *output, *present;
    size_t positions;
    size_t heads; /* with states of their own */
    size_t queries; /* of each state */
    size_t keys, values; /* rows and columns of a state */
    size_t blocks; /* of the columns of a state */
    size_t decays, betas; /* of a position */
    bool has_decay, has_beta;
    float scale;
};

/* Multiplies the rows of the state by the powers of their decays: one, or one for each row. */
OPKIT_INLINE void linearattention_decay(const float *decay, bool is_of_rows,
                                        struct opkit_state_row *state, size_t keys)
{
    float factors[OPKIT_STATE_ROWS];

    if (is_of_rows) {
        for (size_t i = 0; i < keys; i++) {
            factors[i] = opkit_exp(decay[i]);
        }
    } else {
        const float factor = opkit_exp(decay[0]);

        for (size_t i = 0; i < keys; i++) {
            factors[i] = factor;
        }
    }
    opkit_state_scale(state, factors, keys);
}

/* Computes some columns of a head, from the column `first` on, for all positions. */
OPKIT_INLINE void linearattention_run(const struct linearattention_call *call, size_t batch,
                                      size_t head, size_t first)
{
    const size_t keys = call->keys, values = call->values;
    const size_t width = opkit_state_width(values, first);
    const size_t matrix = (batch * call->heads + head) * keys * values + first;
    const bool is_of_rows = call->decays == call->heads * keys;
    struct opkit_state_row state[OPKIT_STATE_ROWS];

    opkit_state_load(call->past + matrix, values, width, keys, state);
    for (size_t i = 0; i < call->positions; i++) {
        const size_t position = batch * call->positions + i;
        const size_t place = position * call->heads + head;
        const float *key = call->key + place * keys;
        struct opkit_state_row added =
            opkit_state_load_row(call->value + place * values + first, width);

        if (call->has_decay) {
            const size_t shift = is_of_rows ? head * keys : head;
            linearattention_decay(call->decay + position * call->decays + shift, is_of_rows, state,
                                  keys);
        }
        if (call->has_beta) {
            const float beta = call->beta[position * call->betas + (call->betas == 1 ? 0 : head)];
            const struct opkit_state_row known = opkit_state_read(key, state, keys);

            for (size_t j = 0; j < OPKIT_STATE_VECTORS; j++) {
                added.vectors[j] = beta * (added.vectors[j] - known.vectors[j]);
            }
        }
        opkit_state_add(state, key, &added, keys);
        for (size_t query = place * call->queries; query < (place + 1) * call->queries; query++) {
            struct opkit_state_row found =
                opkit_state_read(call->query + query * keys, state, keys);

            for (size_t j = 0; j < OPKIT_STATE_VECTORS; j++) {
                found.vectors[j] *= call->scale;
            }
            opkit_state_store_row(&found, call->output + query * values + first, width);
        }
    }
    opkit_state_store(state, keys, call->present + matrix, values, width);
}
OPKIT_WIDEST(linearattention_run,
             (const struct linearattention_call *call, size_t batch, size_t head, size_t first),
             (call, batch, head, first))

/* Computes blocks of columns. */
static void linearattention_part(const void *context, size_t begin, size_t end)
{
    const struct linearattention_call *call = (const struct linearattention_call *)context;

    for (size_t i = begin; i < end; i++) {
        const size_t head = i / call->blocks % call->heads;
        const size_t batch = i / call->blocks / call->heads;
        const size_t first = i % call->blocks * OPKIT_STATE_COLUMNS;

        linearattention_run_widest(call, batch, head, first);
    }
}

/* Whether a tensor of floats has 3 dimensions: those of the positions, and another one. */
static bool linearattention_is_rows(const struct opkit_tensor *tensor, size_t count,
                                    size_t positions, size_t size)
{
    return tensor->type == OPKIT_FLOAT32 && tensor->rank == 3 && tensor->shape[0] == count &&
           tensor->shape[1] == positions && tensor->shape[2] == size;
}

/*
 * Returns the heads of query. librknnrt 1.6.0 hands over no attribute whose name begins with q_:
 * without it, the heads have the size of those of key.
 */
static int64_t linearattention_heads(const struct opkit_tensor *query,
                                     const struct opkit_tensor *key,
                                     const struct linearattention_params *params)
{
    const int64_t size = key->rank == 3 ? (int64_t)key->shape[2] / params->kv_num_heads : 0;

    return params->q_num_heads == 0 && query->rank == 3 && size > 0
               ? (int64_t)query->shape[2] / size
               : params->q_num_heads;
}

/* Reads params and shapes of query, key and value. Returns NULL, or an error message. */
static const char *linearattention_read(const struct linearattention_inputs *inputs,
                                        const struct linearattention_params *params,
                                        struct linearattention_call *call)
{
    const struct opkit_tensor *query = &inputs->query, *value = &inputs->value;
    const char *rule = params->update_rule;

    call->has_decay = strcmp(rule, "gated") == 0 || strcmp(rule, "gated_delta") == 0;
    call->has_beta = strcmp(rule, "delta") == 0 || strcmp(rule, "gated_delta") == 0;
    (void)params->chunk_size;
    const int64_t heads = linearattention_heads(query, &inputs->key, params);
    if (heads < 1 || heads % params->kv_num_heads != 0) {
        return "q_num_heads must be a multiple of kv_num_heads";
    }
    call->positions = query->shape[1];
    call->heads = (size_t)params->kv_num_heads;
    call->queries = (size_t)(heads / params->kv_num_heads);
    call->keys = query->shape[2] / (size_t)heads;
    call->values = value->shape[2] / call->heads;
    if (query->type != OPKIT_FLOAT32 || query->rank != 3 || query->shape[2] % (size_t)heads != 0 ||
        call->keys < 1 || call->keys > OPKIT_STATE_ROWS) {
        return "query must be [N, S, q_num_heads * key size], with keys of 1 to 512 elements";
    }
    if (!linearattention_is_rows(&inputs->key, query->shape[0], call->positions,
                                 call->heads * call->keys)) {
        return "key must be [N, S, kv_num_heads * key size]";
    }
    if (!linearattention_is_rows(value, query->shape[0], call->positions,
                                 call->heads * call->values)) {
        return "value must be [N, S, kv_num_heads * value size]";
    }
    call->scale = params->scale != 0.0F ? params->scale : 1.0F / sqrtf((float)call->keys);
    call->blocks = opkit_state_parts(call->values);
    return NULL;
}

/* Whether a tensor of floats has the shape of the states. */
static bool linearattention_is_state(const struct opkit_tensor *tensor, size_t count,
                                     const struct linearattention_call *call)
{
    return tensor->type == OPKIT_FLOAT32 && tensor->rank == 4 && tensor->shape[0] == count &&
           tensor->shape[1] == call->heads && tensor->shape[2] == call->keys &&
           tensor->shape[3] == call->values;
}

/* Checks the other tensors. Returns NULL, or an error message. */
static const char *linearattention_check(const struct linearattention_inputs *inputs,
                                         const struct linearattention_outputs *outputs,
                                         struct linearattention_call *call)
{
    const size_t count = inputs->query.shape[0], positions = call->positions;

    call->decays = inputs->decay.shape[2];
    call->betas = inputs->beta.shape[2];
    if (!linearattention_is_state(&inputs->past_state, count, call)) {
        return "past_state must be [N, kv_num_heads, key size, value size]";
    }
    if (!linearattention_is_rows(&inputs->decay, count, positions, call->decays) ||
        (call->decays != call->heads && call->decays != call->heads * call->keys)) {
        return "decay must be [N, S, kv_num_heads] or [N, S, kv_num_heads * key size]";
    }
    if (!linearattention_is_rows(&inputs->beta, count, positions, call->betas) ||
        (call->betas != call->heads && call->betas != 1)) {
        return "beta must be [N, S, kv_num_heads] or [N, S, 1]";
    }
    return linearattention_is_rows(&outputs->output, count, positions,
                                   call->heads * call->queries * call->values) &&
                   linearattention_is_state(&outputs->present_state, count, call)
               ? NULL
               : "output must be [N, S, q_num_heads * value size], and present_state the shape of "
                 "past_state";
}

/*
 * Computes the outputs:
 *
 *   inputs->query             [N, S, q_num_heads * key size]
 *   inputs->key               [N, S, kv_num_heads * key size]
 *   inputs->value             [N, S, kv_num_heads * value size]
 *   inputs->past_state        [N, kv_num_heads, key size, value size]
 *   inputs->decay             logarithms, [N, S, kv_num_heads] or [N, S, kv_num_heads * key size]
 *   inputs->beta              [N, S, kv_num_heads] or [N, S, 1]
 *   params->chunk_size        has no effect
 *   params->kv_num_heads      the states of each batch
 *   params->q_num_heads       a multiple of kv_num_heads; 0: heads of the size of those of key
 *   params->scale             multiplies output; 0: 1 / sqrt(key size)
 *   params->update_rule       "linear", "gated", "delta" or "gated_delta"
 *   outputs->output           [N, S, q_num_heads * value size]
 *   outputs->present_state    the shape of past_state
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *linearattention_compute(const struct linearattention_inputs *inputs,
                                           const struct linearattention_params *params,
                                           struct linearattention_outputs *outputs)
{
    struct linearattention_call call;

    const char *problem = linearattention_read(inputs, params, &call);
    if (problem == NULL) {
        problem = linearattention_check(inputs, outputs, &call);
    }
    if (problem != NULL) {
        return problem;
    }

    call.query = inputs->query.float32;
    call.key = inputs->key.float32;
    call.value = inputs->value.float32;
    call.past = inputs->past_state.float32;
    call.decay = inputs->decay.float32;
    call.beta = inputs->beta.float32;
    call.output = outputs->output.float32;
    call.present = outputs->present_state.float32;
    const size_t work = (call.positions + 1) * call.keys * OPKIT_STATE_COLUMNS;
    opkit_parallel_for(inputs->query.shape[0] * call.heads * call.blocks,
                       LINEARATTENTION_GRAIN / work + 1, linearattention_part, &call);
    return NULL;
}

#endif
