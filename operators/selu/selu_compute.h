/*
 * The math of Selu: the scaled exponential linear unit, element by element.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in selu_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16.
 */
#ifndef SELU_COMPUTE_H
#define SELU_COMPUTE_H

#include <string.h>

#include "generated/selu.h"

/*
 * Returns e^x - 1 for x <= 0, at most 2 ulp from the nearest float. expm1f of the C library is
 * about as exact, but compilers cannot vectorize a call.
 *
 * With n = the integer nearest to x / ln 2 and r = x - n ln 2: e^x - 1 = 2^n (e^r - 1) + (2^n - 1).
 * r is so small that the terms of the series of e^r - 1 up to r^7 are exact to the last bit of a
 * float. Near 0, n is 0 and the result is the series itself, without cancellation.
 */
static inline float selu_expm1(float x)
{
    /* ln 2 in two parts: the product of any n and the first one is exact. */
    const float ln2_high = 355.0F / 512.0F, ln2_low = -2.12194440e-4F;
    const float per_ln2 = 1.44269504F;
    /* x + rounder rounds x to an integer, in the last bits of the sum. */
    const float rounder = 12582912.0F; /* 1.5 * 2^23 */

    /* Below, the result is -1. NaN passes unchanged. */
    x = x < -18.0F ? -18.0F : x;

    const float rounded = x * per_ln2 + rounder;
    const float n = rounded - rounder;
    const float r = (x - n * ln2_high) - n * ln2_low;
    float terms = 1.0F / 720.0F + r * (1.0F / 5040.0F);
    terms = 1.0F / 120.0F + r * terms;
    terms = 1.0F / 24.0F + r * terms;
    terms = 1.0F / 6.0F + r * terms;
    terms = 1.0F / 2.0F + r * terms;
    const float series = r + r * r * terms;

    /* 2^n: a float with only exponent bits. Arbitrary for NaN: then the series is NaN. */
    uint32_t bits;
    float power;
    memcpy(&bits, &rounded, sizeof bits);
    bits = (bits - 0x4B400000U + 127U) << 23;
    memcpy(&power, &bits, sizeof power);
    return power * series + (power - 1.0F);
}

static void selu_float32(const float *x, float *y, size_t count, float alpha, float gamma)
{
    for (size_t i = 0; i < count; i++) {
        const float negative = x[i] > 0.0F ? 0.0F : x[i]; /* or NaN */
        const float curve = alpha * selu_expm1(negative);

        y[i] = gamma * (x[i] > 0.0F ? x[i] : curve);
    }
}

/*
 * Computes the outputs:
 *
 *   inputs->x        any shape
 *   params->alpha    y is gamma * alpha * (e^x - 1) for x <= 0
 *   params->gamma    y is gamma * x for x > 0
 *   outputs->y       the shape of x
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *selu_compute(const struct selu_inputs *inputs, const struct selu_params *params,
                                struct selu_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->x;
    const struct opkit_tensor *y = &outputs->y;

    if (x->type != OPKIT_FLOAT32 || y->type != OPKIT_FLOAT32) {
        return "x and y must be float16 or float32";
    }
    if (x->size != y->size) {
        return "y must be as large as x";
    }
    selu_float32(x->float32, y->float32, y->size, params->alpha, params->gamma);
    return NULL;
}

#endif
