/*
 * The shape rule of Mean, for runtimes that infer shapes at run time: the inputs are broadcast as
 * in numpy.
 */
#ifndef MEAN_SHAPES_H
#define MEAN_SHAPES_H

#include "../generated/mean.h"
#include "../include/opkit/compute/elementwise.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *mean_shapes(const struct mean_inputs *inputs, const struct mean_params *params,
                               struct mean_outputs *outputs)
{
    enum {
        COUNT = sizeof *inputs / sizeof(struct opkit_tensor)
    };
    const struct opkit_tensor *data = (const struct opkit_tensor *)(const void *)inputs;
    const struct opkit_tensor *tensors[COUNT];

    (void)params;
    for (size_t i = 0; i < COUNT; i++) {
        tensors[i] = &data[i];
    }
    return opkit_broadcast_shapes(tensors, COUNT, &outputs->mean) ? NULL
                                                                  : "the inputs must broadcast";
}

#endif
