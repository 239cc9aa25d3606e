/*
 * The math of RMSNormalization: root mean square 1 along the last dimensions, then a scale.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in rmsnormalization_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in
 * all. Floating-point tensors are arrays of float, also if the model has float16.
 */
#ifndef RMSNORMALIZATION_COMPUTE_H
#define RMSNORMALIZATION_COMPUTE_H

#include "generated/rmsnormalization.h"
#include "include/opkit/compute/reduce.h"

/* Whether the shape of a tensor is that of x from the axis on, perhaps behind dimensions of 1. */
static bool rmsnormalization_fits(const struct opkit_tensor *tensor, const struct opkit_tensor *x,
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

/* Checks tensors and params. Returns NULL, or an error message. */
static const char *rmsnormalization_check(const struct rmsnormalization_inputs *inputs,
                                          const struct rmsnormalization_params *params,
                                          const struct opkit_tensor *y)
{
    const struct opkit_tensor *x = &inputs->x;
    const int64_t rank = (int64_t)x->rank;

    if (x->type != OPKIT_FLOAT32 || inputs->scale.type != OPKIT_FLOAT32 ||
        y->type != OPKIT_FLOAT32) {
        return "x, scale and y must be float16 or float32";
    }
    if (params->stash_type != 1) {
        return "stash_type must be 1: the math is in float32";
    }
    if (params->axis < -rank || params->axis >= rank) {
        return "axis must be a dimension of x: from -rank to rank - 1";
    }
    const size_t axis = (size_t)(params->axis < 0 ? params->axis + rank : params->axis);
    if (!rmsnormalization_fits(&inputs->scale, x, axis)) {
        return "scale must have the dimensions of x from axis on; it is not broadcast";
    }
    return y->size == x->size ? NULL : "y must have the shape of x";
}

/*
 * Computes the outputs:
 *
 *   inputs->x             any shape
 *   inputs->scale         the dimensions of x from axis on
 *   params->axis          the first of the last dimensions; negative: counted from the last one
 *   params->epsilon       added to the mean of the squares
 *   params->stash_type    1: the math is in float32
 *   outputs->y            the shape of x
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *rmsnormalization_compute(const struct rmsnormalization_inputs *inputs,
                                            const struct rmsnormalization_params *params,
                                            struct rmsnormalization_outputs *outputs)
{
    const char *problem = rmsnormalization_check(inputs, params, &outputs->y);
    if (problem != NULL) {
        return problem;
    }

    const size_t count = inputs->scale.size;
    for (size_t begin = 0; begin < inputs->x.size; begin += count) {
        opkit_normalize_rms_widest(inputs->x.float32 + begin, inputs->scale.float32, count,
                                   params->epsilon, outputs->y.float32 + begin);
    }
    return NULL;
}

#endif
