/*
 * The shape rule of GatherND, for runtimes that infer shapes at run time.
 *
 * output has the dimensions of indices but the last one, and those of data after the coordinates.
 */
#ifndef GATHERND_SHAPES_H
#define GATHERND_SHAPES_H

#include "../generated/gathernd.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *gathernd_shapes(const struct gathernd_inputs *inputs,
                                   const struct gathernd_params *params,
                                   struct gathernd_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->data;
    const struct opkit_tensor *indices = &inputs->indices;
    const size_t outer = indices->rank - 1;
    const size_t coordinates = indices->shape[outer];

    if (params->batch_dims < 0 || (uint64_t)params->batch_dims >= indices->rank ||
        (uint64_t)params->batch_dims >= x->rank) {
        return "batch_dims must be 0 or more, and less than the ranks of data and indices";
    }
    const size_t first = (size_t)params->batch_dims + coordinates; /* of the slices */
    if (coordinates < 1 || first > x->rank) {
        return "the last dimension of indices must be 1 to the rank of data minus batch_dims";
    }
    const size_t rank = outer + x->rank - first;
    if (rank > OPKIT_MAX_RANK) {
        return "output must have at most 6 dimensions";
    }
    outputs->output.rank = rank > 0 ? rank : 1; /* a tensor without dimensions is [1] */
    outputs->output.shape[0] = 1;
    for (size_t i = 0; i < rank; i++) {
        outputs->output.shape[i] = i < outer ? indices->shape[i] : x->shape[i - outer + first];
    }
    return NULL;
}

#endif
