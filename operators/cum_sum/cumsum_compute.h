/*
 * The math of CumSum: the running sums along an axis.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in cumsum_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16; integer tensors are
 * not converted.
 *
 * Sums of floats are in double, because a sum of thousands of floats loses digits. Sums of integers
 * are unsigned, because signed overflow is undefined in C; the bits are the same.
 */
#ifndef CUMSUM_COMPUTE_H
#define CUMSUM_COMPUTE_H

#include "generated/cumsum.h"

enum {
    CUMSUM_COLUMNS = 512 /* summed in one pass: contiguous reads, and sums that stay in the cache */
};

/* Neighboring columns of a tensor. They have `rows` elements each, along the axis. */
struct cumsum_columns {
    size_t count; /* at most CUMSUM_COLUMNS */
    size_t rows;
    size_t pitch; /* from one row to the next in memory */
    bool exclusive;
    bool reverse;
};

/* Returns the offset of the i-th row to add. */
static inline size_t cumsum_row(const struct cumsum_columns *columns, size_t i)
{
    return (columns->reverse ? columns->rows - 1 - i : i) * columns->pitch;
}

static void cumsum_float32(const float *x, float *y, struct cumsum_columns columns)
{
    double sums[CUMSUM_COLUMNS];

    for (size_t column = 0; column < columns.count; column++) {
        sums[column] = 0.0;
    }
    for (size_t i = 0; i < columns.rows; i++) {
        const size_t row = cumsum_row(&columns, i);
        for (size_t column = 0; column < columns.count; column++) {
            const double before = sums[column];
            sums[column] = before + (double)x[row + column];
            y[row + column] = (float)(columns.exclusive ? before : sums[column]);
        }
    }
}

static void cumsum_uint32(const uint32_t *x, uint32_t *y, struct cumsum_columns columns)
{
    uint32_t sums[CUMSUM_COLUMNS];

    for (size_t column = 0; column < columns.count; column++) {
        sums[column] = 0;
    }
    for (size_t i = 0; i < columns.rows; i++) {
        const size_t row = cumsum_row(&columns, i);
        for (size_t column = 0; column < columns.count; column++) {
            const uint32_t before = sums[column];
            sums[column] = before + x[row + column];
            y[row + column] = columns.exclusive ? before : sums[column];
        }
    }
}

static void cumsum_uint64(const uint64_t *x, uint64_t *y, struct cumsum_columns columns)
{
    uint64_t sums[CUMSUM_COLUMNS];

    for (size_t column = 0; column < columns.count; column++) {
        sums[column] = 0;
    }
    for (size_t i = 0; i < columns.rows; i++) {
        const size_t row = cumsum_row(&columns, i);
        for (size_t column = 0; column < columns.count; column++) {
            const uint64_t before = sums[column];
            sums[column] = before + x[row + column];
            y[row + column] = columns.exclusive ? before : sums[column];
        }
    }
}

/* Checks tensors and params. Returns NULL, or an error message. */
static const char *cumsum_check(const struct opkit_tensor *x, const struct opkit_tensor *y,
                                const struct cumsum_params *params)
{
    const int64_t rank = (int64_t)x->rank;

    if (x->type != y->type || x->size != y->size) {
        return "x and y must be of one type and shape";
    }
    if (x->type != OPKIT_FLOAT32 && x->type != OPKIT_INT32 && x->type != OPKIT_UINT32 &&
        x->type != OPKIT_INT64) {
        return "x must be float16, float32, int32, uint32 or int64";
    }
    if (params->axis < -rank || params->axis >= rank) {
        return "axis must be a dimension of x: from -rank to rank - 1";
    }
    if (params->exclusive != 0 && params->exclusive != 1) {
        return "exclusive must be 0 or 1";
    }
    return params->reverse == 0 || params->reverse == 1 ? NULL : "reverse must be 0 or 1";
}

/*
 * Computes the outputs:
 *
 *   inputs->x            any shape
 *   params->axis         the axis of the sums; negative: counted from the last one
 *   params->exclusive    1: an element is not part of its own sum; 0: it is
 *   params->reverse      1: the sums begin at the last element of the axis; 0: at the first
 *   outputs->y           the sums, in the shape of x
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *cumsum_compute(const struct cumsum_inputs *inputs,
                                  const struct cumsum_params *params,
                                  struct cumsum_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->x;
    const struct opkit_tensor *y = &outputs->y;

    const char *problem = cumsum_check(x, y, params);
    if (problem != NULL) {
        return problem;
    }

    const size_t axis = (size_t)(params->axis < 0 ? params->axis + (int64_t)x->rank : params->axis);
    struct cumsum_columns columns;
    columns.rows = x->shape[axis];
    columns.pitch = 1;
    columns.exclusive = params->exclusive == 1;
    columns.reverse = params->reverse == 1;
    for (size_t i = axis + 1; i < x->rank; i++) {
        columns.pitch *= x->shape[i];
    }
    const size_t block = columns.rows * columns.pitch;
    for (size_t start = 0; start < x->size; start += block) {
        for (size_t column = 0; column < columns.pitch; column += CUMSUM_COLUMNS) {
            const size_t first = start + column;
            const size_t rest = columns.pitch - column;

            columns.count = rest < CUMSUM_COLUMNS ? rest : (size_t)CUMSUM_COLUMNS;
            if (x->type == OPKIT_FLOAT32) {
                cumsum_float32(x->float32 + first, y->float32 + first, columns);
            } else if (x->type == OPKIT_INT64) {
                cumsum_uint64((const uint64_t *)x->data + first, (uint64_t *)y->data + first,
                              columns);
            } else {
                cumsum_uint32((const uint32_t *)x->data + first, (uint32_t *)y->data + first,
                              columns);
            }
        }
    }
    return NULL;
}

#endif
