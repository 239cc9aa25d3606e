/*
 * Sums along any axes of a tensor, in vectors.
 *
 * Sums are in float for at most OPKIT_SUM_ROWS terms, then in double. The error is at most 2^-17 of
 * the sum of the terms' magnitudes.
 *
 * Plain C11 and C++11.
 */
#ifndef OPKIT_SUM_AXES_H
#define OPKIT_SUM_AXES_H

#include "axes.h"
#include "reduce.h"

enum {
    OPKIT_SUM_ROWS = 64 /* terms of a sum in float */
};

/*
 * The math of an operator. The functions are inlined.
 *
 *   term      returns what an element of the input adds to the sum
 *   result    returns an element of the output, from the sum of so many terms
 *   center    sets the centers of lanes, which the others get; NULL: they are 0
 */
struct opkit_sum_math {
    float (*term)(float x, float center);
    float (*result)(double sum, size_t terms, float center);
    void (*center)(const struct opkit_reduction *plan, size_t columns, size_t step, const float *x,
                   float *centers);
};

OPKIT_INLINE float opkit_center_of(const struct opkit_sum_math *math, const float *centers,
                                   size_t lane)
{
    return math->center != NULL ? centers[lane] : 0.0F;
}

/* Adds the terms of rows to the sums of the lanes. */
OPKIT_INLINE void opkit_add_rows(const struct opkit_sum_math *math, const float *x, size_t rows,
                                 size_t pitch, size_t lanes, const float *__restrict__ centers,
                                 float *__restrict__ sums)
{
    size_t row = 0;

    for (; row + 4 <= rows; row += 4) {
        const float *a = x + row * pitch, *b = a + pitch, *c = b + pitch, *d = c + pitch;
        for (size_t lane = 0; lane < lanes; lane++) {
            const float center = opkit_center_of(math, centers, lane);
            sums[lane] += (math->term(a[lane], center) + math->term(b[lane], center)) +
                          (math->term(c[lane], center) + math->term(d[lane], center));
        }
    }
    for (; row < rows; row++) {
        for (size_t lane = 0; lane < lanes; lane++) {
            sums[lane] += math->term(x[row * pitch + lane], opkit_center_of(math, centers, lane));
        }
    }
}

/* Adds the lanes of each column in pairs, then to its total, and clears them. */
static inline void opkit_flush_sums(float *sums, size_t lanes, size_t columns, double *totals)
{
    for (size_t half = lanes / 2; half >= columns; half /= 2) {
        for (size_t lane = 0; lane < half; lane++) {
            sums[lane] += sums[half + lane];
        }
    }
    for (size_t column = 0; column < columns; column++) {
        totals[column] += (double)sums[column];
    }
    memset(sums, 0, lanes * sizeof *sums);
}

/* An opkit_columns, for a struct opkit_sum_math. */
OPKIT_INLINE void opkit_sum_columns(const void *context, const struct opkit_reduction *plan,
                                    size_t columns, size_t step, const float *x, float *y)
{
    const struct opkit_sum_math *math = (const struct opkit_sum_math *)context;
    const size_t lanes = columns * step, pitch = plan->columns * step;
    const size_t rows = plan->length / step, rest = plan->length % step * columns;
    float centers[OPKIT_COLUMNS];
    float sums[OPKIT_COLUMNS];
    double totals[OPKIT_COLUMNS];
    size_t terms = 0; /* of a lane, since it was cleared */

    memset(sums, 0, lanes * sizeof *sums);
    memset(totals, 0, columns * sizeof *totals);
    if (math->center != NULL) {
        math->center(plan, columns, step, x, centers);
    }
    for (size_t i = 0; i < plan->reduced.count; i++) {
        const float *place = x + opkit_offset(&plan->reduced, i);

        for (size_t row = 0; row < rows;) {
            if (terms >= OPKIT_SUM_ROWS) {
                opkit_flush_sums(sums, lanes, columns, totals);
                terms = 0;
            }
            const size_t left = rows - row, limit = OPKIT_SUM_ROWS - terms;
            const size_t count = left < limit ? left : limit;

            opkit_add_rows(math, place + row * pitch, count, pitch, lanes, centers, sums);
            row += count;
            terms += count;
        }
        opkit_add_rows(math, place + rows * pitch, 1, pitch, rest, centers, sums);
        terms++;
    }
    opkit_flush_sums(sums, lanes, columns, totals);
    for (size_t column = 0; column < columns; column++) {
        y[column] =
            math->result(totals[column], plan->terms, opkit_center_of(math, centers, column));
    }
}

/* An opkit_element. */
OPKIT_INLINE float opkit_sum_element(const void *context, const struct opkit_reduction *plan,
                                     const float *x)
{
    const struct opkit_sum_math *math = (const struct opkit_sum_math *)context;
    float center = 0.0F;
    double total = 0.0;

    if (math->center != NULL) {
        math->center(plan, 1, 1, x, &center);
    }
    for (size_t i = 0; i < plan->reduced.count; i++) {
        const float *place = x + opkit_offset(&plan->reduced, i);
        for (size_t row = 0; row < plan->length; row++) {
            total += (double)math->term(place[row * plan->columns], center);
        }
    }
    return math->result(total, plan->terms, center);
}

/* Returns the terms of four neighbors. */
OPKIT_INLINE opkit_float4 opkit_terms(const struct opkit_sum_math *math, const float *x)
{
    const opkit_float4 terms = {math->term(x[0], 0.0F), math->term(x[1], 0.0F),
                                math->term(x[2], 0.0F), math->term(x[3], 0.0F)};
    return terms;
}

/* Returns the sum of the terms in four rows of lanes. */
OPKIT_INLINE opkit_float4 opkit_terms_of_rows(const struct opkit_sum_math *math, const float *x)
{
    return (opkit_terms(math, x) + opkit_terms(math, x + OPKIT_LANES)) +
           (opkit_terms(math, x + 2 * OPKIT_LANES) + opkit_terms(math, x + 3 * OPKIT_LANES));
}

/*
 * Returns the sum of neighbors' terms, without a center. Its OPKIT_LANES sums are in registers: in
 * memory, a short row takes longer than its additions.
 */
OPKIT_INLINE double opkit_sum_row(const struct opkit_sum_math *math, const float *x, size_t count)
{
    const size_t lanes = OPKIT_LANES;
    double total = 0.0;

    while (count >= lanes) {
        const size_t whole = count / lanes, limit = OPKIT_SUM_ROWS;
        size_t rows = whole < limit ? whole : limit;
        opkit_float4 a = {0.0F, 0.0F, 0.0F, 0.0F}, b = a, c = a, d = a;

        count -= rows * lanes;
        for (; rows >= 4; rows -= 4, x += 4 * lanes) {
            a += opkit_terms_of_rows(math, x);
            b += opkit_terms_of_rows(math, x + 4);
            c += opkit_terms_of_rows(math, x + 8);
            d += opkit_terms_of_rows(math, x + 12);
        }
        for (; rows > 0; rows--, x += lanes) {
            a += opkit_terms(math, x);
            b += opkit_terms(math, x + 4);
            c += opkit_terms(math, x + 8);
            d += opkit_terms(math, x + 12);
        }
        total += opkit_sum_lanes(a, b, c, d);
    }
    for (size_t i = 0; i < count; i++) {
        total += (double)math->term(x[i], 0.0F);
    }
    return total;
}

/* Computes elements of the output whose terms are neighbors, each behind the last one's. */
OPKIT_INLINE void opkit_sum_rows(const struct opkit_sum_math *math,
                                 const struct opkit_reduction *plan, const float *x, float *y)
{
    double totals[OPKIT_COLUMNS];

    for (size_t begin = 0; begin < plan->kept.count; begin += OPKIT_COLUMNS) {
        const size_t left = plan->kept.count - begin, limit = OPKIT_COLUMNS;
        const size_t count = left < limit ? left : limit;

        for (size_t i = 0; i < count; i++, x += plan->length) {
            totals[i] = opkit_sum_row(math, x, plan->length);
        }
        for (size_t i = 0; i < count; i++) { /* in vectors */
            y[begin + i] = math->result(totals[i], plan->terms, 0.0F);
        }
    }
}

/* Computes all elements of the output. */
OPKIT_INLINE void opkit_sum_axes(const struct opkit_sum_math *math,
                                 const struct opkit_reduction *plan, const float *x, float *y)
{
    if (math->center == NULL && plan->columns == 1 && plan->reduced.count == 1) {
        opkit_sum_rows(math, plan, x, y);
        return;
    }
    opkit_reduce(plan, x, y, opkit_sum_columns, opkit_sum_element, math);
}

#endif
