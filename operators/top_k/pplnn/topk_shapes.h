/*
 * The shape rule of TopK, for runtimes that infer shapes at run time.
 *
 * values and indices have the shape of x, with k elements along the axis.
 */
#ifndef TOPK_SHAPES_H
#define TOPK_SHAPES_H

#include <string.h>

#include "../generated/topk.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *topk_shapes(const struct topk_inputs *inputs, const struct topk_params *params,
                               struct topk_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->x;
    const int64_t rank = (int64_t)x->rank;

    if (params->axis < -rank || params->axis >= rank) {
        return "axis must be a dimension of x: from -rank to rank - 1";
    }
    const size_t axis = (size_t)(params->axis < 0 ? params->axis + rank : params->axis);
    if (params->k < 1 || (uint64_t)params->k > x->shape[axis]) {
        return "k must be 1 or more, and at most the length of the axis";
    }
    outputs->values.rank = x->rank;
    memcpy(outputs->values.shape, x->shape, sizeof x->shape);
    outputs->values.shape[axis] = (size_t)params->k;
    outputs->indices.rank = x->rank;
    memcpy(outputs->indices.shape, outputs->values.shape, sizeof x->shape);
    return NULL;
}

#endif
