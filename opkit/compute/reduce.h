/*
 * Sums of arrays, for means and variances.
 *
 * A loop that adds one element after the other waits for each addition, and no compiler may reorder
 * it: sums of floats depend on their order. Here sixteen sums advance side by side, in vectors. The
 * order of additions is the same on every processor, whatever its vectors' width, so the results
 * are the same bits.
 *
 * The sixteen sums are floats, and are added to a double after each block of 512 elements. The
 * error is at most 2^-19 of the sum of the terms' magnitudes, and typically 2^-24.
 *
 * Plain C11 and C++11, with the vectors of GCC and clang.
 */
#ifndef OPKIT_REDUCE_H
#define OPKIT_REDUCE_H

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "processor.h"

#define OPKIT_SUM_STEP 16u /* floats in a step of the loops: one for each of the sums */
#define OPKIT_SUM_BLOCK 512u /* floats in a block: 32 steps */

typedef float opkit_float4 __attribute__((vector_size(16)));

static inline opkit_float4 opkit_load_float4(const float *x)
{
    opkit_float4 vector;
    memcpy(&vector, x, sizeof vector);
    return vector;
}

/* Returns the sum of the numbers of four vectors. */
static inline double opkit_sum_lanes(opkit_float4 a, opkit_float4 b, opkit_float4 c, opkit_float4 d)
{
    const opkit_float4 sums = (a + b) + (c + d);
    return ((double)sums[0] + (double)sums[1]) + ((double)sums[2] + (double)sums[3]);
}

/* Returns the end of the block that begins at `begin`: whole steps. */
static inline size_t opkit_block_end(size_t begin, size_t count)
{
    const size_t left = count - begin;
    return begin + (left < OPKIT_SUM_BLOCK ? left - left % OPKIT_SUM_STEP : OPKIT_SUM_BLOCK);
}

/* Returns the sum of `count` floats. */
static inline double opkit_sum(const float *x, size_t count)
{
    double sum = 0.0;
    size_t i = 0;

    while (count - i >= OPKIT_SUM_STEP) {
        const size_t end = opkit_block_end(i, count);
        opkit_float4 a = {0.0F, 0.0F, 0.0F, 0.0F}, b = a, c = a, d = a;
        for (; i < end; i += OPKIT_SUM_STEP) {
            a += opkit_load_float4(x + i);
            b += opkit_load_float4(x + i + 4);
            c += opkit_load_float4(x + i + 8);
            d += opkit_load_float4(x + i + 12);
        }
        sum += opkit_sum_lanes(a, b, c, d);
    }
    for (; i < count; i++) {
        sum += (double)x[i];
    }
    return sum;
}

/*
 * Returns the sum of (x[i] - center)^2 over `count` floats: with the mean as the center, `count`
 * times the variance; with 0, the sum of squares.
 */
static inline double opkit_sum_of_squares(const float *x, size_t count, float center)
{
    const opkit_float4 centers = {center, center, center, center};
    double sum = 0.0;
    size_t i = 0;

    while (count - i >= OPKIT_SUM_STEP) {
        const size_t end = opkit_block_end(i, count);
        opkit_float4 a = {0.0F, 0.0F, 0.0F, 0.0F}, b = a, c = a, d = a;
        for (; i < end; i += OPKIT_SUM_STEP) {
            const opkit_float4 e = opkit_load_float4(x + i) - centers;
            const opkit_float4 f = opkit_load_float4(x + i + 4) - centers;
            const opkit_float4 g = opkit_load_float4(x + i + 8) - centers;
            const opkit_float4 h = opkit_load_float4(x + i + 12) - centers;
            a += e * e;
            b += f * f;
            c += g * g;
            d += h * h;
        }
        sum += opkit_sum_lanes(a, b, c, d);
    }
    for (; i < count; i++) {
        const float difference = x[i] - center;
        sum += (double)(difference * difference);
    }
    return sum;
}

/* Writes `count` floats with root mean square 1, multiplied by a scale. */
OPKIT_ELEMENT_LOOP void opkit_normalize_rms(const float *x, const float *scale, size_t count,
                                            float epsilon, float *y)
{
    const double mean = opkit_sum_of_squares(x, count, 0.0F) / (double)count;
    const float factor = (float)(1.0 / sqrt(mean + (double)epsilon));

    for (size_t i = 0; i < count; i++) {
        y[i] = x[i] * factor * scale[i];
    }
}
OPKIT_WIDEST(opkit_normalize_rms,
             (const float *x, const float *scale, size_t count, float epsilon, float *y),
             (x, scale, count, epsilon, y))

struct opkit_differences {
    double sum;
    double squares; /* their sum */
};

/* Returns the sums of x[i] - center and (x[i] - center)^2 over `count` floats, in one pass. */
static inline struct opkit_differences opkit_sum_differences(const float *x, size_t count,
                                                             float center)
{
    const opkit_float4 centers = {center, center, center, center};
    struct opkit_differences total = {0.0, 0.0};
    size_t i = 0;

    while (count - i >= OPKIT_SUM_STEP) {
        const size_t end = opkit_block_end(i, count);
        opkit_float4 a = {0.0F, 0.0F, 0.0F, 0.0F}, b = a, c = a, d = a;
        opkit_float4 aa = a, bb = a, cc = a, dd = a;
        for (; i < end; i += OPKIT_SUM_STEP) {
            const opkit_float4 e = opkit_load_float4(x + i) - centers;
            const opkit_float4 f = opkit_load_float4(x + i + 4) - centers;
            const opkit_float4 g = opkit_load_float4(x + i + 8) - centers;
            const opkit_float4 h = opkit_load_float4(x + i + 12) - centers;
            a += e;
            b += f;
            c += g;
            d += h;
            aa += e * e;
            bb += f * f;
            cc += g * g;
            dd += h * h;
        }
        total.sum += opkit_sum_lanes(a, b, c, d);
        total.squares += opkit_sum_lanes(aa, bb, cc, dd);
    }
    for (; i < count; i++) {
        const float difference = x[i] - center;
        total.sum += (double)difference;
        total.squares += (double)(difference * difference);
    }
    return total;
}

/* Mean and variance of floats: the mean is center + rest, because a float is too coarse for it. */
struct opkit_statistics {
    float center;
    double rest;
    double variance; /* the mean of the squared differences from the mean */
};

/*
 * Returns mean and variance of `count` floats; of none, NaN. Both come from the differences from a
 * center near the mean, in one pass: without it, the mean of the squares minus the square of the
 * mean has no digits left where the mean is large. The center is the mean of the first floats. If
 * that is more than two standard deviations from the mean, a second pass takes the mean itself.
 */
static inline struct opkit_statistics opkit_measure(const float *x, size_t count)
{
    const double share = 1.0 / (double)count;
    struct opkit_statistics found;

    found.center = 0.0F;
    if (count > 0) {
        found.center = count < 4 ? x[0] : ((x[0] + x[1]) + (x[2] + x[3])) * 0.25F;
    }
    if (found.center - found.center != 0.0F) { /* not finite, like the mean: differences are NaN */
        found.center = 0.0F;
    }
    for (int pass = 0;; pass++) {
        const struct opkit_differences total = opkit_sum_differences(x, count, found.center);

        found.rest = total.sum * share;
        found.variance = total.squares * share - found.rest * found.rest;
        if (pass == 1 || !(found.rest * found.rest > 4.0 * found.variance)) {
            found.variance = found.variance < 0.0 ? 0.0 : found.variance;
            return found;
        }
        found.center += (float)found.rest;
    }
}

#endif
