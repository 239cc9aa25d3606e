/*
 * The math of Det: the determinants of square matrices.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in det_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16.
 *
 * A matrix is made triangular by Gaussian elimination with partial pivoting: its determinant is
 * the product of the diagonal, negative after an odd number of exchanged rows. In double, because
 * the products of large matrices cancel.
 */
#ifndef DET_COMPUTE_H
#define DET_COMPUTE_H

#include <math.h>
#include <stdlib.h>

#include "generated/det.h"

/* Returns the row with the largest element of a column, from the diagonal down. */
static size_t det_find_pivot(const double *matrix, size_t size, size_t column)
{
    size_t pivot = column;

    for (size_t row = column + 1; row < size; row++) {
        if (fabs(matrix[row * size + column]) > fabs(matrix[pivot * size + column])) {
            pivot = row;
        }
    }
    return pivot;
}

/* Computes the determinant of a matrix, which is changed. */
static double det_eliminate(double *matrix, size_t size)
{
    double product = 1.0;

    for (size_t column = 0; column < size; column++) {
        const size_t pivot = det_find_pivot(matrix, size, column);
        double *first = matrix + column * size;
        double *best = matrix + pivot * size;

        if (pivot != column) {
            for (size_t i = column; i < size; i++) {
                const double element = first[i];

                first[i] = best[i];
                best[i] = element;
            }
            product = -product;
        }
        product *= first[column];
        if (first[column] == 0.0) {
            return product;
        }
        for (size_t row = column + 1; row < size; row++) {
            double *next = matrix + row * size;
            const double factor = next[column] / first[column];

            for (size_t i = column + 1; i < size; i++) {
                next[i] -= factor * first[i];
            }
        }
    }
    return product;
}

/*
 * Computes the outputs:
 *
 *   inputs->x     matrices, [..., M, M]
 *   outputs->y    their determinants, [...]; of a single matrix, [1]
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *det_compute(const struct det_inputs *inputs, const struct det_params *params,
                               struct det_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->x;
    const struct opkit_tensor *y = &outputs->y;

    (void)params;
    if (x->type != OPKIT_FLOAT32 || y->type != OPKIT_FLOAT32) {
        return "x and y must be float16 or float32";
    }
    const size_t size = x->shape[x->rank - 1];
    if (x->rank < 2 || x->shape[x->rank - 2] != size) {
        return "x must be square matrices, [..., M, M]";
    }
    const size_t elements = size * size;
    size_t count = 1;
    for (size_t i = 0; i + 2 < x->rank; i++) {
        count *= x->shape[i];
    }
    if (y->size != count) {
        return "y must have an element for each matrix";
    }

    double *matrix = (double *)malloc((elements + 1) * sizeof *matrix); /* also of no elements */
    if (matrix == NULL) {
        return "out of memory";
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < elements; j++) {
            matrix[j] = x->float32[i * elements + j];
        }
        y->float32[i] = (float)det_eliminate(matrix, size);
    }
    free(matrix);
    return NULL;
}

#endif
