/*
 * The math of MeanVarianceNormalization: mean 0 and variance 1 along axes.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in meanvariancenormalization_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size`
 * elements in all. Floating-point tensors are arrays of float, also if the model has float16.
 *
 * Elements with the same mean are in rows, or side by side with those of other means, in columns.
 * The variance is that of the differences from the mean, rounded to float; they have a mean of
 * their own, the rest.
 */
#ifndef MEANVARIANCENORMALIZATION_COMPUTE_H
#define MEANVARIANCENORMALIZATION_COMPUTE_H

#include <math.h>
#include <string.h>

#include "generated/meanvariancenormalization.h"
#include "include/opkit/compute/axes.h"
#include "include/opkit/compute/reduce.h"

enum {
    MEANVARIANCENORMALIZATION_COLUMNS = 256 /* in one pass: their statistics stay in the cache */
};

/* y = (x - center) * factor + offset. */
struct meanvariancenormalization_line {
    float center, factor, offset;
};

static struct meanvariancenormalization_line
meanvariancenormalization_solve(float center, double sum, double squares, double per_term)
{
    const double rest = sum * per_term;
    const double variance = squares * per_term - rest * rest;
    const double factor = 1.0 / (sqrt(variance < 0.0 ? 0.0 : variance) + 1e-9);
    const struct meanvariancenormalization_line line = {center, (float)factor,
                                                        (float)(-rest * factor)};

    return line;
}

/* Computes the elements of one mean: rows from x on. A mean is a sum times `per_term`. */
static void meanvariancenormalization_rows(const struct opkit_reduction *plan, double per_term,
                                           const float *x, float *y)
{
    double total = 0.0, sum = 0.0, squares = 0.0;

    for (size_t i = 0; i < plan->reduced.count; i++) {
        total += opkit_sum(x + opkit_offset(&plan->reduced, i), plan->length);
    }
    const float center = (float)(total * per_term);
    for (size_t i = 0; i < plan->reduced.count; i++) {
        const struct opkit_differences found =
            opkit_sum_differences(x + opkit_offset(&plan->reduced, i), plan->length, center);

        sum += found.sum;
        squares += found.squares;
    }
    const struct meanvariancenormalization_line line =
        meanvariancenormalization_solve(center, sum, squares, per_term);
    for (size_t i = 0; i < plan->reduced.count; i++) {
        const size_t offset = opkit_offset(&plan->reduced, i);

        for (size_t j = 0; j < plan->length; j++) {
            y[offset + j] = (x[offset + j] - line.center) * line.factor + line.offset;
        }
    }
}

/* Computes the elements of neighboring means: columns from x on. */
static void meanvariancenormalization_columns(const struct opkit_reduction *plan, double per_term,
                                              size_t columns, const float *x, float *y)
{
    const size_t rows = plan->reduced.count * plan->length;
    float centers[MEANVARIANCENORMALIZATION_COLUMNS], factors[MEANVARIANCENORMALIZATION_COLUMNS];
    float offsets[MEANVARIANCENORMALIZATION_COLUMNS];
    double sums[MEANVARIANCENORMALIZATION_COLUMNS], squares[MEANVARIANCENORMALIZATION_COLUMNS];

    memset(sums, 0, columns * sizeof *sums);
    for (size_t row = 0; row < rows; row++) {
        const float *from = x + opkit_offset(&plan->reduced, row / plan->length) +
                            row % plan->length * plan->columns;

        for (size_t column = 0; column < columns; column++) {
            sums[column] += (double)from[column];
        }
    }
    for (size_t column = 0; column < columns; column++) {
        centers[column] = (float)(sums[column] * per_term);
        sums[column] = squares[column] = 0.0;
    }
    for (size_t row = 0; row < rows; row++) {
        const float *from = x + opkit_offset(&plan->reduced, row / plan->length) +
                            row % plan->length * plan->columns;

        for (size_t column = 0; column < columns; column++) {
            const double difference = (double)(from[column] - centers[column]);
            sums[column] += difference;
            squares[column] += difference * difference;
        }
    }
    for (size_t column = 0; column < columns; column++) {
        const struct meanvariancenormalization_line line = meanvariancenormalization_solve(
            centers[column], sums[column], squares[column], per_term);

        factors[column] = line.factor;
        offsets[column] = line.offset;
    }
    for (size_t row = 0; row < rows; row++) {
        const size_t offset =
            opkit_offset(&plan->reduced, row / plan->length) + row % plan->length * plan->columns;

        for (size_t column = 0; column < columns; column++) {
            y[offset + column] =
                (x[offset + column] - centers[column]) * factors[column] + offsets[column];
        }
    }
}

/*
 * Computes the outputs:
 *
 *   inputs->x       any shape
 *   params->axes    the axes of mean and variance; negative: counted from the last one
 *   outputs->y      the shape of x
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *
meanvariancenormalization_compute(const struct meanvariancenormalization_inputs *inputs,
                                  const struct meanvariancenormalization_params *params,
                                  struct meanvariancenormalization_outputs *outputs)
{
    bool is_reduced[OPKIT_MAX_RANK];

    if (inputs->x.type != OPKIT_FLOAT32 || outputs->y.type != OPKIT_FLOAT32) {
        return "x and y must be float16 or float32";
    }
    const char *problem = opkit_mark_axes(&inputs->x, params->axes, false, is_reduced);
    if (problem != NULL) {
        return problem;
    }
    if (outputs->y.size != inputs->x.size) {
        return "y must have the shape of x";
    }

    const struct opkit_reduction plan = opkit_plan_reduction(&inputs->x, is_reduced);
    const double per_term = 1.0 / (double)plan.terms;
    for (size_t i = 0; i < plan.kept.count; i++) {
        const size_t offset = opkit_offset(&plan.kept, i);
        const float *x = inputs->x.float32 + offset;
        float *y = outputs->y.float32 + offset;

        if (plan.columns == 1) {
            meanvariancenormalization_rows(&plan, per_term, x, y);
            continue;
        }
        for (size_t column = 0; column < plan.columns;
             column += MEANVARIANCENORMALIZATION_COLUMNS) {
            const size_t left = plan.columns - column, limit = MEANVARIANCENORMALIZATION_COLUMNS;

            meanvariancenormalization_columns(&plan, per_term, left < limit ? left : limit,
                                              x + column, y + column);
        }
    }
    return NULL;
}

#endif
