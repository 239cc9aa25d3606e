/*
 * The math of CausalConvWithState: a convolution of each channel with the present and the past.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in causalconvwithstate_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements
 * in all. Floating-point tensors are arrays of float, also if the model has float16.
 *
 * The first K - 1 positions read past_state. The others read input alone: in vectors along time.
 */
#ifndef CAUSALCONVWITHSTATE_COMPUTE_H
#define CAUSALCONVWITHSTATE_COMPUTE_H

#include <string.h>

#include "generated/causalconvwithstate.h"
#include "include/opkit/compute/math.h"
#include "include/opkit/compute/parallel.h"
#include "include/opkit/compute/processor.h"

enum {
    CAUSALCONVWITHSTATE_TAPS = 4, /* elements of a kernel in one pass: as many as most have */
    CAUSALCONVWITHSTATE_BLOCK = 1024, /* positions: they stay in the cache for all passes */
    CAUSALCONVWITHSTATE_GRAIN = 65536 /* products that are worth a thread */
};

/* A call: its tensors, and its sizes. */
struct causalconvwithstate_call {
    const float *input, *weight, *bias, *past;
    float *output, *present;
    size_t channels;
    size_t length; /* of a channel of input */
    size_t state; /* of a channel of the states: K - 1 */
    bool has_activation;
};

/* Adds the products with `CAUSALCONVWITHSTATE_TAPS` neighbors of each position. */
OPKIT_INLINE void causalconvwithstate_add_taps(const float *__restrict__ x,
                                               const float *__restrict__ weight, size_t count,
                                               float *__restrict__ y)
{
    for (size_t i = 0; i < count; i++) {
        float sum = y[i];

        for (size_t tap = 0; tap < CAUSALCONVWITHSTATE_TAPS; tap++) {
            sum += weight[tap] * x[i + tap];
        }
        y[i] = sum;
    }
}

/* Adds the products with one neighbor of each position. */
OPKIT_INLINE void causalconvwithstate_add_tap(const float *__restrict__ x, float weight,
                                              size_t count, float *__restrict__ y)
{
    for (size_t i = 0; i < count; i++) {
        y[i] += weight * x[i];
    }
}

/* Convolves positions that read input alone; x begins K - 1 positions before. */
OPKIT_INLINE void causalconvwithstate_convolve(const float *x, const float *weight, size_t taps,
                                               float bias, size_t count, float *y)
{
    size_t tap = 0;

    for (size_t i = 0; i < count; i++) {
        y[i] = bias;
    }
    for (; tap + CAUSALCONVWITHSTATE_TAPS <= taps; tap += CAUSALCONVWITHSTATE_TAPS) {
        causalconvwithstate_add_taps(x + tap, weight + tap, count, y);
    }
    for (; tap < taps; tap++) {
        causalconvwithstate_add_tap(x + tap, weight[tap], count, y);
    }
}

/* Computes one channel of one batch: `row` of N * C. */
OPKIT_INLINE void causalconvwithstate_row(const struct causalconvwithstate_call *call, size_t row)
{
    const size_t length = call->length, state = call->state, channel = row % call->channels;
    const float *x = call->input + row * length, *past = call->past + row * state;
    const float *weight = call->weight + channel * (state + 1);
    float *y = call->output + row * length, *present = call->present + row * state;
    const size_t begin = length < state ? length : state; /* the positions with a past */

    for (size_t i = 0; i < begin; i++) {
        float sum = call->bias[channel];

        for (size_t tap = 0; tap <= state; tap++) {
            sum += weight[tap] * (i + tap < state ? past[i + tap] : x[i + tap - state]);
        }
        y[i] = sum;
    }
    for (size_t i = begin; i < length; i += CAUSALCONVWITHSTATE_BLOCK) {
        const size_t left = length - i, block = CAUSALCONVWITHSTATE_BLOCK;
        const size_t count = left < block ? left : block;

        causalconvwithstate_convolve(x + i - state, weight, state + 1, call->bias[channel], count,
                                     y + i);
    }
    for (size_t i = 0; call->has_activation && i < length; i++) {
        y[i] *= opkit_sigmoid(y[i]);
    }
    for (size_t i = 0; i < state; i++) {
        present[i] = i + length < state ? past[i + length] : x[i + length - state];
    }
}

/* Computes rows of N * C. */
OPKIT_INLINE void causalconvwithstate_rows(const void *context, size_t begin, size_t end)
{
    const struct causalconvwithstate_call *call = (const struct causalconvwithstate_call *)context;

    for (size_t row = begin; row < end; row++) {
        causalconvwithstate_row(call, row);
    }
}
OPKIT_WIDEST(causalconvwithstate_rows, (const void *context, size_t begin, size_t end),
             (context, begin, end))

/* Whether a tensor of floats has the channels of the call, of a size. */
static bool causalconvwithstate_is_map(const struct opkit_tensor *tensor, size_t count,
                                       size_t channels, size_t size)
{
    return tensor->type == OPKIT_FLOAT32 && tensor->rank == 3 && tensor->shape[0] == count &&
           tensor->shape[1] == channels && tensor->shape[2] == size;
}

/* Checks the tensors; computes the sizes. Returns NULL, or an error message. */
static const char *causalconvwithstate_check(const struct causalconvwithstate_inputs *inputs,
                                             const struct causalconvwithstate_outputs *outputs,
                                             struct causalconvwithstate_call *call)
{
    const struct opkit_tensor *x = &inputs->input, *weight = &inputs->weight;
    const struct opkit_tensor *bias = &inputs->bias;
    const size_t count = x->shape[0], channels = x->shape[1];

    if (x->type != OPKIT_FLOAT32 || x->rank != 3) {
        return "input must be [N, C, L], of floats";
    }
    if (!causalconvwithstate_is_map(weight, channels, 1, weight->shape[2]) ||
        weight->shape[2] < 1) {
        return "weight must be [C, 1, K] with K above 0";
    }
    if (bias->type != OPKIT_FLOAT32 || bias->rank != 1 || bias->size != channels) {
        return "bias must be [C]";
    }
    call->channels = channels;
    call->length = x->shape[2];
    call->state = weight->shape[2] - 1;
    if (!causalconvwithstate_is_map(&inputs->past_state, count, channels, call->state)) {
        return "past_state must be [N, C, K - 1]";
    }
    return causalconvwithstate_is_map(&outputs->output, count, channels, call->length) &&
                   causalconvwithstate_is_map(&outputs->present_state, count, channels, call->state)
               ? NULL
               : "output must have the shape of input, and present_state that of past_state";
}

/*
 * Computes the outputs:
 *
 *   inputs->input             [N, C, L]
 *   inputs->weight            the kernels, [C, 1, K]
 *   inputs->bias              [C]
 *   inputs->past_state        the K - 1 positions before input, [N, C, K - 1]
 *   params->activation        `none`, `silu` or `swish`
 *   outputs->output           the shape of input
 *   outputs->present_state    the last K - 1 positions of past_state and input
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *causalconvwithstate_compute(const struct causalconvwithstate_inputs *inputs,
                                               const struct causalconvwithstate_params *params,
                                               struct causalconvwithstate_outputs *outputs)
{
    struct causalconvwithstate_call call;

    const char *problem = causalconvwithstate_check(inputs, outputs, &call);
    if (problem != NULL) {
        return problem;
    }

    call.input = inputs->input.float32;
    call.weight = inputs->weight.float32;
    call.bias = inputs->bias.float32;
    call.past = inputs->past_state.float32;
    call.output = outputs->output.float32;
    call.present = outputs->present_state.float32;
    call.has_activation = strcmp(params->activation, "none") != 0;
    const size_t work = (call.length + 1) * (call.state + 1);
    opkit_parallel_for(inputs->input.shape[0] * call.channels, CAUSALCONVWITHSTATE_GRAIN / work + 1,
                       causalconvwithstate_rows_widest, &call);
    return NULL;
}

#endif
