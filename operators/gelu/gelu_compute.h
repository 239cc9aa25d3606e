/*
 * The math of Gelu: the Gaussian error linear unit, exact or by tanh.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in gelu_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16.
 *
 * It is not `elementwise: true`, because `approximate` is a text, which is compared once, not for
 * each element.
 */
#ifndef GELU_COMPUTE_H
#define GELU_COMPUTE_H

#include <string.h>

#include "generated/gelu.h"
#include "include/opkit/compute/elementwise.h"
#include "include/opkit/compute/fp16.h"
#include "include/opkit/compute/math.h"

/* A call: the elements, and the form of the function. */
struct gelu_call {
    const float *x;
    float *y;
    bool is_exact;
};

/* Computes x (1 + erf(x / sqrt 2)) / 2: x times the normal distribution function. */
OPKIT_ELEMENT_LOOP void gelu_exact(const float *x, float *y, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        y[i] = x[i] * opkit_normal_cdf(x[i]);
    }
}

/* Computes x (1 + tanh u) / 2 with u = sqrt(2 / pi) (x + 0.044715 x^3). */
OPKIT_ELEMENT_LOOP void gelu_by_tanh(const float *x, float *y, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const float u = x[i] * (0.797884561F + 0.0356774081F * (x[i] * x[i]));

        y[i] = 0.5F * x[i] * (1.0F + opkit_tanh_fast(u));
    }
}

OPKIT_ELEMENT_LOOP void gelu_range(const struct gelu_call *call, size_t begin, size_t end)
{
    if (call->is_exact) {
        gelu_exact(call->x + begin, call->y + begin, end - begin);
    } else {
        gelu_by_tanh(call->x + begin, call->y + begin, end - begin);
    }
}
OPKIT_WIDEST(gelu_range, (const struct gelu_call *call, size_t begin, size_t end),
             (call, begin, end))

#if defined(OPKIT_FP16)
/* The same in halves, for processors with their arithmetic: 8 at a time. */
OPKIT_FP16 static void gelu_range_fp16(const struct gelu_call *call, size_t begin, size_t end)
{
    const opkit_fp16 half = (opkit_fp16)0.5F;
    const float *x = call->x;
    float *y = call->y;
    const size_t exact_end = call->is_exact ? end : begin;

    OPKIT_FP16_LOOP
    for (size_t i = begin; i < exact_end; i++) {
        const opkit_fp16 value = (opkit_fp16)x[i];

        y[i] = (float)(value * opkit_fp16_normal_cdf(value));
    }
    OPKIT_FP16_LOOP
    for (size_t i = exact_end; i < end; i++) {
        const opkit_fp16 value = (opkit_fp16)x[i];
        const opkit_fp16 square = value * value;
        const opkit_fp16 slope =
            opkit_fp16_fma(square, (opkit_fp16)0.0356774081F, (opkit_fp16)0.797884561F);
        const opkit_fp16 part = half * opkit_fp16_tanh(value * slope) + half;

        y[i] = (float)(value * part);
    }
}
#endif

/* Computes a part of the output. */
static void gelu_part(const void *context, size_t begin, size_t end)
{
    const struct gelu_call *call = (const struct gelu_call *)context;

#if defined(OPKIT_FP16)
    if (opkit_has_fp16()) {
        gelu_range_fp16(call, begin, end);
        return;
    }
#endif
    gelu_range_widest(call, begin, end);
}

/*
 * Computes the outputs:
 *
 *   inputs->x              any shape
 *   params->approximate    `none` or `tanh`
 *   outputs->y             the shape of x
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *gelu_compute(const struct gelu_inputs *inputs, const struct gelu_params *params,
                                struct gelu_outputs *outputs)
{
    const bool is_exact = strcmp(params->approximate, "none") == 0;
    const struct gelu_call call = {inputs->x.float32, outputs->y.float32, is_exact};

    if (inputs->x.type != OPKIT_FLOAT32 || outputs->y.type != OPKIT_FLOAT32) {
        return "x must be float16 or float32";
    }
    if (inputs->x.size != outputs->y.size) {
        return "x and y must have the same shape";
    }
    opkit_parallel_for(outputs->y.size, OPKIT_GRAIN, gelu_part, &call);
    return NULL;
}

#endif
