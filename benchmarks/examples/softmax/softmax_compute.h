/* The math of Softmax along the last dimension. */
#ifndef SOFTMAX_COMPUTE_H
#define SOFTMAX_COMPUTE_H

#include "generated/softmax.h"
#include "include/opkit/compute/elementwise.h"
#include "include/opkit/compute/math.h"

enum {
    SOFTMAX_LANES = 16 /* of maxima and sums side by side, which compilers vectorize */
};

OPKIT_ELEMENT_LOOP void softmax_row(const float *x, float *y, size_t width)
{
    const size_t whole = width - width % SOFTMAX_LANES;
    float lanes[SOFTMAX_LANES], sum = 0.0F;

    for (size_t lane = 0; lane < SOFTMAX_LANES; lane++) {
        lanes[lane] = x[lane < width ? lane : 0];
    }
    for (size_t i = 0; i < whole; i += SOFTMAX_LANES) {
        for (size_t lane = 0; lane < SOFTMAX_LANES; lane++) {
            lanes[lane] = opkit_at_least(lanes[lane], x[i + lane]);
        }
    }
    float maximum = lanes[0];
    for (size_t lane = 1; lane < SOFTMAX_LANES; lane++) {
        maximum = opkit_at_least(maximum, lanes[lane]);
    }
    for (size_t i = whole; i < width; i++) {
        maximum = opkit_at_least(maximum, x[i]);
    }
    for (size_t i = 0; i < width; i++) {
        y[i] = opkit_exp_weight(x[i] - maximum);
    }
    for (size_t lane = 0; lane < SOFTMAX_LANES; lane++) {
        lanes[lane] = 0.0F;
    }
    for (size_t i = 0; i < whole; i += SOFTMAX_LANES) {
        for (size_t lane = 0; lane < SOFTMAX_LANES; lane++) {
            lanes[lane] += y[i + lane];
        }
    }
    for (size_t lane = 0; lane < SOFTMAX_LANES; lane++) {
        sum += lanes[lane];
    }
    for (size_t i = whole; i < width; i++) {
        sum += y[i];
    }
    const float factor = 1.0F / sum;
    for (size_t i = 0; i < width; i++) {
        y[i] *= factor;
    }
}

#if defined(OPKIT_AVX2)
OPKIT_AVX2 static void softmax_row_avx2(const float *x, float *y, size_t width)
{
    softmax_row(x, y, width);
}
#endif

static const char *softmax_compute(const struct softmax_inputs *inputs,
                                   const struct softmax_params *params,
                                   struct softmax_outputs *outputs)
{
    const size_t width = inputs->x.shape[inputs->x.rank - 1];

    (void)params;
    for (size_t begin = 0; begin < inputs->x.size; begin += width) {
        const float *x = inputs->x.float32 + begin;
        float *y = outputs->y.float32 + begin;
#if defined(OPKIT_AVX2)
        if (opkit_has_avx2()) {
            softmax_row_avx2(x, y, width);
            continue;
        }
#endif
        softmax_row(x, y, width);
    }
    return NULL;
}

#endif
