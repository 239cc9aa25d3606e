/*
 * The shape rule of ReduceMean, for runtimes that infer shapes at run time.
 *
 * reduced has the shape of data, with 1 along the axes (keepdims 1), or without them.
 */
#ifndef REDUCEMEAN_SHAPES_H
#define REDUCEMEAN_SHAPES_H

#include "../generated/reducemean.h"
#include "../include/opkit/compute/axes.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *reducemean_shapes(const struct reducemean_inputs *inputs,
                                     const struct reducemean_params *params,
                                     struct reducemean_outputs *outputs)
{
    bool is_reduced[OPKIT_MAX_RANK];

    if (params->keepdims != 0 && params->keepdims != 1) {
        return "keepdims must be 0 or 1";
    }
    if (params->noop_with_empty_axes != 0 && params->noop_with_empty_axes != 1) {
        return "noop_with_empty_axes must be 0 or 1";
    }
    const char *problem =
        opkit_mark_axes(&inputs->data, params->axes, params->noop_with_empty_axes == 1, is_reduced);
    if (problem != NULL) {
        return problem;
    }
    opkit_set_reduced_shape(&inputs->data, is_reduced, params->keepdims == 1, &outputs->reduced);
    return NULL;
}

#endif
