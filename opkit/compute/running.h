/*
 * Running sums and products along an axis, which advance side by side for neighboring columns.
 *
 * Totals of integers are unsigned, because signed overflow is undefined in C; the bits are the
 * same.
 *
 * Plain C11 and C++11.
 */
#ifndef OPKIT_RUNNING_H
#define OPKIT_RUNNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "processor.h"
#include "tensor.h"

enum {
    OPKIT_COLUMNS = 512, /* in one pass: their totals stay in the cache */
    OPKIT_STRIP = 16, /* columns: a cache line of a row of floats */
    OPKIT_STRIP_ROWS = 4, /* of a strip; processors fetch so many rows ahead, but not many more */
    OPKIT_FEW = 4 /* other columns side by side: a processor adds to each while it waits for one */
};

/* Columns of a tensor. They have `rows` elements each, along the axis. */
struct opkit_columns {
    size_t count; /* at most OPKIT_COLUMNS */
    size_t apart; /* in memory from one column to the next: 1, or the length of a column */
    size_t rows;
    ptrdiff_t step; /* in memory from one row to the next one */
    bool exclusive;
};

/* The functions that compute columns of each type of element. */
struct opkit_running {
    void (*float32)(const float *x, float *y, const struct opkit_columns *columns);
    void (*uint32)(const uint32_t *x, uint32_t *y, const struct opkit_columns *columns);
    void (*uint64)(const uint64_t *x, uint64_t *y, const struct opkit_columns *columns);
};

/*
 * Defines such a function. Strips of neighboring columns keep their totals in registers for some
 * rows, a few other columns for all.
 *
 *   name         of the function
 *   element      the type of an element
 *   wide         the type of a total
 *   start        the total of no elements
 *   operation    + or *
 */
#define OPKIT_DEFINE_RUNNING(name, element, wide, start, operation)                                \
    /* `count`, `exclusive`: constants. */                                                         \
    OPKIT_INLINE void name##_rows(const element *__restrict__ x, element *__restrict__ y,          \
                                  size_t count, size_t apart, size_t rows, ptrdiff_t step,         \
                                  bool exclusive, wide *all)                                       \
    {                                                                                              \
        wide totals[OPKIT_STRIP];                                                                  \
                                                                                                   \
        memcpy(totals, all, count * sizeof *totals);                                               \
        for (size_t row = 0; row < rows; row++) {                                                  \
            for (size_t i = 0; i < count; i++) {                                                   \
                const wide before = totals[i];                                                     \
                                                                                                   \
                totals[i] = before operation(wide) x[i * apart];                                   \
                y[i * apart] = (element)(exclusive ? before : totals[i]);                          \
            }                                                                                      \
            x += step;                                                                             \
            y += step;                                                                             \
        }                                                                                          \
        memcpy(all, totals, count * sizeof *totals);                                               \
    }                                                                                              \
                                                                                                   \
    OPKIT_INLINE void name##_strip(const struct opkit_columns *columns, const element *x,          \
                                   element *y, size_t count, size_t apart, size_t rows, wide *all) \
    {                                                                                              \
        if (columns->exclusive) {                                                                  \
            name##_rows(x, y, count, apart, rows, columns->step, true, all);                       \
        } else {                                                                                   \
            name##_rows(x, y, count, apart, rows, columns->step, false, all);                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void name(const element *x, element *y, const struct opkit_columns *columns)            \
    {                                                                                              \
        const size_t count = columns->count, apart = columns->apart, all = columns->rows;          \
        const size_t whole = apart == 1 ? count - count % OPKIT_STRIP : 0;                         \
        wide totals[OPKIT_COLUMNS];                                                                \
        size_t i = whole;                                                                          \
                                                                                                   \
        for (size_t column = 0; column < count; column++) {                                        \
            totals[column] = (wide)(start);                                                        \
        }                                                                                          \
        for (size_t row = 0; row < all && whole > 0; row += OPKIT_STRIP_ROWS) {                    \
            const size_t rest = all - row;                                                         \
            const size_t rows = rest < OPKIT_STRIP_ROWS ? rest : (size_t)OPKIT_STRIP_ROWS;         \
            const ptrdiff_t first = (ptrdiff_t)row * columns->step;                                \
                                                                                                   \
            for (size_t column = 0; column < whole; column += OPKIT_STRIP) {                       \
                const ptrdiff_t place = first + (ptrdiff_t)column;                                 \
                                                                                                   \
                name##_strip(columns, x + place, y + place, OPKIT_STRIP, 1, rows,                  \
                             totals + column);                                                     \
            }                                                                                      \
        }                                                                                          \
        for (; i + OPKIT_FEW <= count; i += OPKIT_FEW) {                                           \
            name##_strip(columns, x + i * apart, y + i * apart, OPKIT_FEW, apart, all,             \
                         totals + i);                                                              \
        }                                                                                          \
        for (; i < count; i++) {                                                                   \
            name##_strip(columns, x + i * apart, y + i * apart, 1, apart, all, totals + i);        \
        }                                                                                          \
    }

/* Checks tensors and params. Returns NULL, or an error message. */
static inline const char *opkit_check_running(const struct opkit_tensor *x,
                                              const struct opkit_tensor *y, int64_t axis,
                                              int64_t exclusive, int64_t reverse)
{
    const int64_t rank = (int64_t)x->rank;

    if (x->type != y->type || x->size != y->size) {
        return "x and y must be of one type and shape";
    }
    if (x->type != OPKIT_FLOAT32 && x->type != OPKIT_INT32 && x->type != OPKIT_UINT32 &&
        x->type != OPKIT_INT64) {
        return "x must be float16, float32, int32, uint32 or int64";
    }
    if (axis < -rank || axis >= rank) {
        return "axis must be a dimension of x: from -rank to rank - 1";
    }
    if (exclusive != 0 && exclusive != 1) {
        return "exclusive must be 0 or 1";
    }
    return reverse == 0 || reverse == 1 ? NULL : "reverse must be 0 or 1";
}

/*
 * Computes y from x, column by column. With `exclusive`, an element is not a part of its own total;
 * with `reverse`, totals begin at the last element. Returns NULL, or an error message.
 */
static inline const char *opkit_run_along(const struct opkit_running *math,
                                          const struct opkit_tensor *x,
                                          const struct opkit_tensor *y, int64_t axis,
                                          int64_t exclusive, int64_t reverse)
{
    const char *problem = opkit_check_running(x, y, axis, exclusive, reverse);
    if (problem != NULL) {
        return problem;
    }

    const size_t first_axis = (size_t)(axis < 0 ? axis + (int64_t)x->rank : axis);
    struct opkit_columns columns = {0, 1, x->shape[first_axis], 0, exclusive == 1};
    size_t pitch = 1; /* from one row to the next in memory */
    for (size_t i = first_axis + 1; i < x->rank; i++) {
        pitch *= x->shape[i];
    }
    columns.step = reverse == 1 ? -(ptrdiff_t)pitch : (ptrdiff_t)pitch;
    const size_t first_row = reverse == 1 ? (columns.rows - 1) * pitch : 0;
    size_t block = columns.rows * pitch, count = pitch; /* columns of a block */
    if (pitch == 1 && x->size > 0) { /* all columns are one block */
        columns.apart = columns.rows;
        count = x->size / columns.rows;
        block = x->size;
    }
    for (size_t start = first_row; start < x->size; start += block) {
        for (size_t column = 0; column < count; column += OPKIT_COLUMNS) {
            const size_t first = start + column * columns.apart, rest = count - column;

            columns.count = rest < OPKIT_COLUMNS ? rest : (size_t)OPKIT_COLUMNS;
            if (x->type == OPKIT_FLOAT32) {
                math->float32(x->float32 + first, y->float32 + first, &columns);
            } else if (x->type == OPKIT_INT64) {
                math->uint64((const uint64_t *)x->data + first, (uint64_t *)y->data + first,
                             &columns);
            } else {
                math->uint32((const uint32_t *)x->data + first, (uint32_t *)y->data + first,
                             &columns);
            }
        }
    }
    return NULL;
}

#endif
