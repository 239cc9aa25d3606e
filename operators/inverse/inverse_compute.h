/*
 * The math of Inverse: the inverses of square matrices.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in inverse_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16.
 *
 * The identity stands beside a matrix, which Gauss-Jordan elimination with partial pivoting turns
 * into the identity, and that into the inverse. In double, because the differences cancel.
 */
#ifndef INVERSE_COMPUTE_H
#define INVERSE_COMPUTE_H

#include <math.h>
#include <string.h>

#include "generated/inverse.h"
#include "include/opkit/compute/parallel.h"

enum {
    INVERSE_MAX_SIZE = 32,
    INVERSE_GRAIN = 32768 /* multiplications worth a thread */
};

/* A matrix, and the identity or what has become of it, in each row. */
struct inverse_work {
    size_t size;
    double rows[INVERSE_MAX_SIZE][2 * INVERSE_MAX_SIZE];
};

static void inverse_load(struct inverse_work *work, const float *x)
{
    for (size_t row = 0; row < work->size; row++) {
        double *to = work->rows[row];

        for (size_t i = 0; i < work->size; i++) {
            to[i] = (double)x[row * work->size + i];
            to[work->size + i] = i == row ? 1.0 : 0.0;
        }
    }
}

/* Moves the row with the largest element of a column, from the diagonal down, to the diagonal. */
static void inverse_pivot(struct inverse_work *work, size_t column)
{
    size_t pivot = column;

    for (size_t row = column + 1; row < work->size; row++) {
        if (fabs(work->rows[row][column]) > fabs(work->rows[pivot][column])) {
            pivot = row;
        }
    }
    for (size_t i = column; i < 2 * work->size; i++) {
        const double element = work->rows[column][i];

        work->rows[column][i] = work->rows[pivot][i];
        work->rows[pivot][i] = element;
    }
}

/* Makes the identity of the matrix. Returns whether it has an inverse. */
static bool inverse_eliminate(struct inverse_work *work)
{
    const size_t end = 2 * work->size;

    for (size_t column = 0; column < work->size; column++) {
        double *pivot = work->rows[column];

        inverse_pivot(work, column);
        const double divisor = pivot[column];
        /* An element that is not finite becomes a divisor, or makes one NaN. */
        if (!(fabs(divisor) > 0.0) || isinf(divisor)) {
            return false;
        }
        for (size_t i = column + 1; i < end; i++) {
            pivot[i] /= divisor;
        }
        for (size_t row = 0; row < work->size; row++) {
            double *next = work->rows[row];
            const double factor = row == column ? 0.0 : next[column];

            for (size_t i = column + 1; i < end; i++) {
                next[i] -= factor * pivot[i];
            }
        }
    }
    return true;
}

/* Computes the inverses of some matrices. */
static void inverse_part(const void *context, size_t begin, size_t end)
{
    const struct opkit_tensor *tensors = (const struct opkit_tensor *)context;
    const size_t size = tensors[0].shape[tensors[0].rank - 1];
    struct inverse_work work;

    work.size = size;
    for (size_t i = begin; i < end; i++) {
        float *y = tensors[1].float32 + i * size * size;

        inverse_load(&work, tensors[0].float32 + i * size * size);
        const bool has_inverse = inverse_eliminate(&work);
        for (size_t row = 0; row < size; row++) {
            for (size_t j = 0; j < size; j++) {
                y[row * size + j] = has_inverse ? (float)work.rows[row][size + j] : NAN;
            }
        }
    }
}

/*
 * Computes the outputs:
 *
 *   inputs->x     matrices, [..., M, M], M up to 32
 *   outputs->y    their inverses; NaN, if a matrix has none
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *inverse_compute(const struct inverse_inputs *inputs,
                                   const struct inverse_params *params,
                                   struct inverse_outputs *outputs)
{
    const struct opkit_tensor tensors[] = {inputs->x, outputs->y};
    const struct opkit_tensor *x = &tensors[0];

    (void)params;
    if (x->type != OPKIT_FLOAT32 || outputs->y.type != OPKIT_FLOAT32) {
        return "x and y must be float16 or float32";
    }
    const size_t size = x->shape[x->rank - 1];
    if (x->rank < 2 || x->shape[x->rank - 2] != size) {
        return "x must be square matrices, [..., M, M]";
    }
    if (size > INVERSE_MAX_SIZE) {
        return "x must be matrices of up to 32 rows";
    }
    if (outputs->y.size != x->size) {
        return "y must have the shape of x";
    }
    opkit_parallel_for(x->size / (size * size), INVERSE_GRAIN / (size * size * size) + 1,
                       inverse_part, tensors);
    return NULL;
}

#endif
