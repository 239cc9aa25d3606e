/*
 * The math of Det: the determinants of square matrices.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in det_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16.
 *
 * A matrix is made triangular by Gaussian elimination with partial pivoting: its determinant is
 * the product of the diagonal, negative after an odd number of exchanged rows. Those of two and
 * three rows are sums of products. In double, because products cancel.
 *
 * As in LAPACK, a pivot of 0 makes the determinant 0, also behind an infinite one, and an infinite
 * pivot stays alone: its factors are 0, also those of infinite elements.
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
        const double divisor = first[column];
        if (divisor == 0.0) {
            return 0.0;
        }
        product *= divisor;
        if (isinf(divisor)) {
            for (size_t row = column + 1; row < size; row++) {
                matrix[row * size + column] = 0.0;
            }
        }
        for (size_t row = column + 1; row < size; row++) {
            double *next = matrix + row * size;
            const double factor = next[column] / divisor;

            for (size_t i = column + 1; i < size; i++) {
                next[i] -= factor * first[i];
            }
        }
    }
    return product;
}

/* Returns the determinant of a matrix of two rows. Its products are exact. */
static double det_of_2(const float *row, const float *next)
{
    return (double)row[0] * (double)next[1] - (double)row[1] * (double)next[0];
}

/* Returns the determinant of a matrix of three rows, by its minors, which skip a column. */
static double det_of_3(const float *x)
{
    const float outer[] = {x[3], x[5], x[6], x[8]};

    return (double)x[0] * det_of_2(x + 4, x + 7) - (double)x[1] * det_of_2(outer, outer + 2) +
           (double)x[2] * det_of_2(x + 3, x + 6);
}

static bool det_has_nan(const float *x, size_t size)
{
    for (size_t i = 0; i < size * size; i++) {
        if (isnan(x[i])) {
            return true;
        }
    }
    return false;
}

/* Returns the determinant of a matrix. `work` is for a copy of it. */
static double det_of(const float *x, size_t size, double *work)
{
    if (size == 2 || size == 3) {
        const double sum = size == 2 ? det_of_2(x, x + 2) : det_of_3(x);

        if (isfinite(sum)) {
            return sum;
        }
    }
    for (size_t i = 0; i < size * size; i++) {
        work[i] = (double)x[i];
    }
    const double product = det_eliminate(work, size);
    /* With NaN in the matrix, other results are NaN already. */
    return (product == 0.0 || isinf(product)) && det_has_nan(x, size) ? (double)NAN : product;
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

    double *work = (double *)malloc((elements + 1) * sizeof *work); /* also of no elements */
    if (work == NULL) {
        return "out of memory";
    }
    for (size_t i = 0; i < count; i++) {
        y->float32[i] = (float)det_of(x->float32 + i * elements, size, work);
    }
    free(work);
    return NULL;
}

#endif
