/*
 * The math of ReduceMean: the mean along axes.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in reducemean_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in
 * all. Floating-point tensors are arrays of float, also if the model has float16.
 *
 * Many sums advance side by side, in vectors: those of neighboring elements of the output, or, if
 * there are few, 16 for each of them, which are added at the end. They are in float for at most
 * REDUCEMEAN_ROWS terms, then in double. The error is at most 2^-17 of the mean of the
 * magnitudes.
 */
#ifndef REDUCEMEAN_COMPUTE_H
#define REDUCEMEAN_COMPUTE_H

#include <string.h>

#include "generated/reducemean.h"
#include "include/opkit/compute/axes.h"

enum {
    REDUCEMEAN_LANES = 16, /* sums side by side of one element of the output */
    REDUCEMEAN_COLUMNS = 512, /* elements of the output in one pass: sums stay in the cache */
    REDUCEMEAN_ROWS = 64 /* terms of a sum in float */
};

/* Adds the terms of rows to the sums of the lanes. */
static inline void reducemean_add(const float *x, size_t rows, size_t pitch, size_t lanes,
                                  float *__restrict__ sums)
{
    size_t row = 0;

    for (; row + 4 <= rows; row += 4) {
        const float *a = x + row * pitch, *b = a + pitch, *c = b + pitch, *d = c + pitch;
        for (size_t lane = 0; lane < lanes; lane++) {
            sums[lane] += (a[lane] + b[lane]) + (c[lane] + d[lane]);
        }
    }
    for (; row < rows; row++) {
        for (size_t lane = 0; lane < lanes; lane++) {
            sums[lane] += x[row * pitch + lane];
        }
    }
}

/* Adds the lanes of each column in pairs, then to its total, and clears them. */
static inline void reducemean_flush(float *sums, size_t lanes, size_t columns, double *totals)
{
    for (size_t half = lanes / 2; half >= columns; half /= 2) {
        for (size_t lane = 0; lane < half; lane++) {
            sums[lane] += sums[half + lane];
        }
    }
    for (size_t column = 0; column < columns; column++) {
        totals[column] += (double)sums[column];
    }
    memset(sums, 0, lanes * sizeof *sums);
}

/*
 * Computes neighboring elements of the output, at most REDUCEMEAN_COLUMNS, from their first
 * terms on. `step` rows of the plan are one row of lanes. Inlined, so that the lanes of a single
 * element are a constant number, in registers.
 */
__attribute__((always_inline)) static inline void
reducemean_columns(const struct opkit_reduction *plan, size_t columns, size_t step, const float *x,
                   float *y)
{
    const size_t lanes = columns * step, pitch = plan->columns * step;
    const size_t rows = plan->length / step, rest = plan->length % step * columns;
    float sums[REDUCEMEAN_COLUMNS];
    double totals[REDUCEMEAN_COLUMNS];
    size_t terms = 0; /* of a lane, since it was cleared */

    memset(sums, 0, lanes * sizeof *sums);
    memset(totals, 0, columns * sizeof *totals);
    for (size_t i = 0; i < plan->reduced.count; i++) {
        const float *place = x + opkit_offset(&plan->reduced, i);

        for (size_t row = 0; row < rows;) {
            if (terms >= REDUCEMEAN_ROWS) {
                reducemean_flush(sums, lanes, columns, totals);
                terms = 0;
            }
            const size_t left = rows - row, limit = REDUCEMEAN_ROWS - terms;
            const size_t count = left < limit ? left : limit;

            reducemean_add(place + row * pitch, count, pitch, lanes, sums);
            row += count;
            terms += count;
        }
        reducemean_add(place + rows * pitch, 1, pitch, rest, sums);
        terms++;
    }
    reducemean_flush(sums, lanes, columns, totals);
    for (size_t column = 0; column < columns; column++) {
        y[column] = (float)(totals[column] / (double)plan->terms);
    }
}

/* Computes an element of the output, of few terms. */
static inline float reducemean_element(const struct opkit_reduction *plan, const float *x)
{
    double total = 0.0;

    for (size_t i = 0; i < plan->reduced.count; i++) {
        const float *place = x + opkit_offset(&plan->reduced, i);
        for (size_t row = 0; row < plan->length; row++) {
            total += (double)place[row * plan->columns];
        }
    }
    return (float)(total / (double)plan->terms);
}

/* Computes the elements of the output that are neighbors in x, too. */
static void reducemean_row(const struct opkit_reduction *plan, const float *x, float *y)
{
    const size_t columns = plan->columns;
    const bool is_long = plan->length >= REDUCEMEAN_LANES;

    if (columns == 1 && is_long) {
        reducemean_columns(plan, 1, REDUCEMEAN_LANES, x, y);
    } else if (columns < 2 * REDUCEMEAN_LANES && is_long) {
        reducemean_columns(plan, columns, REDUCEMEAN_LANES, x, y);
    } else if (columns < REDUCEMEAN_LANES) {
        for (size_t column = 0; column < columns; column++) {
            y[column] = reducemean_element(plan, x + column);
        }
    } else {
        for (size_t column = 0; column < columns; column += REDUCEMEAN_COLUMNS) {
            const size_t left = columns - column, limit = REDUCEMEAN_COLUMNS;

            reducemean_columns(plan, left < limit ? left : limit, 1, x + column, y + column);
        }
    }
}

/* Checks tensors and params; marks the axes. Returns NULL, or an error message. */
static const char *reducemean_check(const struct reducemean_inputs *inputs,
                                    const struct reducemean_params *params,
                                    const struct opkit_tensor *y, bool *is_reduced)
{
    struct opkit_tensor expected = *y;

    if (inputs->data.type != OPKIT_FLOAT32 || y->type != OPKIT_FLOAT32) {
        return "data and reduced must be float16 or float32";
    }
    if (params->keepdims != 0 && params->keepdims != 1) {
        return "keepdims must be 0 or 1";
    }
    if (params->noop_with_empty_axes != 0 && params->noop_with_empty_axes != 1) {
        return "noop_with_empty_axes must be 0 or 1";
    }
    const char *problem =
        opkit_mark_axes(&inputs->data, params->axes, params->noop_with_empty_axes == 1, is_reduced);
    if (problem != NULL) {
        return problem;
    }
    opkit_set_reduced_shape(&inputs->data, is_reduced, params->keepdims == 1, &expected);
    if (y->rank != expected.rank || memcmp(y->shape, expected.shape, sizeof y->shape) != 0) {
        return "reduced must have the shape of data without the axes, or with 1 along them";
    }
    return NULL;
}

/*
 * Computes the outputs:
 *
 *   inputs->data                    any shape
 *   params->axes                    the axes; OPKIT_NO_AXES: none are named
 *   params->keepdims                1: reduced has 1 along the axes; 0: it lacks them
 *   params->noop_with_empty_axes    without axes, 0: the mean is along all; 1: along none
 *   outputs->reduced                the means
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *reducemean_compute(const struct reducemean_inputs *inputs,
                                      const struct reducemean_params *params,
                                      struct reducemean_outputs *outputs)
{
    bool is_reduced[OPKIT_MAX_RANK];

    const char *problem = reducemean_check(inputs, params, &outputs->reduced, is_reduced);
    if (problem != NULL) {
        return problem;
    }

    const struct opkit_reduction plan = opkit_plan_reduction(&inputs->data, is_reduced);
    for (size_t i = 0; i < plan.kept.count; i++) {
        reducemean_row(&plan, inputs->data.float32 + opkit_offset(&plan.kept, i),
                       outputs->reduced.float32 + i * plan.columns);
    }
    return NULL;
}

#endif
