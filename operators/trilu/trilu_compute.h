/*
 * The math of Trilu: the upper or lower triangle of matrices.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in trilu_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Elements are copied, so that any type will do.
 */
#ifndef TRILU_COMPUTE_H
#define TRILU_COMPUTE_H

#include <string.h>

#include "generated/trilu.h"

enum {
    TRILU_BLOCK = 8192, /* bytes of rows copied at once: memcpy is slower for fewer */
    TRILU_MASK = 512 /* bytes of a mask, or those of a matrix: more take longer to make */
};

/* The triangles of matrices. */
struct trilu_shape {
    size_t rows, columns; /* of a matrix */
    size_t element; /* its bytes */
    int64_t diagonal; /* at the triangle's edge */
    bool is_upper;
};

/* Returns a number of columns within a row. */
static size_t trilu_clip(int64_t column, size_t columns)
{
    if (column < 0) {
        return 0;
    }
    return (uint64_t)column < columns ? (size_t)column : columns;
}

/* Clears what is outside of the triangles in `count` rows, from the row `first` on. */
static void trilu_clear(const struct trilu_shape *shape, size_t first, size_t count, char *to)
{
    const size_t columns = shape->columns, element = shape->element;

    for (size_t i = first; i < first + count; i++, to += columns * element) {
        const int64_t edge = (int64_t)(i % shape->rows) + shape->diagonal;
        const size_t begin = shape->is_upper ? trilu_clip(edge, columns) : 0;
        const size_t end = shape->is_upper ? columns : trilu_clip(edge + 1, columns);

        memset(to, 0, begin * element);
        memset(to + end * element, 0, (columns - end) * element);
    }
}

/* Computes small matrices, `count` rows in all: the bits of some are a mask for all. */
static void trilu_mask(const struct trilu_shape *shape, const uint8_t *x, size_t count, uint8_t *y)
{
    const size_t pitch = shape->columns * shape->element;
    const size_t matrix = pitch * shape->rows, matrices = (TRILU_MASK + matrix - 1) / matrix;
    const size_t most = matrices * shape->rows;
    const size_t rows = count < most ? count : most, size = count * pitch;
    uint8_t mask[TRILU_BLOCK];

    memset(mask, UINT8_MAX, rows * pitch);
    trilu_clear(shape, 0, rows, (char *)mask);
    for (size_t start = 0; start < size; start += rows * pitch) {
        const size_t left = size - start, end = left < rows * pitch ? left : rows * pitch;

        for (size_t i = 0; i < end; i++) {
            y[start + i] = x[start + i] & mask[i];
        }
    }
}

/*
 * Computes the outputs:
 *
 *   inputs->input      matrices, [..., rows, columns]
 *   params->k          the diagonal at the triangle's edge: 0 is the main one, 1 the next above
 *   params->upper      1: the upper triangle; 0: the lower one
 *   outputs->output    the triangles, in the shape of input
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *trilu_compute(const struct trilu_inputs *inputs,
                                 const struct trilu_params *params, struct trilu_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->input;
    const struct opkit_tensor *y = &outputs->output;

    if (x->rank < 2) {
        return "input must have 2 or more dimensions";
    }
    if (y->type != x->type || y->size != x->size) {
        return "output must be of the type and shape of input";
    }
    if (params->upper != 0 && params->upper != 1) {
        return "upper must be 0 or 1";
    }

    struct trilu_shape shape = {x->shape[x->rank - 2], x->shape[x->rank - 1],
                                opkit_element_size(x->type), params->k, params->upper == 1};
    /* All diagonals beyond the matrix are the same: no overflow in a sum with a row. */
    const int64_t below = -(int64_t)shape.rows, above = (int64_t)shape.columns;
    shape.diagonal = params->k < below ? below : params->k > above ? above : params->k;
    const size_t pitch = shape.columns * shape.element;
    const size_t block = pitch < TRILU_BLOCK ? TRILU_BLOCK / pitch : 1;
    const size_t count = x->size / shape.columns;
    if (shape.rows <= block / 2) {
        trilu_mask(&shape, x->uint8, count, y->uint8);
        return NULL;
    }
    for (size_t i = 0; i < count; i += block) {
        const size_t rows = count - i < block ? count - i : block;
        char *to = (char *)y->data + i * pitch;

        memcpy(to, (const char *)x->data + i * pitch, rows * pitch);
        trilu_clear(&shape, i, rows, to);
    }
    return NULL;
}

#endif
