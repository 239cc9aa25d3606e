/*
 * The math of Selu: the scaled exponential linear unit, element by element.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in selu_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16.
 */
#ifndef SELU_COMPUTE_H
#define SELU_COMPUTE_H

#include "generated/selu.h"
#include "include/opkit/compute/math.h"

static void selu_float32(const float *x, float *y, size_t count, float alpha, float gamma)
{
    for (size_t i = 0; i < count; i++) {
        const float negative = x[i] > 0.0F ? 0.0F : x[i]; /* or NaN */
        const float curve = alpha * opkit_expm1(negative);

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
