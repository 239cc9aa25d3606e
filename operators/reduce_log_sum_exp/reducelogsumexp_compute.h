/*
 * The math of ReduceLogSumExp: the logarithm of the sum of the exponentials along axes.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in reducelogsumexp_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in
 * all. Floating-point tensors are arrays of float, also if the model has float16.
 *
 * The maximum of the terms is subtracted before and added at the end, so that no exponential is
 * beyond the range of float.
 *
 * Many sums advance side by side, in vectors: those of neighboring elements of the output, or, if
 * there are few, 16 for each of them, which are added at the end. They are in float for at most
 * REDUCELOGSUMEXP_ROWS terms, then in double. The error of the sum is at most 2^-17 of it.
 */
#ifndef REDUCELOGSUMEXP_COMPUTE_H
#define REDUCELOGSUMEXP_COMPUTE_H

#include <math.h>
#include <string.h>

#include "generated/reducelogsumexp.h"
#include "include/opkit/compute/axes.h"
#include "include/opkit/compute/math.h"

enum {
    REDUCELOGSUMEXP_LANES = 16, /* sums side by side of one element of the output */
    REDUCELOGSUMEXP_COLUMNS = 512, /* elements of the output in one pass: sums stay in the cache */
    REDUCELOGSUMEXP_ROWS = 64 /* terms of a sum in float */
};

/* Raises the maxima of the lanes to the elements of rows; NaN is left to the sums. */
static inline void reducelogsumexp_raise(const float *x, size_t rows, size_t pitch, size_t lanes,
                                         float *__restrict__ maxima)
{
    for (size_t row = 0; row < rows; row++) {
        for (size_t lane = 0; lane < lanes; lane++) {
            const float element = x[row * pitch + lane];
            maxima[lane] = element > maxima[lane] ? element : maxima[lane];
        }
    }
}

/* Adds the exponentials of rows to the sums of the lanes. */
static inline void reducelogsumexp_add(const float *x, size_t rows, size_t pitch, size_t lanes,
                                       const float *__restrict__ centers, float *__restrict__ sums)
{
    for (size_t row = 0; row < rows; row++) {
        for (size_t lane = 0; lane < lanes; lane++) {
            sums[lane] += opkit_exp(x[row * pitch + lane] - centers[lane]);
        }
    }
}

/* Returns the subtrahend for a maximum; 0 instead of infinity, which minus infinity is NaN. */
static inline float reducelogsumexp_center(float maximum)
{
    return fabsf(maximum) < opkit_infinity() ? maximum : 0.0F;
}

/* Adds the lanes of each column in pairs, then to its total, and clears them. */
static inline void reducelogsumexp_flush(float *sums, size_t lanes, size_t columns, double *totals)
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

/* Computes the subtrahends of lanes: the maximum of their column's terms, if that is finite. */
__attribute__((always_inline)) static inline void
reducelogsumexp_center_lanes(const struct opkit_reduction *plan, size_t columns, size_t step,
                             const float *x, float *centers)
{
    const size_t lanes = columns * step, pitch = plan->columns * step;
    const size_t rows = plan->length / step, rest = plan->length % step * columns;

    for (size_t lane = 0; lane < lanes; lane++) {
        centers[lane] = -opkit_infinity();
    }
    for (size_t i = 0; i < plan->reduced.count; i++) {
        const float *place = x + opkit_offset(&plan->reduced, i);

        reducelogsumexp_raise(place, rows, pitch, lanes, centers);
        reducelogsumexp_raise(place + rows * pitch, 1, pitch, rest, centers);
    }
    for (size_t half = lanes / 2; half >= columns; half /= 2) {
        reducelogsumexp_raise(centers + half, 1, half, half, centers);
    }
    for (size_t column = 0; column < columns; column++) {
        centers[column] = reducelogsumexp_center(centers[column]);
    }
    for (size_t lane = columns; lane < lanes; lane++) {
        centers[lane] = centers[lane - columns];
    }
}

/*
 * Computes neighboring elements of the output, at most REDUCELOGSUMEXP_COLUMNS, from their first
 * terms on. `step` rows of the plan are one row of lanes. Inlined, so that the lanes of a single
 * element are a constant number, in registers.
 */
__attribute__((always_inline)) static inline void
reducelogsumexp_columns(const struct opkit_reduction *plan, size_t columns, size_t step,
                        const float *x, float *y)
{
    const size_t lanes = columns * step, pitch = plan->columns * step;
    const size_t rows = plan->length / step, rest = plan->length % step * columns;
    float centers[REDUCELOGSUMEXP_COLUMNS];
    float sums[REDUCELOGSUMEXP_COLUMNS];
    double totals[REDUCELOGSUMEXP_COLUMNS];
    size_t terms = 0; /* of a lane, since it was cleared */

    reducelogsumexp_center_lanes(plan, columns, step, x, centers);
    memset(sums, 0, lanes * sizeof *sums);
    memset(totals, 0, columns * sizeof *totals);
    for (size_t i = 0; i < plan->reduced.count; i++) {
        const float *place = x + opkit_offset(&plan->reduced, i);

        for (size_t row = 0; row < rows;) {
            if (terms >= REDUCELOGSUMEXP_ROWS) {
                reducelogsumexp_flush(sums, lanes, columns, totals);
                terms = 0;
            }
            const size_t left = rows - row, limit = REDUCELOGSUMEXP_ROWS - terms;
            const size_t count = left < limit ? left : limit;

            reducelogsumexp_add(place + row * pitch, count, pitch, lanes, centers, sums);
            row += count;
            terms += count;
        }
        reducelogsumexp_add(place + rows * pitch, 1, pitch, rest, centers, sums);
        terms++;
    }
    reducelogsumexp_flush(sums, lanes, columns, totals);
    for (size_t column = 0; column < columns; column++) {
        y[column] = opkit_log((float)totals[column]) + centers[column];
    }
}

/* Computes an element of the output, of few terms. */
static inline float reducelogsumexp_element(const struct opkit_reduction *plan, const float *x)
{
    float maximum = -opkit_infinity();
    double total = 0.0;

    for (size_t i = 0; i < plan->reduced.count; i++) {
        reducelogsumexp_raise(x + opkit_offset(&plan->reduced, i), plan->length, plan->columns, 1,
                              &maximum);
    }
    const float center = reducelogsumexp_center(maximum);
    for (size_t i = 0; i < plan->reduced.count; i++) {
        const float *place = x + opkit_offset(&plan->reduced, i);
        for (size_t row = 0; row < plan->length; row++) {
            total += (double)opkit_exp(place[row * plan->columns] - center);
        }
    }
    return opkit_log((float)total) + center;
}

/* Computes the elements of the output that are neighbors in x, too. */
static void reducelogsumexp_row(const struct opkit_reduction *plan, const float *x, float *y)
{
    const size_t columns = plan->columns;
    const bool is_long = plan->length >= REDUCELOGSUMEXP_LANES;

    if (columns == 1 && is_long) {
        reducelogsumexp_columns(plan, 1, REDUCELOGSUMEXP_LANES, x, y);
    } else if (columns < 2 * REDUCELOGSUMEXP_LANES && is_long) {
        reducelogsumexp_columns(plan, columns, REDUCELOGSUMEXP_LANES, x, y);
    } else if (columns < REDUCELOGSUMEXP_LANES) {
        for (size_t column = 0; column < columns; column++) {
            y[column] = reducelogsumexp_element(plan, x + column);
        }
    } else {
        for (size_t column = 0; column < columns; column += REDUCELOGSUMEXP_COLUMNS) {
            const size_t left = columns - column, limit = REDUCELOGSUMEXP_COLUMNS;

            reducelogsumexp_columns(plan, left < limit ? left : limit, 1, x + column, y + column);
        }
    }
}

/* Checks tensors and params; marks the axes. Returns NULL, or an error message. */
static const char *reducelogsumexp_check(const struct reducelogsumexp_inputs *inputs,
                                         const struct reducelogsumexp_params *params,
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
 *   params->noop_with_empty_axes    without axes, 0: the sum is along all; 1: along none
 *   outputs->reduced                the logarithms of the sums
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *reducelogsumexp_compute(const struct reducelogsumexp_inputs *inputs,
                                           const struct reducelogsumexp_params *params,
                                           struct reducelogsumexp_outputs *outputs)
{
    bool is_reduced[OPKIT_MAX_RANK];

    const char *problem = reducelogsumexp_check(inputs, params, &outputs->reduced, is_reduced);
    if (problem != NULL) {
        return problem;
    }

    const struct opkit_reduction plan = opkit_plan_reduction(&inputs->data, is_reduced);
    for (size_t i = 0; i < plan.kept.count; i++) {
        reducelogsumexp_row(&plan, inputs->data.float32 + opkit_offset(&plan.kept, i),
                            outputs->reduced.float32 + i * plan.columns);
    }
    return NULL;
}

#endif
