#include <math.h>

#include "generated/reducelogsumexp.h"
#include "include/opkit/compute/math.h"
#include "include/opkit/compute/sum_axes.h"

/* Raises the maxima of the lanes to the elements of rows; NaN is left to the sums. */
static inline void reducelogsumexp_raise(const float *x, size_t rows, size_t pitch, size_t lanes,
                                         float *__restrict__ maxima)
{
    for (size_t row = 0; row < rows; row++) {
        for (size_t lane = 0; lane < lanes; lane++) {
            const float element = x[row * pitch + lane];
            maxima[lane] = element > maxima[lane] ? element : maxima[lane];
        }
    }
}

/*
 * Computes the centers of lanes, which are subtracted before and added at the end, so that no
 * exponential is beyond the range of float: the maximum of their column's terms, or 0 instead of
 * infinity, which minus infinity is NaN.
 */
OPKIT_INLINE void reducelogsumexp_center(const struct opkit_reduction *plan, size_t columns,
                                         size_t step, const float *x, float *centers)
{
    const size_t lanes = columns * step, pitch = plan->columns * step;
    const size_t rows = plan->length / step, rest = plan->length % step * columns;

    for (size_t lane = 0; lane < lanes; lane++) {
        centers[lane] = -opkit_infinity();
    }
    for (size_t i = 0; i < plan->reduced.count; i++) {
        const float *place = x + opkit_offset(&plan->reduced, i);

        reducelogsumexp_raise(place, rows, pitch, lanes, centers);
        reducelogsumexp_raise(place + rows * pitch, 1, pitch, rest, centers);
    }
    for (size_t half = lanes / 2; half >= columns; half /= 2) {
        reducelogsumexp_raise(centers + half, 1, half, half, centers);
    }
    for (size_t column = 0; column < columns; column++) {
        centers[column] = fabsf(centers[column]) < opkit_infinity() ? centers[column] : 0.0F;
    }
    for (size_t lane = columns; lane < lanes; lane++) {
        centers[lane] = centers[lane - columns];
    }
}

static inline float reducelogsumexp_term(float x, float center)
{
    return opkit_exp(x - center);
}

static inline float reducelogsumexp_result(double sum, size_t terms, float center)
{
    (void)terms;
    return opkit_log((float)sum) + center;
}

OPKIT_ELEMENT_LOOP void reducelogsumexp_run(const struct opkit_reduction *plan, const float *x,
                                            float *y)
{
    const struct opkit_sum_math math = {reducelogsumexp_term, reducelogsumexp_result,
                                        reducelogsumexp_center};

    opkit_sum_axes(&math, plan, x, y);
}
