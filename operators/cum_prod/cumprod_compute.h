/*
 * The math of CumProd: the running products along an axis.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in cumprod_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16; integer tensors are
 * not converted.
 *
 * Products of floats are in double: they lose no digits, and hardly leave its range. Products of
 * integers are unsigned, because signed overflow is undefined in C; the bits are the same.
 */
#ifndef CUMPROD_COMPUTE_H
#define CUMPROD_COMPUTE_H

#include "generated/cumprod.h"

enum {
    CUMPROD_COLUMNS = 512 /* multiplied in one pass: their products stay in the cache */
};

/* Neighboring columns of a tensor. They have `rows` elements each, along the axis. */
struct cumprod_columns {
    size_t count; /* at most CUMPROD_COLUMNS */
    size_t rows;
    ptrdiff_t step; /* in memory from one row to the next factors */
    bool exclusive;
};

/*
 * Defines a function that multiplies the elements of columns.
 *
 *   name        of the function
 *   element     the type of an element
 *   product     the type of a product
 */
#define CUMPROD_DEFINE(name, element, product)                                            \
    static void name(const element *x, element *y, const struct cumprod_columns *columns) \
    {                                                                                     \
        product products[CUMPROD_COLUMNS];                                                \
                                                                                          \
        for (size_t i = 0; i < columns->count; i++) {                                     \
            products[i] = (product)1;                                                     \
        }                                                                                 \
        for (size_t row = 0; row < columns->rows; row++) {                                \
            for (size_t i = 0; i < columns->count; i++) {                                 \
                const product before = products[i];                                       \
                                                                                          \
                products[i] = before * (product)x[i];                                     \
                y[i] = (element)(columns->exclusive ? before : products[i]);              \
            }                                                                             \
            if (row + 1 < columns->rows) {                                                \
                x += columns->step;                                                       \
                y += columns->step;                                                       \
            }                                                                             \
        }                                                                                 \
    }

CUMPROD_DEFINE(cumprod_float32, float, double)
CUMPROD_DEFINE(cumprod_uint32, uint32_t, uint32_t)
CUMPROD_DEFINE(cumprod_uint64, uint64_t, uint64_t)

/* Checks tensors and params. Returns NULL, or an error message. */
static const char *cumprod_check(const struct opkit_tensor *x, const struct opkit_tensor *y,
                                 const struct cumprod_params *params)
{
    const int64_t rank = (int64_t)x->rank;

    if (x->type != y->type || x->size != y->size) {
        return "x and y must be of one type and shape";
    }
    if (x->type != OPKIT_FLOAT32 && x->type != OPKIT_INT32 && x->type != OPKIT_UINT32 &&
        x->type != OPKIT_INT64) {
        return "x must be float16, float32, int32, uint32 or int64";
    }
    return params->axis < -rank || params->axis >= rank
               ? "axis must be a dimension of x: from -rank to rank - 1"
               : NULL;
}

/*
 * Computes the outputs:
 *
 *   inputs->x            any shape
 *   params->axis         the axis of the products; negative: counted from the last one
 *   params->exclusive    1: an element is not a factor of its own product; 0: it is
 *   params->reverse      1: the products begin at the last element of the axis; 0: at the first
 *   outputs->y           the products, in the shape of x
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *cumprod_compute(const struct cumprod_inputs *inputs,
                                   const struct cumprod_params *params,
                                   struct cumprod_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->x;
    const struct opkit_tensor *y = &outputs->y;

    const char *problem = cumprod_check(x, y, params);
    if (problem != NULL) {
        return problem;
    }

    const size_t axis = (size_t)(params->axis < 0 ? params->axis + (int64_t)x->rank : params->axis);
    const bool is_reverse = params->reverse == 1;
    struct cumprod_columns columns = {0, x->shape[axis], 0, params->exclusive == 1};
    size_t pitch = 1; /* from one row to the next in memory */
    for (size_t i = axis + 1; i < x->rank; i++) {
        pitch *= x->shape[i];
    }
    columns.step = is_reverse ? -(ptrdiff_t)pitch : (ptrdiff_t)pitch;
    const size_t block = columns.rows * pitch;
    for (size_t start = is_reverse ? block - pitch : 0; start < x->size; start += block) {
        for (size_t column = 0; column < pitch; column += CUMPROD_COLUMNS) {
            const size_t first = start + column, rest = pitch - column;

            columns.count = rest < CUMPROD_COLUMNS ? rest : (size_t)CUMPROD_COLUMNS;
            if (x->type == OPKIT_FLOAT32) {
                cumprod_float32(x->float32 + first, y->float32 + first, &columns);
            } else if (x->type == OPKIT_INT64) {
                cumprod_uint64((const uint64_t *)x->data + first, (uint64_t *)y->data + first,
                               &columns);
            } else {
                cumprod_uint32((const uint32_t *)x->data + first, (uint32_t *)y->data + first,
                               &columns);
            }
        }
    }
    return NULL;
}

#endif
