/*
 * The shape rule of Einsum, for runtimes that infer shapes at run time.
 *
 * output has a dimension for each of its letters; without one, it is [1].
 */
#ifndef EINSUM_SHAPES_H
#define EINSUM_SHAPES_H

#include "../einsum_compute.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *einsum_shapes(const struct einsum_inputs *inputs,
                                 const struct einsum_params *params, struct einsum_outputs *outputs)
{
    const struct opkit_tensor *const tensors[] = {&inputs->input_0, &inputs->input_1};
    struct einsum_plan plan;

    const char *problem = einsum_read(params->equation, tensors, &plan);
    if (problem != NULL) {
        return problem;
    }
    outputs->output.rank = plan.rank > 0 ? plan.rank : 1;
    outputs->output.shape[0] = 1;
    for (size_t axis = 0; axis < plan.rank; axis++) {
        outputs->output.shape[axis] = plan.indices[plan.output[axis]].side;
    }
    return NULL;
}

#endif
