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

#include <stddef.h>
#include <string.h>

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

#endif
