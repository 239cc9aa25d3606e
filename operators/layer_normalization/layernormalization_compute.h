/*
 * The math of LayerNormalization: mean 0 and variance 1 along the last dimensions, then a scale and
 * a bias.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in layernormalization_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in
 * all. Floating-point tensors are arrays of float, also if the model has float16.
 */
#ifndef LAYERNORMALIZATION_COMPUTE_H
#define LAYERNORMALIZATION_COMPUTE_H

#include <math.h>

#include "generated/layernormalization.h"
#include "include/opkit/compute/reduce.h"

/* Whether the shape of a tensor is that of x from the axis on, perhaps behind dimensions of 1. */
static bool layernormalization_fits(const struct opkit_tensor *tensor, const struct opkit_tensor *x,
                                    size_t axis)
{
    size_t count = 1;

    for (size_t i = 1; i <= x->rank - axis; i++) {
        count *= x->shape[x->rank - i];
        if (i <= tensor->rank && tensor->shape[tensor->rank - i] != x->shape[x->rank - i]) {
            return false;
        }
    }
    return tensor->size == count;
}

/* Checks tensors and params; counts the rows. Returns NULL, or an error message. */
static const char *layernormalization_check(const struct layernormalization_inputs *inputs,
                                            const struct layernormalization_params *params,
                                            const struct layernormalization_outputs *outputs,
                                            size_t *rows)
{
    const struct opkit_tensor *x = &inputs->x;
    const int64_t rank = (int64_t)x->rank;

    if (x->type != OPKIT_FLOAT32 || inputs->scale.type != OPKIT_FLOAT32 ||
        inputs->b.type != OPKIT_FLOAT32 || outputs->y.type != OPKIT_FLOAT32) {
        return "x, scale, b and y must be float16 or float32";
    }
    if (params->stash_type != 1 || outputs->mean.type != OPKIT_FLOAT32 ||
        outputs->invstddev.type != OPKIT_FLOAT32) {
        return "stash_type must be 1: mean and invstddev are float32";
    }
    if (params->axis < -rank || params->axis >= rank) {
        return "axis must be a dimension of x: from -rank to rank - 1";
    }
    const size_t axis = (size_t)(params->axis < 0 ? params->axis + rank : params->axis);
    if (!layernormalization_fits(&inputs->scale, x, axis) ||
        !layernormalization_fits(&inputs->b, x, axis)) {
        return "scale and b must have the dimensions of x from axis on; they are not broadcast";
    }
    *rows = 1;
    for (size_t i = 0; i < axis; i++) {
        *rows *= x->shape[i];
    }
    if (outputs->y.size != x->size || outputs->mean.size != *rows ||
        outputs->invstddev.size != *rows) {
        return "y must have the shape of x; mean and invstddev, too, with 1 from axis on";
    }
    return NULL;
}

OPKIT_ELEMENT_LOOP void layernormalization_rows(const struct layernormalization_inputs *inputs,
                                                float epsilon, size_t rows,
                                                struct layernormalization_outputs *outputs)
{
    const size_t count = inputs->scale.size;
    const float *scale = inputs->scale.float32, *bias = inputs->b.float32;
    for (size_t i = 0; i < rows; i++) {
        const float *x = inputs->x.float32 + i * count;
        float *y = outputs->y.float32 + i * count;
        const struct opkit_statistics row = opkit_measure(x, count);
        const double inverse = 1.0 / sqrt(row.variance + (double)epsilon);
        const float factor = (float)inverse;
        const float offset = (float)(-row.rest * inverse);

        for (size_t j = 0; j < count; j++) {
            y[j] = ((x[j] - row.center) * factor + offset) * scale[j] + bias[j];
        }
        outputs->mean.float32[i] = (float)((double)row.center + row.rest);
        outputs->invstddev.float32[i] = factor;
    }
}
OPKIT_WIDEST(layernormalization_rows,
             (const struct layernormalization_inputs *inputs, float epsilon, size_t rows,
              struct layernormalization_outputs *outputs),
             (inputs, epsilon, rows, outputs))

/*
 * Computes the outputs:
 *
 *   inputs->x             any shape
 *   inputs->scale         the dimensions of x from axis on
 *   inputs->b             the bias, in the shape of scale
 *   params->axis          the first of the last dimensions; negative: counted from the last one
 *   params->epsilon       added to the variance
 *   params->stash_type    1: mean and invstddev are float32
 *   outputs->y            the shape of x
 *   outputs->mean         the shape of x, with 1 from axis on
 *   outputs->invstddev    1 / sqrt(variance + epsilon), in the shape of mean
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *layernormalization_compute(const struct layernormalization_inputs *inputs,
                                              const struct layernormalization_params *params,
                                              struct layernormalization_outputs *outputs)
{
    size_t rows;

    const char *problem = layernormalization_check(inputs, params, outputs, &rows);
    if (problem != NULL) {
        return problem;
    }

    layernormalization_rows_widest(inputs, params->epsilon, rows, outputs);
    return NULL;
}

#endif
