/*
 * The shape rule of LayerNormalization, for runtimes that infer shapes at run time.
 *
 * y has the shape of x; mean and invstddev, too, with 1 from axis on.
 */
#ifndef LAYERNORMALIZATION_SHAPES_H
#define LAYERNORMALIZATION_SHAPES_H

#include "../generated/layernormalization.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *layernormalization_shapes(const struct layernormalization_inputs *inputs,
                                             const struct layernormalization_params *params,
                                             struct layernormalization_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->x;
    const int64_t rank = (int64_t)x->rank;

    if (params->axis < -rank || params->axis >= rank) {
        return "axis must be a dimension of x: from -rank to rank - 1";
    }
    const size_t axis = (size_t)(params->axis < 0 ? params->axis + rank : params->axis);
    outputs->mean.rank = outputs->invstddev.rank = x->rank;
    for (size_t i = 0; i < x->rank; i++) {
        outputs->mean.shape[i] = outputs->invstddev.shape[i] = i < axis ? x->shape[i] : 1;
    }
    return NULL;
}

#endif
