/*
 * The math of Hardmax: 1 at the first maximum along an axis, 0 elsewhere.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in hardmax_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16.
 *
 * NaN is a maximum, as in numpy.
 */
#ifndef HARDMAX_COMPUTE_H
#define HARDMAX_COMPUTE_H

#include <math.h>
#include <string.h>

#include "generated/hardmax.h"
#include "include/opkit/compute/parallel.h"

enum {
    HARDMAX_LANES = 16, /* elements of a row at once */
    HARDMAX_COLUMNS = 256, /* searched at once */
    HARDMAX_CLEARED = 16384, /* elements of y at once: they are in the cache when their 1 comes */
    HARDMAX_GRAIN = 16384 /* elements worth a thread */
};

/* A call: x and y are [..., length, columns], and the maxima along the length are sought. */
struct hardmax_call {
    const float *x;
    float *y;
    size_t length;
    size_t columns;
};

/* Whether an element is before a maximum: it is larger, or NaN. */
static inline bool hardmax_is_better(float x, float best)
{
    return !(x <= best) & (best == best);
}

/* Returns the maximum of a row: NaN, if it has one. */
static float hardmax_max(const float *x, size_t length)
{
    float lanes[HARDMAX_LANES];
    uint32_t is_nan[HARDMAX_LANES] = {0};
    float best = x[0];
    size_t i = 0;

    for (size_t lane = 0; lane < HARDMAX_LANES; lane++) {
        lanes[lane] = best;
    }
    for (; i + HARDMAX_LANES <= length; i += HARDMAX_LANES) {
        for (size_t lane = 0; lane < HARDMAX_LANES; lane++) {
            const float element = x[i + lane];

            lanes[lane] = element > lanes[lane] ? element : lanes[lane];
            is_nan[lane] |= element != element;
        }
    }
    for (size_t lane = 0; lane < HARDMAX_LANES; lane++) {
        const float element = is_nan[lane] ? NAN : lanes[lane];

        best = hardmax_is_better(element, best) ? element : best;
    }
    for (; i < length; i++) {
        best = hardmax_is_better(x[i], best) ? x[i] : best;
    }
    return best;
}

/* Returns the index of the first maximum of a row without gaps. */
static size_t hardmax_find(const float *x, size_t length)
{
    const float best = hardmax_max(x, length);
    size_t first = 0;

    for (; first + HARDMAX_LANES <= length; first += HARDMAX_LANES) {
        uint32_t is_here = 0;

        for (size_t lane = 0; lane < HARDMAX_LANES; lane++) {
            is_here |= !hardmax_is_better(best, x[first + lane]);
        }
        if (is_here) {
            break;
        }
    }
    while (hardmax_is_better(best, x[first])) {
        first++;
    }
    return first;
}

/* Sets the 1 of up to HARDMAX_COLUMNS neighboring columns; `pitch` is from row to row. */
static void hardmax_columns(const float *x, float *y, size_t length, size_t pitch, size_t columns)
{
    float best[HARDMAX_COLUMNS];
    uint32_t first[HARDMAX_COLUMNS];

    for (size_t i = 0; i < columns; i++) {
        best[i] = x[i];
        first[i] = 0;
    }
    for (size_t row = 1; row < length; row++) {
        for (size_t i = 0; i < columns; i++) {
            const float element = x[row * pitch + i];
            const bool is_better = hardmax_is_better(element, best[i]);

            best[i] = is_better ? element : best[i];
            first[i] = is_better ? (uint32_t)row : first[i];
        }
    }
    for (size_t i = 0; i < columns; i++) {
        y[first[i] * pitch + i] = 1.0F;
    }
}

/* Computes some blocks of the output. */
static void hardmax_blocks(const struct hardmax_call *call, size_t begin, size_t end)
{
    const size_t block = call->length * call->columns;

    memset(call->y + begin * block, 0, (end - begin) * block * sizeof *call->y);
    for (size_t i = begin; i < end; i++) {
        const float *x = call->x + i * block;
        float *y = call->y + i * block;

        if (call->columns == 1) {
            y[hardmax_find(x, call->length)] = 1.0F;
            continue;
        }
        for (size_t column = 0; column < call->columns; column += HARDMAX_COLUMNS) {
            const size_t left = call->columns - column;

            hardmax_columns(x + column, y + column, call->length, call->columns,
                            left < HARDMAX_COLUMNS ? left : (size_t)HARDMAX_COLUMNS);
        }
    }
}

/* Computes a part of the output. */
static void hardmax_part(const void *context, size_t begin, size_t end)
{
    const struct hardmax_call *call = (const struct hardmax_call *)context;
    const size_t group = HARDMAX_CLEARED / (call->length * call->columns) + 1;

    while (begin < end) {
        const size_t next = end - begin < group ? end : begin + group;

        hardmax_blocks(call, begin, next);
        begin = next;
    }
}

/*
 * Computes the outputs:
 *
 *   inputs->input      any shape
 *   params->axis       the axis; negative: counted from the last one
 *   outputs->output    the shape of input
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *hardmax_compute(const struct hardmax_inputs *inputs,
                                   const struct hardmax_params *params,
                                   struct hardmax_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->input;
    const struct opkit_tensor *y = &outputs->output;
    const int64_t rank = (int64_t)x->rank;
    const int64_t axis = params->axis < 0 ? params->axis + rank : params->axis;
    struct hardmax_call call = {x->float32, y->float32, 0, 1};

    if (x->type != OPKIT_FLOAT32 || y->type != OPKIT_FLOAT32) {
        return "input must be float16 or float32";
    }
    if (y->size != x->size) {
        return "input and output must have the same shape";
    }
    if (axis < 0 || axis >= rank) {
        return "axis must be from -rank to rank - 1";
    }
    call.length = x->shape[axis];
    if (call.length > UINT32_MAX) {
        return "the axis must have less than 2^32 elements";
    }
    for (size_t i = (size_t)axis + 1; i < x->rank; i++) {
        call.columns *= x->shape[i];
    }
    const size_t block = call.length * call.columns;
    opkit_parallel_for(x->size / block, HARDMAX_GRAIN / block + 1, hardmax_part, &call);
    return NULL;
}

#endif
