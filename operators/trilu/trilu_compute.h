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
    TRILU_BLOCK = 8192 /* bytes of rows copied at once: memcpy is slower for fewer */
};

/* Returns a number of columns within a row. */
static size_t trilu_clip(int64_t column, size_t columns)
{
    if (column < 0) {
        return 0;
    }
    return (uint64_t)column < columns ? (size_t)column : columns;
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

    const size_t rows = x->shape[x->rank - 2];
    const size_t columns = x->shape[x->rank - 1];
    const size_t element = opkit_element_size(x->type);
    /* All diagonals beyond the matrix are the same: no overflow in a sum with a row. */
    const int64_t below = -(int64_t)rows;
    const int64_t above = (int64_t)columns;
    const int64_t diagonal = params->k < below ? below : params->k > above ? above : params->k;
    const size_t pitch = columns * element;
    const size_t block = pitch < TRILU_BLOCK ? TRILU_BLOCK / pitch : 1;
    const size_t count = x->size / columns;
    for (size_t i = 0; i < count; i++) {
        const int64_t edge = (int64_t)(i % rows) + diagonal; /* the diagonal's column */
        const size_t begin = params->upper ? trilu_clip(edge, columns) : 0;
        const size_t end = params->upper ? columns : trilu_clip(edge + 1, columns);
        char *to = (char *)y->data + i * pitch;

        if (i % block == 0) {
            const size_t left = count - i;
            memcpy(to, (const char *)x->data + i * pitch, (left < block ? left : block) * pitch);
        }
        memset(to, 0, begin * element);
        memset(to + end * element, 0, (columns - end) * element);
    }
    return NULL;
}

#endif
