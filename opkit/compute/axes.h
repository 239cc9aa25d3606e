/*
 * Reductions over any axes of a tensor, without copies.
 *
 * Neighboring axes that are both kept, or both reduced, are one axis. What remains is nested:
 * places of the output, places of its terms, and in the middle of memory a block of contiguous
 * elements. The last part of this file is for ONNX's reductions, whose params are the same.
 *
 * Plain C11 and C++11.
 */
#ifndef OPKIT_AXES_H
#define OPKIT_AXES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "processor.h"
#include "tensor.h"

enum {
    OPKIT_LANES = 16, /* intermediate results side by side of one element of the output */
    OPKIT_COLUMNS = 512 /* elements of the output in one pass: they stay in the cache */
};

/*
 * The only item of a list of axes in op.yml, `default: [-999]`, for models that name no axes:
 * runtimes have no empty lists. It is an axis of no tensor, and exact as a float.
 */
#define OPKIT_NO_AXES (-999)

/* Nested loops over places in a tensor. */
struct opkit_loops {
    size_t count; /* of places: the product of the sides */
    size_t rank;
    size_t sides[OPKIT_MAX_RANK]; /* of each loop, from the innermost one */
    size_t pitches[OPKIT_MAX_RANK]; /* from one place to the next in memory */
};

/*
 * The loops of a reduction, from the outside:
 *
 *   kept        rows of the output, in its order; each has `columns` elements
 *   reduced     blocks of terms of that row
 *   length      rows of a block, each right behind the one before
 *   columns     neighboring elements of different sums
 *
 * One of an outer and an inner loop is often a single place.
 */
struct opkit_reduction {
    struct opkit_loops kept;
    struct opkit_loops reduced;
    size_t length;
    size_t columns;
    size_t terms; /* of each element of the output */
};

/* Returns the offset of the i-th place. */
static inline size_t opkit_offset(const struct opkit_loops *loops, size_t i)
{
    size_t offset = 0;

    for (size_t loop = 0; loop < loops->rank; loop++) {
        if (loop + 1 == loops->rank) { /* without a division: most have a single loop */
            return offset + i * loops->pitches[loop];
        }
        offset += i % loops->sides[loop] * loops->pitches[loop];
        i /= loops->sides[loop];
    }
    return offset;
}

/*
 * Marks the axes of a list, in which negative ones count from the last axis. OPKIT_NO_AXES marks
 * all, or none if `is_noop`. Returns NULL, or an error message.
 */
static inline const char *opkit_mark_axes(const struct opkit_tensor *x,
                                          struct opkit_int32_array axes, bool is_noop,
                                          bool is_marked[OPKIT_MAX_RANK])
{
    const int64_t rank = (int64_t)x->rank;
    const bool is_default = axes.count > 0 && axes.items[0] == OPKIT_NO_AXES;

    for (size_t axis = 0; axis < OPKIT_MAX_RANK; axis++) {
        is_marked[axis] = is_default && !is_noop && axis < x->rank;
    }
    for (size_t i = 0; i < axes.count && !is_default; i++) {
        const int64_t axis = axes.items[i] < 0 ? axes.items[i] + rank : axes.items[i];

        if (axis < 0 || axis >= rank || is_marked[axis]) {
            return "axes must be different dimensions, from -rank to rank - 1";
        }
        is_marked[axis] = true;
    }
    return NULL;
}

/* Sets the shape of a reduction's output; a tensor without dimensions is [1]. */
static inline void opkit_set_reduced_shape(const struct opkit_tensor *x,
                                           const bool is_reduced[OPKIT_MAX_RANK], bool keeps_axes,
                                           struct opkit_tensor *y)
{
    y->rank = 0;
    for (size_t axis = 0; axis < x->rank; axis++) {
        if (!is_reduced[axis] || keeps_axes) {
            y->shape[y->rank++] = is_reduced[axis] ? 1 : x->shape[axis];
        }
    }
    for (size_t axis = y->rank; axis < OPKIT_MAX_RANK; axis++) {
        y->shape[axis] = 1;
    }
    y->rank += y->rank == 0;
}

static inline void opkit_add_loop(struct opkit_loops *loops, size_t side, size_t pitch)
{
    loops->sides[loops->rank] = side;
    loops->pitches[loops->rank++] = pitch;
    loops->count *= side;
}

/* Plans the loops. */
static inline struct opkit_reduction opkit_plan_reduction(const struct opkit_tensor *x,
                                                          const bool is_reduced[OPKIT_MAX_RANK])
{
    struct opkit_reduction plan = {{1, 0, {0}, {0}}, {1, 0, {0}, {0}}, 1, 1, 1};
    size_t pitch = 1;

    for (size_t end = x->rank; end > 0;) {
        const bool is_inner = pitch == 1; /* also behind sides of 1 */
        const bool is_last_reduced = is_reduced[end - 1];
        size_t side = 1;

        while (end > 0 && (is_reduced[end - 1] == is_last_reduced || x->shape[end - 1] == 1)) {
            side *= x->shape[--end];
        }
        if (is_inner && !is_last_reduced) {
            plan.columns = side;
        } else if (is_last_reduced && pitch == plan.columns) {
            plan.length = side;
        } else {
            opkit_add_loop(is_last_reduced ? &plan.reduced : &plan.kept, side, pitch);
        }
        plan.terms *= is_last_reduced ? side : 1;
        pitch *= side;
    }
    return plan;
}

/*
 * Checks the params of ONNX's reductions, and marks the axes. Sets the shape of the output. Returns
 * NULL, or an error message.
 */
static inline const char *opkit_infer_reduced(const struct opkit_tensor *x,
                                              struct opkit_int32_array axes, int64_t keepdims,
                                              int64_t noop_with_empty_axes,
                                              bool is_reduced[OPKIT_MAX_RANK],
                                              struct opkit_tensor *y)
{
    if (keepdims != 0 && keepdims != 1) {
        return "keepdims must be 0 or 1";
    }
    if (noop_with_empty_axes != 0 && noop_with_empty_axes != 1) {
        return "noop_with_empty_axes must be 0 or 1";
    }
    const char *problem = opkit_mark_axes(x, axes, noop_with_empty_axes == 1, is_reduced);
    if (problem == NULL) {
        opkit_set_reduced_shape(x, is_reduced, keepdims == 1, y);
    }
    return problem;
}

/* Checks shapes and params of ONNX's reductions. Returns NULL, or an error message. */
static inline const char *opkit_check_reduced(const struct opkit_tensor *data,
                                              struct opkit_int32_array axes, int64_t keepdims,
                                              int64_t noop_with_empty_axes,
                                              const struct opkit_tensor *reduced,
                                              struct opkit_reduction *plan)
{
    struct opkit_tensor expected = *reduced;
    bool is_reduced[OPKIT_MAX_RANK];

    const char *problem =
        opkit_infer_reduced(data, axes, keepdims, noop_with_empty_axes, is_reduced, &expected);
    if (problem != NULL) {
        return problem;
    }
    if (reduced->rank != expected.rank ||
        memcmp(reduced->shape, expected.shape, sizeof expected.shape) != 0) {
        return "reduced must have the shape of data without the axes, or with 1 along them";
    }
    *plan = opkit_plan_reduction(data, is_reduced);
    return NULL;
}

/*
 * Computes neighboring elements of the output, at most OPKIT_COLUMNS, from their first terms on.
 * `step` rows of the plan are one row of lanes: lane i is a part of column i % columns.
 */
typedef void opkit_columns(const void *math, const struct opkit_reduction *plan, size_t columns,
                           size_t step, const float *x, float *y);

/* Returns an element of the output, of few terms. */
typedef float opkit_element(const void *math, const struct opkit_reduction *plan, const float *x);

/*
 * Computes all elements of the output. Many of their intermediate results advance side by side, in
 * vectors: those of neighboring elements, or, if there are few, OPKIT_LANES for each of them. The
 * two functions get `math`; they are inlined, so that the lanes of a single element are a constant
 * number, in registers.
 */
OPKIT_INLINE void opkit_reduce(const struct opkit_reduction *plan, const float *x, float *y,
                               opkit_columns *compute_columns, opkit_element *compute_element,
                               const void *math)
{
    const size_t columns = plan->columns;
    const bool is_long = plan->length >= OPKIT_LANES;

    for (size_t i = 0; i < plan->kept.count; i++, y += columns) {
        const float *row = x + opkit_offset(&plan->kept, i);

        if (columns == 1 && is_long) {
            compute_columns(math, plan, 1, OPKIT_LANES, row, y);
        } else if (columns < 2 * OPKIT_LANES && is_long) {
            compute_columns(math, plan, columns, OPKIT_LANES, row, y);
        } else if (columns < OPKIT_LANES) {
            for (size_t column = 0; column < columns; column++) {
                y[column] = compute_element(math, plan, row + column);
            }
        } else {
            for (size_t column = 0; column < columns; column += OPKIT_COLUMNS) {
                const size_t left = columns - column, limit = OPKIT_COLUMNS;

                compute_columns(math, plan, left < limit ? left : limit, 1, row + column,
                                y + column);
            }
        }
    }
}

#endif
