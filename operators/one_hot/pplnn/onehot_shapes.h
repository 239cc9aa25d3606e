/*
 * The shape rule of OneHot, for runtimes that infer shapes at run time.
 *
 * output has the shape of indices, with a new dimension of length depth at the axis.
 */
#ifndef ONEHOT_SHAPES_H
#define ONEHOT_SHAPES_H

#include "../generated/onehot.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *onehot_shapes(const struct onehot_inputs *inputs,
                                 const struct onehot_params *params, struct onehot_outputs *outputs)
{
    const struct opkit_tensor *indices = &inputs->indices;
    const int64_t rank = (int64_t)indices->rank + 1;

    if (params->depth < 1) {
        return "depth must be 1 or more";
    }
    if (params->axis < -rank || params->axis >= rank) {
        return "axis must be a dimension of output: from -rank to rank - 1";
    }
    if (rank > OPKIT_MAX_RANK) {
        return "indices must have at most 5 dimensions";
    }
    const size_t axis = (size_t)(params->axis < 0 ? params->axis + rank : params->axis);
    outputs->output.rank = (size_t)rank;
    for (size_t i = 0; i < indices->rank; i++) {
        outputs->output.shape[i < axis ? i : i + 1] = indices->shape[i];
    }
    outputs->output.shape[axis] = (size_t)params->depth;
    return NULL;
}

#endif
