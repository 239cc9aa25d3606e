/*
 * The math of SelectiveScan: a state of each channel, with steps that depend on the input.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in selectivescan_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16.
 *
 * Channels do not depend on each other: a part of the work is some neighbors, whose states stay in
 * the cache for all positions, transposed, so that vectors have an element of each channel.
 */
#ifndef SELECTIVESCAN_COMPUTE_H
#define SELECTIVESCAN_COMPUTE_H

#include <string.h>

#include "generated/selectivescan.h"
#include "include/opkit/compute/math.h"
#include "include/opkit/compute/parallel.h"
#include "include/opkit/compute/processor.h"

enum {
    SELECTIVESCAN_CHANNELS = 16, /* of a part */
    SELECTIVESCAN_STATES = 256, /* of a channel, at most */
    SELECTIVESCAN_GRAIN = 8192 /* elements of states that are worth a thread */
};

/* An element of each channel of a part. */
struct selectivescan_row {
    float items[SELECTIVESCAN_CHANNELS];
};

/* A call: its tensors, and its sizes. */
struct selectivescan_call {
    const float *u, *delta, *a, *b, *c, *d, *bias, *past;
    float *y, *present;
    size_t positions, channels, states;
    size_t parts; /* of the channels */
    bool has_softplus;
};

/* Reads elements of `count` channels, `pitch` floats apart; those of the others are 0. */
OPKIT_INLINE struct selectivescan_row selectivescan_load(const float *x, size_t pitch, size_t count)
{
    struct selectivescan_row row;

    memset(&row, 0, sizeof row);
    for (size_t i = 0; i < count; i++) {
        row.items[i] = x[i * pitch];
    }
    return row;
}

/* Computes the steps: log(1 + e^x), if asked, without overflow. */
OPKIT_INLINE void selectivescan_steps(bool has_softplus, const struct selectivescan_row *bias,
                                      struct selectivescan_row *delta)
{
    for (size_t i = 0; i < SELECTIVESCAN_CHANNELS; i++) {
        delta->items[i] += bias->items[i];
    }
    for (size_t i = 0; has_softplus && i < SELECTIVESCAN_CHANNELS; i++) {
        const float x = delta->items[i];

        delta->items[i] = opkit_at_least(x, 0.0F) + opkit_log1p(opkit_exp(-opkit_magnitude(x)));
    }
}

/* Computes `count` channels, from the channel `first` on, for all positions. */
OPKIT_INLINE void selectivescan_run(const struct selectivescan_call *call, size_t batch,
                                    size_t first, size_t count)
{
    const size_t states = call->states;
    const size_t matrix = (batch * call->channels + first) * states;
    const struct selectivescan_row d = selectivescan_load(call->d + first, 1, count);
    const struct selectivescan_row bias = selectivescan_load(call->bias + first, 1, count);
    struct selectivescan_row rates[SELECTIVESCAN_STATES], state[SELECTIVESCAN_STATES];

    for (size_t i = 0; i < states; i++) {
        rates[i] = selectivescan_load(call->a + first * states + i, states, count);
        state[i] = selectivescan_load(call->past + matrix + i, states, count);
    }
    for (size_t i = 0; i < call->positions; i++) {
        const size_t position = batch * call->positions + i;
        const size_t place = position * call->channels + first;
        const float *b = call->b + position * states, *c = call->c + position * states;
        const struct selectivescan_row u = selectivescan_load(call->u + place, 1, count);
        struct selectivescan_row step = selectivescan_load(call->delta + place, 1, count);
        struct selectivescan_row scaled, sums;

        selectivescan_steps(call->has_softplus, &bias, &step);
        for (size_t j = 0; j < SELECTIVESCAN_CHANNELS; j++) {
            scaled.items[j] = step.items[j] * u.items[j];
            sums.items[j] = d.items[j] * u.items[j];
        }
        for (size_t k = 0; k < states; k++) {
            for (size_t j = 0; j < SELECTIVESCAN_CHANNELS; j++) {
                const float factor = opkit_exp(step.items[j] * rates[k].items[j]);

                state[k].items[j] = factor * state[k].items[j] + scaled.items[j] * b[k];
                sums.items[j] += state[k].items[j] * c[k];
            }
        }
        memcpy(call->y + place, &sums, count * sizeof(float));
    }
    for (size_t i = 0; i < states; i++) {
        for (size_t j = 0; j < count; j++) {
            call->present[matrix + j * states + i] = state[i].items[j];
        }
    }
}
OPKIT_WIDEST(selectivescan_run,
             (const struct selectivescan_call *call, size_t batch, size_t first, size_t count),
             (call, batch, first, count))

/* Computes parts of the channels of all batches. */
static void selectivescan_part(const void *context, size_t begin, size_t end)
{
    const struct selectivescan_call *call = (const struct selectivescan_call *)context;

    for (size_t i = begin; i < end; i++) {
        const size_t batch = i / call->parts, limit = SELECTIVESCAN_CHANNELS;
        const size_t first = i % call->parts * limit, left = call->channels - first;
        const size_t count = left < limit ? left : limit;

        selectivescan_run_widest(call, batch, first, count);
    }
}

/* Whether a tensor of floats has 3 dimensions of these sizes. */
static bool selectivescan_is(const struct opkit_tensor *tensor, size_t count, size_t rows,
                             size_t columns)
{
    return tensor->type == OPKIT_FLOAT32 && tensor->rank == 3 && tensor->shape[0] == count &&
           tensor->shape[1] == rows && tensor->shape[2] == columns;
}

/* Checks the tensors; computes the sizes. Returns NULL, or an error message. */
static const char *selectivescan_check(const struct selectivescan_inputs *inputs,
                                       const struct selectivescan_outputs *outputs,
                                       struct selectivescan_call *call)
{
    const struct opkit_tensor *u = &inputs->u, *a = &inputs->a;
    const struct opkit_tensor *d = &inputs->d, *bias = &inputs->delta_bias;
    const size_t count = u->shape[0], positions = u->shape[1], channels = u->shape[2];
    const size_t states = a->shape[1];

    if (u->type != OPKIT_FLOAT32 || u->rank != 3) {
        return "u must be [N, S, channels], of floats";
    }
    if (a->type != OPKIT_FLOAT32 || a->rank != 2 || a->shape[0] != channels || states < 1 ||
        states > SELECTIVESCAN_STATES) {
        return "a must be [channels, states], with 1 to 256 states";
    }
    if (!selectivescan_is(&inputs->delta, count, positions, channels)) {
        return "delta must be [N, S, channels]";
    }
    if (!selectivescan_is(&inputs->b, count, positions, states)) {
        return "b must be [N, S, states]";
    }
    if (!selectivescan_is(&inputs->c, count, positions, states)) {
        return "c must be [N, S, states]";
    }
    if (d->type != OPKIT_FLOAT32 || d->rank != 1 || d->size != channels) {
        return "d must be [channels]";
    }
    if (bias->type != OPKIT_FLOAT32 || bias->rank != 1 || bias->size != channels) {
        return "delta_bias must be [channels]";
    }
    if (!selectivescan_is(&inputs->past_state, count, channels, states)) {
        return "past_state must be [N, channels, states]";
    }
    if (!selectivescan_is(&outputs->y, count, positions, channels) ||
        !selectivescan_is(&outputs->present_state, count, channels, states)) {
        return "y must have the shape of u, and present_state that of past_state";
    }
    call->positions = positions;
    call->channels = channels;
    call->states = states;
    call->parts = (channels + SELECTIVESCAN_CHANNELS - 1) / SELECTIVESCAN_CHANNELS;
    return NULL;
}

/*
 * Computes the outputs:
 *
 *   inputs->u                 the sequence, [N, S, channels]
 *   inputs->delta             the sizes of the steps, [N, S, channels]
 *   inputs->a                 the rates of the states, [channels, states]
 *   inputs->b                 the factors of u, [N, S, states]
 *   inputs->c                 the factors of the states, [N, S, states]
 *   inputs->d                 the factors of u beside the states, [channels]
 *   inputs->delta_bias        added to delta, [channels]
 *   inputs->past_state        [N, channels, states]
 *   params->delta_softplus    1: a step is softplus(delta + delta_bias); 0: their sum
 *   outputs->y                the shape of u
 *   outputs->present_state    the shape of past_state
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *selectivescan_compute(const struct selectivescan_inputs *inputs,
                                         const struct selectivescan_params *params,
                                         struct selectivescan_outputs *outputs)
{
    struct selectivescan_call call;

    const char *problem = selectivescan_check(inputs, outputs, &call);
    if (problem != NULL) {
        return problem;
    }

    call.u = inputs->u.float32;
    call.delta = inputs->delta.float32;
    call.a = inputs->a.float32;
    call.b = inputs->b.float32;
    call.c = inputs->c.float32;
    call.d = inputs->d.float32;
    call.bias = inputs->delta_bias.float32;
    call.past = inputs->past_state.float32;
    call.y = outputs->y.float32;
    call.present = outputs->present_state.float32;
    call.has_softplus = params->delta_softplus == 1;
    const size_t work = (call.positions + 1) * call.states * SELECTIVESCAN_CHANNELS;
    opkit_parallel_for(inputs->u.shape[0] * call.parts, SELECTIVESCAN_GRAIN / work + 1,
                       selectivescan_part, &call);
    return NULL;
}

#endif
