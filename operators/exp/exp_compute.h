/*
 * The math of Exp: e to the power of x, element by element.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in exp_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16.
 */
#ifndef EXP_COMPUTE_H
#define EXP_COMPUTE_H

#include <string.h>

#include "generated/exp.h"

/* Returns 2^n for n from -126 to 127: a float with only exponent bits. */
static inline float exp_power_of_two(int32_t n)
{
    const uint32_t bits = (uint32_t)(n + 127) << 23;
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/*
 * Returns e^x, at most 1 ulp from the nearest float. expf of the C library is about as exact, but
 * compilers cannot vectorize a call.
 *
 * With n = the integer nearest to x / ln 2 and r = x - n ln 2: e^x = 2^n e^r. r is so small that
 * eight terms of the series of e^r are exact to the last bit of a float.
 */
static inline float exp_of(float x)
{
    /* ln 2 in two parts: the product of any n and the first one is exact. */
    const float ln2_high = 355.0F / 512.0F, ln2_low = -2.12194440e-4F;
    const float per_ln2 = 1.44269504F;
    /* x + rounder rounds x to an integer, in the last bits of the sum. */
    const float rounder = 12582912.0F; /* 1.5 * 2^23 */

    /* Beyond these limits the result is 0 or infinity. NaN passes unchanged. */
    x = x < -104.0F ? -104.0F : x;
    x = x > 89.0F ? 89.0F : x;

    const float rounded = x * per_ln2 + rounder;
    const float n = rounded - rounder;
    const float r = (x - n * ln2_high) - n * ln2_low;
    const float square = r * r;
    /* 1 + r + r^2 (1/2 + ...): independent pairs for parallel execution, smallest terms first. */
    float terms = 1.0F / 720.0F + r * (1.0F / 5040.0F);
    terms = (1.0F / 24.0F + r * (1.0F / 120.0F)) + square * terms;
    terms = (1.0F / 2.0F + r * (1.0F / 6.0F)) + square * terms;
    const float series = 1.0F + (r + square * terms);

    /* Two factors, because 2^n may overflow or be subnormal where the result does not. */
    int32_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    const int32_t power = bits - 0x4B400000; /* arbitrary for NaN: then the series is NaN */
    const int32_t first = power >> 1;
    return series * exp_power_of_two(first) * exp_power_of_two(power - first);
}

static void exp_float32(const float *x, float *result, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        result[i] = exp_of(x[i]);
    }
}

/*
 * Computes the outputs:
 *
 *   inputs->input      x, any shape
 *   outputs->output    e to the power of x, the shape of input
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *exp_compute(const struct exp_inputs *inputs, const struct exp_params *params,
                               struct exp_outputs *outputs)
{
    const struct opkit_tensor *input = &inputs->input;
    const struct opkit_tensor *output = &outputs->output;
    (void)params;

    if (input->type != OPKIT_FLOAT32 || output->type != OPKIT_FLOAT32) {
        return "input and output must be float16 or float32";
    }
    if (input->size != output->size) {
        return "input and output must have the same shape";
    }
    exp_float32(input->float32, output->float32, output->size);
    return NULL;
}

#endif
