/*
 * The math of RNN: a recurrent layer with one state, in one or both directions of time.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in rnn_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16.
 *
 * First y gets the products of all positions of x with w. Then each state is the function of its
 * row of y, with the products of the state before and r. Rows of weights are multiplied by several
 * vectors while they are in registers: neighboring positions, or batches.
 */
#ifndef RNN_COMPUTE_H
#define RNN_COMPUTE_H

#include <string.h>

#include "generated/rnn.h"
#include "include/opkit/compute/math.h"
#include "include/opkit/compute/parallel.h"
#include "include/opkit/compute/processor.h"

enum {
    RNN_LANES = 8, /* floats of a vector */
    RNN_GROUP = 2, /* vectors that a row of weights is multiplied by */
    RNN_FEW_ROWS = 2, /* of weights at once, where a vector is two of 16 registers */
    RNN_MANY_ROWS = 4, /* where there are more, or larger ones */
    RNN_GRAIN = 65536 /* products that are worth a thread */
};

#if defined(__aarch64__) || defined(__AVX2__)
#define RNN_BASELINE_ROWS RNN_MANY_ROWS
#else
#define RNN_BASELINE_ROWS RNN_FEW_ROWS
#endif

enum rnn_function {
    RNN_TANH,
    RNN_RELU,
    RNN_SIGMOID
};

typedef float rnn_vector __attribute__((vector_size(RNN_LANES * sizeof(float))));

/* A call: its tensors, and its sizes. */
struct rnn_call {
    const float *x, *w, *r, *b, *before;
    const int32_t *lengths; /* of the sequences; NULL: all have `positions` */
    float *y, *last;
    size_t positions, count, directions;
    size_t inputs, hidden;
    size_t groups; /* of up to RNN_GROUP batches */
    /* Elements from one position, direction or batch to the next one; of `before`, as of `last`. */
    size_t x_position, x_batch, y_position, y_batch, last_batch;
    size_t direction; /* of y and last */
    enum rnn_function functions[2]; /* of the directions */
    bool is_reverse[2];
    float clip;
};

/*
 * Adds to `count` vectors y the products of `rows` rows of a matrix and the vectors x. Both counts
 * are constants: sums stay in registers.
 */
OPKIT_INLINE void rnn_add_rows(const float *matrix, size_t size, const float *const *x,
                               float *const *y, size_t first, size_t rows, size_t count)
{
    rnn_vector sums[2 * RNN_MANY_ROWS][RNN_GROUP];
    const size_t whole = size - size % RNN_LANES;

    memset(sums, 0, sizeof sums);
    for (size_t j = 0; j < whole; j += RNN_LANES) {
        for (size_t i = 0; i < rows; i++) {
            rnn_vector weights, factors;

            memcpy(&weights, matrix + (first + i) * size + j, sizeof weights);
            for (size_t k = 0; k < count; k++) {
                memcpy(&factors, x[k] + j, sizeof factors);
                sums[i][k] += weights * factors;
            }
        }
    }
    for (size_t i = 0; i < rows; i++) {
        for (size_t k = 0; k < count; k++) {
            const rnn_vector sum = sums[i][k];
            float total =
                ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));

            for (size_t j = whole; j < size; j++) {
                total += matrix[(first + i) * size + j] * x[k][j];
            }
            y[k][first + i] += total;
        }
    }
}

/* Adds to vectors y, of `rows` elements, the products of a matrix and the vectors x. */
OPKIT_INLINE void rnn_add_products(const float *matrix, size_t rows, size_t size,
                                   const float *const *x, float *const *y, size_t count,
                                   size_t step)
{
    size_t i = 0;

    for (; count == RNN_GROUP && i + step <= rows; i += step) {
        rnn_add_rows(matrix, size, x, y, i, step, RNN_GROUP);
    }
    for (size_t k = 0; k < count; k++) {
        size_t row = i;

        for (; row + 2 * step <= rows; row += 2 * step) {
            rnn_add_rows(matrix, size, x + k, y + k, row, 2 * step, 1);
        }
        for (; row < rows; row++) {
            rnn_add_rows(matrix, size, x + k, y + k, row, 1, 1);
        }
    }
}

/* Returns the address in y of a state. */
static inline float *rnn_state(const struct rnn_call *call, size_t position, size_t direction,
                               size_t batch)
{
    return call->y + position * call->y_position + direction * call->direction +
           batch * call->y_batch;
}

/* Writes the products of x and w, with the biases, of some positions of all batches. */
OPKIT_INLINE void rnn_project(const struct rnn_call *call, size_t direction, size_t begin,
                              size_t end, size_t step)
{
    const size_t hidden = call->hidden;
    const float *b = call->b + direction * 2 * hidden;
    const float *x[RNN_GROUP];
    float *y[RNN_GROUP];

    for (size_t first = begin; first < end; first += RNN_GROUP) {
        const size_t count = end - first < RNN_GROUP ? end - first : (size_t)RNN_GROUP;

        for (size_t k = 0; k < count; k++) {
            const size_t position = (first + k) / call->count, batch = (first + k) % call->count;

            x[k] = call->x + position * call->x_position + batch * call->x_batch;
            y[k] = rnn_state(call, position, direction, batch);
            for (size_t i = 0; i < hidden; i++) {
                y[k][i] = b[i] + b[hidden + i];
            }
        }
        rnn_add_products(call->w + direction * hidden * call->inputs, hidden, call->inputs, x, y,
                         count, step);
    }
}

/* Makes a state from its sums. */
OPKIT_INLINE void rnn_apply(float *y, size_t count, enum rnn_function function, float clip)
{
    if (clip > 0.0F) {
        for (size_t i = 0; i < count; i++) {
            y[i] = opkit_at_most(opkit_at_least(y[i], -clip), clip);
        }
    }
    if (function == RNN_TANH) {
        for (size_t i = 0; i < count; i++) {
            y[i] = opkit_tanh(y[i]);
        }
    } else if (function == RNN_SIGMOID) {
        for (size_t i = 0; i < count; i++) {
            y[i] = opkit_sigmoid(y[i]);
        }
    } else {
        for (size_t i = 0; i < count; i++) {
            y[i] = opkit_at_least(y[i], 0.0F);
        }
    }
}

/* Computes the states of a direction of one group of batches, position by position. */
OPKIT_INLINE void rnn_advance(const struct rnn_call *call, size_t direction, size_t group,
                              size_t rows)
{
    const size_t hidden = call->hidden, begin = group * RNN_GROUP;
    const size_t left = call->count - begin;
    const size_t end = begin + (left < RNN_GROUP ? left : (size_t)RNN_GROUP);
    const float *r = call->r + direction * hidden * hidden;
    const float *before[RNN_GROUP], *previous[RNN_GROUP];
    float *states[RNN_GROUP];

    for (size_t batch = begin; batch < end; batch++) {
        before[batch - begin] =
            call->before + direction * call->direction + batch * call->last_batch;
    }
    for (size_t step = 0; step < call->positions; step++) {
        size_t count = 0;

        for (size_t batch = begin; batch < end; batch++) {
            const size_t length =
                call->lengths == NULL ? call->positions : (size_t)call->lengths[batch];

            if (step >= length) {
                memset(rnn_state(call, step, direction, batch), 0, hidden * sizeof *call->y);
                continue;
            }
            const size_t position = call->is_reverse[direction] ? length - 1 - step : step;

            previous[count] = before[batch - begin];
            states[count] = rnn_state(call, position, direction, batch);
            before[batch - begin] = states[count++];
        }
        rnn_add_products(r, hidden, hidden, previous, states, count, rows);
        for (size_t k = 0; k < count; k++) {
            rnn_apply(states[k], hidden, call->functions[direction], call->clip);
        }
    }
    for (size_t batch = begin; batch < end; batch++) {
        float *last = call->last + direction * call->direction + batch * call->last_batch;

        if (call->positions == 0 || (call->lengths != NULL && call->lengths[batch] == 0)) {
            memset(last, 0, hidden * sizeof *last);
        } else {
            memcpy(last, before[batch - begin], hidden * sizeof *last);
        }
    }
}

static void rnn_project_baseline(const struct rnn_call *call, size_t direction, size_t begin,
                                 size_t end)
{
    rnn_project(call, direction, begin, end, RNN_BASELINE_ROWS);
}

static void rnn_advance_baseline(const struct rnn_call *call, size_t direction, size_t group)
{
    rnn_advance(call, direction, group, RNN_BASELINE_ROWS);
}

#if defined(OPKIT_AVX2)
/* The same for processors with AVX2: a vector is one register. */
OPKIT_AVX2 static void rnn_project_avx2(const struct rnn_call *call, size_t direction, size_t begin,
                                        size_t end)
{
    rnn_project(call, direction, begin, end, RNN_MANY_ROWS);
}

OPKIT_AVX2 static void rnn_advance_avx2(const struct rnn_call *call, size_t direction, size_t group)
{
    rnn_advance(call, direction, group, RNN_MANY_ROWS);
}
#endif

/* Projects some positions of the batches. */
static void rnn_project_part(const void *context, size_t begin, size_t end)
{
    const struct rnn_call *call = (const struct rnn_call *)context;

    for (size_t direction = 0; direction < call->directions; direction++) {
#if defined(OPKIT_AVX2)
        if (opkit_has_avx2()) {
            rnn_project_avx2(call, direction, begin, end);
            continue;
        }
#endif
        rnn_project_baseline(call, direction, begin, end);
    }
}

/* Advances some of the groups of batches, each in a direction. */
static void rnn_advance_part(const void *context, size_t begin, size_t end)
{
    const struct rnn_call *call = (const struct rnn_call *)context;

    for (size_t i = begin; i < end; i++) {
#if defined(OPKIT_AVX2)
        if (opkit_has_avx2()) {
            rnn_advance_avx2(call, i / call->groups, i % call->groups);
            continue;
        }
#endif
        rnn_advance_baseline(call, i / call->groups, i % call->groups);
    }
}

/* Whether a tensor is one of floats with 3 dimensions. */
static bool rnn_is(const struct opkit_tensor *tensor, size_t first, size_t second, size_t third)
{
    return tensor->type == OPKIT_FLOAT32 && tensor->rank == 3 && tensor->shape[0] == first &&
           tensor->shape[1] == second && tensor->shape[2] == third;
}

/* Reads the params. Returns NULL, or an error message. */
static const char *rnn_read(const struct rnn_params *params, struct rnn_call *call)
{
    const char *text = params->activations;

    call->directions = strcmp(params->direction, "bidirectional") == 0 ? 2 : 1;
    call->is_reverse[0] = strcmp(params->direction, "reverse") == 0;
    call->is_reverse[1] = true;
    call->clip = params->clip;
    for (size_t i = 0; i < call->directions; i++) {
        if (text == NULL) {
            return "activations must have a function for each direction";
        }
        call->functions[i] = text[0] == 'T' ? RNN_TANH : text[0] == 'R' ? RNN_RELU : RNN_SIGMOID;
        text = strchr(text, ',');
        text = text == NULL ? NULL : text + 1;
    }
    return NULL;
}

/* Reads sequence_lens. Returns NULL, or an error message. */
static const char *rnn_read_lengths(const struct opkit_tensor *given, struct rnn_call *call)
{
    if (given->type != OPKIT_INT32 || given->rank != 1) {
        return "sequence_lens must be [N], from 0 to S";
    }
    call->lengths = NULL;
    if (given->size == 1 && given->int32[0] == -1) {
        return NULL;
    }
    for (size_t i = 0; i < given->size; i++) {
        if (given->int32[i] < 0 || (size_t)given->int32[i] > call->positions) {
            return "sequence_lens must be [N], from 0 to S";
        }
    }
    call->lengths = given->int32;
    return given->size == call->count ? NULL : "sequence_lens must be [N], from 0 to S";
}

/* Checks the tensors; computes the sizes. Returns NULL, or an error message. */
static const char *rnn_check(const struct rnn_inputs *inputs, const struct rnn_params *params,
                             const struct rnn_outputs *outputs, struct rnn_call *call)
{
    const struct opkit_tensor *x = &inputs->x, *r = &inputs->r, *y = &outputs->y;
    const bool is_batch_first = params->layout == 1;
    const size_t directions = call->directions;
    const size_t hidden = params->hidden_size > 0 ? (size_t)params->hidden_size : r->shape[2];

    if (x->type != OPKIT_FLOAT32 || x->rank != 3) {
        return "x must be [S, N, inputs], or with layout 1 [N, S, inputs]";
    }
    if (!rnn_is(r, directions, hidden, hidden)) {
        return "r must be [directions, hidden, hidden]";
    }
    call->positions = x->shape[is_batch_first ? 1 : 0];
    call->count = x->shape[is_batch_first ? 0 : 1];
    call->inputs = x->shape[2];
    call->hidden = hidden;
    call->groups = (call->count + RNN_GROUP - 1) / RNN_GROUP;
    if (!rnn_is(&inputs->w, directions, hidden, call->inputs)) {
        return "w must be [directions, hidden, inputs]";
    }
    if (inputs->b.type != OPKIT_FLOAT32 || inputs->b.rank != 2 ||
        inputs->b.shape[0] != directions || inputs->b.shape[1] != 2 * hidden) {
        return "b must be [directions, 2 * hidden]";
    }
    const size_t first = is_batch_first ? call->count : directions;
    const size_t second = is_batch_first ? directions : call->count;
    if (!rnn_is(&inputs->initial_h, first, second, hidden)) {
        return "initial_h must be [directions, N, hidden], or with layout 1 [N, directions, "
               "hidden]";
    }
    return y->type == OPKIT_FLOAT32 && y->size == call->positions * first * second * hidden &&
                   rnn_is(&outputs->y_h, first, second, hidden)
               ? NULL
               : "y must be [S, directions, N, hidden], or with layout 1 [N, S, directions, "
                 "hidden], and y_h the shape of initial_h";
}

/* Computes the distances of elements. */
static void rnn_set_strides(struct rnn_call *call, bool is_batch_first)
{
    const size_t hidden = call->hidden, states = call->directions * hidden;

    call->direction = is_batch_first ? hidden : call->count * hidden;
    call->last_batch = is_batch_first ? states : hidden;
    call->x_position = is_batch_first ? call->inputs : call->count * call->inputs;
    call->x_batch = is_batch_first ? call->positions * call->inputs : call->inputs;
    call->y_position = is_batch_first ? states : call->count * states;
    call->y_batch = is_batch_first ? call->positions * states : hidden;
}

/*
 * Computes the outputs:
 *
 *   inputs->x                [S, N, inputs]; with layout 1, [N, S, inputs]
 *   inputs->w                [directions, hidden, inputs]
 *   inputs->r                [directions, hidden, hidden]
 *   inputs->b                the biases of both products, [directions, 2 * hidden]
 *   inputs->sequence_lens    [N], or [1] of -1: all sequences have S positions
 *   inputs->initial_h        the shape of y_h
 *   params->activations      the functions of the directions: "Tanh", "Relu" or "Sigmoid"
 *   params->clip             the largest magnitude before the function; 0: any
 *   params->direction        "forward", "reverse" or "bidirectional"
 *   params->hidden_size      the size of a state; 0: that of r
 *   params->layout           1: x, y and the states begin with N
 *   outputs->y               [S, directions, N, hidden]; with layout 1, [N, S, directions, hidden]
 *   outputs->y_h             [directions, N, hidden]; with layout 1, [N, directions, hidden]
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *rnn_compute(const struct rnn_inputs *inputs, const struct rnn_params *params,
                               struct rnn_outputs *outputs)
{
    struct rnn_call call;

    const char *problem = rnn_read(params, &call);
    if (problem == NULL) {
        problem = rnn_check(inputs, params, outputs, &call);
    }
    if (problem == NULL) {
        problem = rnn_read_lengths(&inputs->sequence_lens, &call);
    }
    if (problem != NULL) {
        return problem;
    }

    call.x = inputs->x.float32;
    call.w = inputs->w.float32;
    call.r = inputs->r.float32;
    call.b = inputs->b.float32;
    call.before = inputs->initial_h.float32;
    call.y = outputs->y.float32;
    call.last = outputs->y_h.float32;
    rnn_set_strides(&call, params->layout == 1);
    const size_t products = call.directions * call.hidden * call.inputs;
    const size_t steps = call.positions * RNN_GROUP * call.hidden * call.hidden;
    opkit_parallel_for(call.positions * call.count, RNN_GRAIN / (products + 1) + RNN_GROUP,
                       rnn_project_part, &call);
    opkit_parallel_for(call.directions * call.groups, RNN_GRAIN / (steps + 1) + 1, rnn_advance_part,
                       &call);
    return NULL;
}

#endif
