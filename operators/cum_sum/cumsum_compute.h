/*
 * The math of CumSum: the running sums along an axis.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in cumsum_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16; integer tensors are
 * not converted.
 *
 * A sum of thousands of floats loses digits. The sum of a single column is in double. Those of many
 * columns are in two floats: conversions to double and back would take longer than the additions.
 * Sums of integers are unsigned, because signed overflow is undefined in C; the bits are the same.
 */
#ifndef CUMSUM_COMPUTE_H
#define CUMSUM_COMPUTE_H

#include <string.h>

#include "generated/cumsum.h"

enum {
    CUMSUM_COLUMNS = 512, /* summed in one pass: their sums stay in the cache */
    CUMSUM_LANES = 8, /* floats of a vector */
    CUMSUM_STRIP = 2 * CUMSUM_LANES, /* columns: a cache line of a row */
    CUMSUM_ROWS = 4, /* of a strip; processors fetch so many rows ahead, but not many more */
    CUMSUM_CHUNK = 32 /* rows between two steps of precision */
};

/* Inlines a function into its callers, with the values that they know. */
#define CUMSUM_INLINE __attribute__((always_inline)) static inline

/* Neighboring columns of a tensor. They have `rows` elements each, along the axis. */
struct cumsum_columns {
    size_t count; /* at most CUMSUM_COLUMNS */
    size_t rows;
    ptrdiff_t step; /* in memory from one row to the next one to add */
    bool exclusive;
};

/* Sums of neighboring columns: high + rest. Each vector has half of the columns. */
typedef float cumsum_vector __attribute__((vector_size(CUMSUM_LANES * sizeof(float))));
typedef int32_t cumsum_mask __attribute__((vector_size(CUMSUM_LANES * sizeof(int32_t))));

struct cumsum_sums {
    cumsum_vector high, rest;
};

/*
 * Moves what fits from rest to high. Exact: O. Moller, Quasi double-precision in floating point
 * addition, BIT 5 (1965). A sum that is not finite has no rest.
 */
CUMSUM_INLINE void cumsum_normalize(struct cumsum_sums *sums)
{
    const cumsum_vector high = sums->high + sums->rest;
    const cumsum_vector added = high - sums->high;
    const cumsum_vector low = (sums->high - (high - added)) + (sums->rest - added);

    sums->rest = (cumsum_vector)((cumsum_mask)low & (low - low == 0.0F));
    sums->high = high;
}

/* Adds a vector of a row to the sums, and writes them. */
CUMSUM_INLINE void cumsum_step(const float *x, float *y, bool exclusive, struct cumsum_sums *sums)
{
    cumsum_vector elements, result;

    memcpy(&elements, x, sizeof elements);
    if (exclusive) {
        result = sums->high + sums->rest;
        sums->rest += elements;
    } else {
        sums->rest += elements;
        result = sums->high + sums->rest;
    }
    memcpy(y, &result, sizeof result);
}

/* Adds `rows` rows of CUMSUM_STRIP columns to their sums. */
CUMSUM_INLINE void cumsum_strip(const float *x, float *y, size_t rows, ptrdiff_t step,
                                bool exclusive, struct cumsum_sums *sums)
{
    struct cumsum_sums left = sums[0], right = sums[1]; /* in registers */

    for (size_t i = 0; i < rows; i++) {
        cumsum_step(x, y, exclusive, &left);
        cumsum_step(x + CUMSUM_LANES, y + CUMSUM_LANES, exclusive, &right);
        x += step;
        y += step;
    }
    sums[0] = left;
    sums[1] = right;
}

/* Sums one column. */
static void cumsum_column(const float *x, float *y, const struct cumsum_columns *columns)
{
    double sum = 0.0;

    for (size_t i = 0; i < columns->rows; i++) {
        const ptrdiff_t row = (ptrdiff_t)i * columns->step;
        const double before = sum;

        sum += (double)x[row];
        y[row] = (float)(columns->exclusive ? before : sum);
    }
}

static void cumsum_float32(const float *x, float *y, struct cumsum_columns columns)
{
    const size_t wide = columns.count - columns.count % CUMSUM_STRIP;
    struct cumsum_sums sums[CUMSUM_COLUMNS / CUMSUM_LANES];

    memset(sums, 0, sizeof sums);
    for (size_t i = 0; wide > 0 && i < columns.rows; i += CUMSUM_ROWS) {
        const size_t rest = columns.rows - i;
        const size_t rows = rest < CUMSUM_ROWS ? rest : (size_t)CUMSUM_ROWS;
        const ptrdiff_t first = (ptrdiff_t)i * columns.step;

        for (size_t column = 0; column < wide; column += CUMSUM_STRIP) {
            const float *from = x + first + (ptrdiff_t)column;
            float *to = y + first + (ptrdiff_t)column;
            struct cumsum_sums *own = sums + column / CUMSUM_LANES;

            if (columns.exclusive) {
                cumsum_strip(from, to, rows, columns.step, true, own);
            } else {
                cumsum_strip(from, to, rows, columns.step, false, own);
            }
        }
        if ((i + rows) % CUMSUM_CHUNK == 0) {
            for (size_t vector = 0; vector < wide / CUMSUM_LANES; vector++) {
                cumsum_normalize(&sums[vector]);
            }
        }
    }
    for (size_t column = wide; column < columns.count; column++) {
        cumsum_column(x + column, y + column, &columns);
    }
}

static void cumsum_uint32(const uint32_t *x, uint32_t *y, struct cumsum_columns columns)
{
    uint32_t sums[CUMSUM_COLUMNS];

    for (size_t column = 0; column < columns.count; column++) {
        sums[column] = 0;
    }
    for (size_t i = 0; i < columns.rows; i++) {
        const ptrdiff_t row = (ptrdiff_t)i * columns.step;
        for (size_t column = 0; column < columns.count; column++) {
            const ptrdiff_t place = row + (ptrdiff_t)column;
            const uint32_t before = sums[column];

            sums[column] = before + x[place];
            y[place] = columns.exclusive ? before : sums[column];
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
        const ptrdiff_t row = (ptrdiff_t)i * columns.step;
        for (size_t column = 0; column < columns.count; column++) {
            const ptrdiff_t place = row + (ptrdiff_t)column;
            const uint64_t before = sums[column];

            sums[column] = before + x[place];
            y[place] = columns.exclusive ? before : sums[column];
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
    columns.exclusive = params->exclusive == 1;
    size_t pitch = 1; /* from one row to the next in memory */
    for (size_t i = axis + 1; i < x->rank; i++) {
        pitch *= x->shape[i];
    }
    columns.step = params->reverse == 1 ? -(ptrdiff_t)pitch : (ptrdiff_t)pitch;
    const size_t block = columns.rows * pitch;
    for (size_t start = params->reverse == 1 ? block - pitch : 0; start < x->size; start += block) {
        for (size_t column = 0; column < pitch; column += CUMSUM_COLUMNS) {
            const size_t first = start + column;
            const size_t rest = pitch - column;

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
