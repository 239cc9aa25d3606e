/*
 * The math of DynamicQuantizeLinear: floats as numbers of uint8, in the steps that their range
 * needs.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in dynamicquantizelinear_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements
 * in all. Floating-point tensors are arrays of float, also if the model has float16.
 */
#ifndef DYNAMICQUANTIZELINEAR_COMPUTE_H
#define DYNAMICQUANTIZELINEAR_COMPUTE_H

#include "generated/dynamicquantizelinear.h"
#include "include/opkit/compute/elementwise.h"
#include "include/opkit/compute/quantize.h"

enum {
    /* Of the search for the smallest and the largest number: what the vector registers hold. */
    DYNAMICQUANTIZELINEAR_LANES = 16,
    DYNAMICQUANTIZELINEAR_MAX_LANES = 32
};

/* The smallest and the largest number, and 0. NaN does not count. */
struct dynamicquantizelinear_range {
    float low, high;
};

/* Returns the range of an array, found in lanes: only so do compilers vectorize the loop. */
OPKIT_ELEMENT_LOOP struct dynamicquantizelinear_range
dynamicquantizelinear_find(const float *x, size_t count, size_t lanes)
{
    struct dynamicquantizelinear_range range = {0.0F, 0.0F};
    float low[DYNAMICQUANTIZELINEAR_MAX_LANES] = {0}, high[DYNAMICQUANTIZELINEAR_MAX_LANES] = {0};
    const size_t whole = count - count % lanes;

    for (size_t first = 0; first < whole; first += lanes) {
        for (size_t i = 0; i < lanes; i++) {
            low[i] = x[first + i] < low[i] ? x[first + i] : low[i];
            high[i] = x[first + i] > high[i] ? x[first + i] : high[i];
        }
    }
    for (size_t i = 0; i < count - whole; i++) {
        low[i] = x[whole + i] < low[i] ? x[whole + i] : low[i];
        high[i] = x[whole + i] > high[i] ? x[whole + i] : high[i];
    }
    for (size_t i = 0; i < lanes; i++) {
        range.low = low[i] < range.low ? low[i] : range.low;
        range.high = high[i] > range.high ? high[i] : range.high;
    }
    return range;
}

OPKIT_ELEMENT_LOOP void dynamicquantizelinear_quantize(const float *x, size_t count, float scale,
                                                       int32_t zero, uint8_t *y)
{
    for (size_t i = 0; i < count; i++) {
        y[i] = (uint8_t)opkit_quantized(x[i], scale, zero, 0.0F, 255.0F);
    }
}

OPKIT_ELEMENT_LOOP void dynamicquantizelinear_run(const float *x, size_t count, size_t lanes,
                                                  struct dynamicquantizelinear_outputs *outputs)
{
    const struct dynamicquantizelinear_range range = dynamicquantizelinear_find(x, count, lanes);
    const bool is_empty = range.high == range.low;
    const float scale = is_empty ? 1.0F : (range.high - range.low) / 255.0F;
    const uint8_t zero = (uint8_t)opkit_round_within(-range.low / scale, 0.0F, 255.0F);

    outputs->y_scale.float32[0] = scale;
    outputs->y_zero_point.uint8[0] = zero;
    dynamicquantizelinear_quantize(x, count, scale, zero, outputs->y.uint8);
}

#if defined(OPKIT_AVX2)
/* The same for processors with AVX2, with the same results. */
OPKIT_AVX2 static void dynamicquantizelinear_avx2(const float *x, size_t count,
                                                  struct dynamicquantizelinear_outputs *outputs)
{
    dynamicquantizelinear_run(x, count, DYNAMICQUANTIZELINEAR_MAX_LANES, outputs);
}
#endif

OPKIT_LOOP void dynamicquantizelinear_baseline(const float *x, size_t count,
                                               struct dynamicquantizelinear_outputs *outputs)
{
    dynamicquantizelinear_run(x, count, DYNAMICQUANTIZELINEAR_LANES, outputs);
}

/*
 * Computes the outputs:
 *
 *   inputs->x                any shape
 *   outputs->y               the numbers, uint8, in the shape of x
 *   outputs->y_scale         the step between two numbers, [1]
 *   outputs->y_zero_point    the number that stands for 0, uint8, [1]
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *dynamicquantizelinear_compute(const struct dynamicquantizelinear_inputs *inputs,
                                                 const struct dynamicquantizelinear_params *params,
                                                 struct dynamicquantizelinear_outputs *outputs)
{
    (void)params;
    if (inputs->x.type != OPKIT_FLOAT32) {
        return "x must be float16 or float32";
    }
    if (outputs->y.type != OPKIT_UINT8 || outputs->y_scale.type != OPKIT_FLOAT32 ||
        outputs->y_zero_point.type != OPKIT_UINT8) {
        return "y and y_zero_point must be uint8, and y_scale float32";
    }
    if (outputs->y.size != inputs->x.size || outputs->y_scale.size != 1 ||
        outputs->y_zero_point.size != 1) {
        return "y must have the shape of x, and y_scale and y_zero_point one number";
    }
#if defined(OPKIT_AVX2)
    if (opkit_has_avx2()) {
        dynamicquantizelinear_avx2(inputs->x.float32, inputs->x.size, outputs);
        return NULL;
    }
#endif
    dynamicquantizelinear_baseline(inputs->x.float32, inputs->x.size, outputs);
    return NULL;
}

#endif
