/*
 * The math of ReduceProd: the product of the elements along axes.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in reduceprod_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in
 * all. Floating-point tensors are arrays of float, also if the model has float16.
 *
 * Many products advance side by side, in vectors: those of neighboring elements of the output, or,
 * if there are few, 16 for each of them, which are multiplied at the end. They are in double: in
 * float, products of many elements leave the range early.
 */
#ifndef REDUCEPROD_COMPUTE_H
#define REDUCEPROD_COMPUTE_H

#include <string.h>

#include "generated/reduceprod.h"
#include "include/opkit/compute/axes.h"

enum {
    REDUCEPROD_LANES = 16, /* products side by side of one element of the output */
    REDUCEPROD_COLUMNS = 512 /* elements of the output in one pass: they stay in the cache */
};

/* Multiplies the products of the lanes by the terms of rows. */
static inline void reduceprod_multiply(const float *x, size_t rows, size_t pitch, size_t lanes,
                                       double *products)
{
    size_t row = 0;

    for (; row + 4 <= rows; row += 4) {
        const float *a = x + row * pitch, *b = a + pitch, *c = b + pitch, *d = c + pitch;
        for (size_t lane = 0; lane < lanes; lane++) {
            products[lane] *=
                ((double)a[lane] * (double)b[lane]) * ((double)c[lane] * (double)d[lane]);
        }
    }
    for (; row < rows; row++) {
        for (size_t lane = 0; lane < lanes; lane++) {
            products[lane] *= (double)x[row * pitch + lane];
        }
    }
}

/*
 * Computes neighboring elements of the output, at most REDUCEPROD_COLUMNS, from their first terms
 * on. `step` rows of the plan are one row of lanes. Inlined, so that the lanes of a single element
 * are a constant number, in registers.
 */
__attribute__((always_inline)) static inline void
reduceprod_columns(const struct opkit_reduction *plan, size_t columns, size_t step, const float *x,
                   float *y)
{
    const size_t lanes = columns * step, pitch = plan->columns * step;
    const size_t rows = plan->length / step, rest = plan->length % step * columns;
    double products[REDUCEPROD_COLUMNS];

    for (size_t lane = 0; lane < lanes; lane++) {
        products[lane] = 1.0;
    }
    for (size_t i = 0; i < plan->reduced.count; i++) {
        const float *place = x + opkit_offset(&plan->reduced, i);

        reduceprod_multiply(place, rows, pitch, lanes, products);
        reduceprod_multiply(place + rows * pitch, 1, pitch, rest, products);
    }
    for (size_t half = lanes / 2; half >= columns; half /= 2) {
        for (size_t lane = 0; lane < half; lane++) {
            products[lane] *= products[half + lane];
        }
    }
    for (size_t column = 0; column < columns; column++) {
        y[column] = (float)products[column];
    }
}

/* Computes an element of the output, of few terms. */
static inline float reduceprod_element(const struct opkit_reduction *plan, const float *x)
{
    double product = 1.0;

    for (size_t i = 0; i < plan->reduced.count; i++) {
        const float *place = x + opkit_offset(&plan->reduced, i);
        for (size_t row = 0; row < plan->length; row++) {
            product *= (double)place[row * plan->columns];
        }
    }
    return (float)product;
}

/* Computes the elements of the output that are neighbors in x, too. */
static void reduceprod_row(const struct opkit_reduction *plan, const float *x, float *y)
{
    const size_t columns = plan->columns;
    const bool is_long = plan->length >= REDUCEPROD_LANES;

    if (columns == 1 && is_long) {
        reduceprod_columns(plan, 1, REDUCEPROD_LANES, x, y);
    } else if (columns < 2 * REDUCEPROD_LANES && is_long) {
        reduceprod_columns(plan, columns, REDUCEPROD_LANES, x, y);
    } else if (columns < REDUCEPROD_LANES) {
        for (size_t column = 0; column < columns; column++) {
            y[column] = reduceprod_element(plan, x + column);
        }
    } else {
        for (size_t column = 0; column < columns; column += REDUCEPROD_COLUMNS) {
            const size_t left = columns - column, limit = REDUCEPROD_COLUMNS;

            reduceprod_columns(plan, left < limit ? left : limit, 1, x + column, y + column);
        }
    }
}

/* Checks tensors and params; marks the axes. Returns NULL, or an error message. */
static const char *reduceprod_check(const struct reduceprod_inputs *inputs,
                                    const struct reduceprod_params *params,
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
 *   params->noop_with_empty_axes    without axes, 0: the products are along all; 1: along none
 *   outputs->reduced                the products
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *reduceprod_compute(const struct reduceprod_inputs *inputs,
                                      const struct reduceprod_params *params,
                                      struct reduceprod_outputs *outputs)
{
    bool is_reduced[OPKIT_MAX_RANK];

    const char *problem = reduceprod_check(inputs, params, &outputs->reduced, is_reduced);
    if (problem != NULL) {
        return problem;
    }

    const struct opkit_reduction plan = opkit_plan_reduction(&inputs->data, is_reduced);
    for (size_t i = 0; i < plan.kept.count; i++) {
        reduceprod_row(&plan, inputs->data.float32 + opkit_offset(&plan.kept, i),
                       outputs->reduced.float32 + i * plan.columns);
    }
    return NULL;
}

#endif
