/*
 * The math of WKV7: the time mixing of RWKV-7, by a matrix state for each head.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in wkv7_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16.
 *
 * A part of the work is some columns of one head: they stay in the cache for all positions.
 */
#ifndef WKV7_COMPUTE_H
#define WKV7_COMPUTE_H

#include <string.h>

#include "generated/wkv7.h"
#include "include/opkit/compute/math.h"
#include "include/opkit/compute/matrix_state.h"
#include "include/opkit/compute/parallel.h"
#include "include/opkit/compute/processor.h"

enum {
    WKV7_GRAIN = 65536 /* elements of states that are worth a thread */
};

/* Inlines a function into its callers, so that it is compiled for the same processors. */
#define WKV7_INLINE __attribute__((always_inline)) static inline

/* A call: its tensors, and its sizes. */
struct wkv7_call {
    const float *r, *w, *k, *v, *a, *b, *past;
    float *y, *present;
    size_t positions, heads;
    size_t keys, values; /* rows and columns of a state */
    size_t parts; /* of the columns of a state */
};

/* Steps the state by one position. Returns the receptance times the state behind it. */
WKV7_INLINE struct opkit_state_row wkv7_step(const struct wkv7_call *call, size_t place,
                                             const struct opkit_state_row *value,
                                             struct opkit_state_row *state)
{
    const size_t keys = call->keys;
    const float *r = call->r + place * keys, *w = call->w + place * keys;
    const float *k = call->k + place * keys, *b = call->b + place * keys;
    const struct opkit_state_row removed = opkit_state_read(call->a + place * keys, state, keys);
    float factors[OPKIT_STATE_ROWS];
    struct opkit_state_row sums;

    memset(&sums, 0, sizeof sums);
    for (size_t i = 0; i < keys; i++) {
        factors[i] = opkit_exp(w[i]);
    }
    for (size_t i = 0; i < keys; i++) {
        for (size_t j = 0; j < OPKIT_STATE_VECTORS; j++) {
            const opkit_state_vector row = factors[i] * state[i].vectors[j] +
                                           b[i] * removed.vectors[j] + k[i] * value->vectors[j];

            sums.vectors[j] += r[i] * row;
            state[i].vectors[j] = row;
        }
    }
    return sums;
}

/* Computes some columns of a head, from the column `first` on, for all positions. */
WKV7_INLINE void wkv7_run(const struct wkv7_call *call, size_t batch, size_t head, size_t first)
{
    const size_t values = call->values, width = opkit_state_width(values, first);
    const size_t matrix = (batch * call->heads + head) * call->keys * values + first;
    struct opkit_state_row state[OPKIT_STATE_ROWS];

    opkit_state_load(call->past + matrix, values, width, call->keys, state);
    for (size_t i = 0; i < call->positions; i++) {
        const size_t place = (batch * call->positions + i) * call->heads + head;
        const size_t column = place * values + first;
        const struct opkit_state_row value = opkit_state_load_row(call->v + column, width);
        const struct opkit_state_row found = wkv7_step(call, place, &value, state);

        opkit_state_store_row(&found, call->y + column, width);
    }
    opkit_state_store(state, call->keys, call->present + matrix, values, width);
}

static void wkv7_run_baseline(const struct wkv7_call *call, size_t batch, size_t head, size_t first)
{
    wkv7_run(call, batch, head, first);
}

#if defined(OPKIT_AVX2)
/* The same for processors with AVX2: a vector is one register. */
OPKIT_AVX2 static void wkv7_run_avx2(const struct wkv7_call *call, size_t batch, size_t head,
                                     size_t first)
{
    wkv7_run(call, batch, head, first);
}
#endif

/* Computes parts of the columns of all states. */
static void wkv7_part(const void *context, size_t begin, size_t end)
{
    const struct wkv7_call *call = (const struct wkv7_call *)context;

    for (size_t i = begin; i < end; i++) {
        const size_t head = i / call->parts % call->heads;
        const size_t batch = i / call->parts / call->heads;
        const size_t first = i % call->parts * OPKIT_STATE_COLUMNS;

#if defined(OPKIT_AVX2)
        if (opkit_has_avx2()) {
            wkv7_run_avx2(call, batch, head, first);
            continue;
        }
#endif
        wkv7_run_baseline(call, batch, head, first);
    }
}

/* Whether a tensor of floats has `size` elements for each position. */
static bool wkv7_is_rows(const struct opkit_tensor *tensor, size_t count, size_t positions,
                         size_t size)
{
    return tensor->type == OPKIT_FLOAT32 && tensor->rank == 3 && tensor->shape[0] == count &&
           tensor->shape[1] == positions && tensor->shape[2] == size;
}

/* Checks the tensors; computes the sizes. Returns NULL, or an error message. */
static const char *wkv7_check(const struct wkv7_inputs *inputs, const struct wkv7_outputs *outputs,
                              struct wkv7_call *call)
{
    const struct opkit_tensor *past = &inputs->past_state, *present = &outputs->present_state;
    const size_t count = past->shape[0], heads = past->shape[1], positions = inputs->r.shape[1];
    const size_t keys = past->shape[2], values = past->shape[3];

    if (past->type != OPKIT_FLOAT32 || past->rank != 4 || keys < 1 || keys > OPKIT_STATE_ROWS) {
        return "past_state must be [N, heads, key size, value size], with keys of 1 to 512 "
               "elements";
    }
    if (!wkv7_is_rows(&inputs->r, count, positions, heads * keys)) {
        return "r must be [N, S, heads * key size]";
    }
    if (!wkv7_is_rows(&inputs->w, count, positions, heads * keys)) {
        return "w must be [N, S, heads * key size]";
    }
    if (!wkv7_is_rows(&inputs->k, count, positions, heads * keys)) {
        return "k must be [N, S, heads * key size]";
    }
    if (!wkv7_is_rows(&inputs->a, count, positions, heads * keys)) {
        return "a must be [N, S, heads * key size]";
    }
    if (!wkv7_is_rows(&inputs->b, count, positions, heads * keys)) {
        return "b must be [N, S, heads * key size]";
    }
    if (!wkv7_is_rows(&inputs->v, count, positions, heads * values)) {
        return "v must be [N, S, heads * value size]";
    }
    if (!wkv7_is_rows(&outputs->y, count, positions, heads * values) ||
        present->type != OPKIT_FLOAT32 || present->rank != past->rank ||
        memcmp(present->shape, past->shape, sizeof past->shape) != 0) {
        return "y must have the shape of v, and present_state that of past_state";
    }
    call->positions = positions;
    call->heads = heads;
    call->keys = keys;
    call->values = values;
    call->parts = opkit_state_parts(values);
    return NULL;
}

/*
 * Computes the outputs:
 *
 *   inputs->r                 the receptances, [N, S, heads * key size]
 *   inputs->w                 the logarithms of the decays, the same
 *   inputs->k                 the replacement keys, the same
 *   inputs->v                 the values, [N, S, heads * value size]
 *   inputs->a                 the negative removal keys, as r
 *   inputs->b                 the removal keys times the learning rates, as r
 *   inputs->past_state        [N, heads, key size, value size]
 *   outputs->y                the shape of v
 *   outputs->present_state    the shape of past_state
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *wkv7_compute(const struct wkv7_inputs *inputs, const struct wkv7_params *params,
                                struct wkv7_outputs *outputs)
{
    struct wkv7_call call;

    (void)params;
    const char *problem = wkv7_check(inputs, outputs, &call);
    if (problem != NULL) {
        return problem;
    }

    call.r = inputs->r.float32;
    call.w = inputs->w.float32;
    call.k = inputs->k.float32;
    call.v = inputs->v.float32;
    call.a = inputs->a.float32;
    call.b = inputs->b.float32;
    call.past = inputs->past_state.float32;
    call.y = outputs->y.float32;
    call.present = outputs->present_state.float32;
    const size_t work = (call.positions + 1) * call.keys * OPKIT_STATE_COLUMNS;
    opkit_parallel_for(inputs->past_state.shape[0] * call.heads * call.parts, WKV7_GRAIN / work + 1,
                       wkv7_part, &call);
    return NULL;
}

#endif
