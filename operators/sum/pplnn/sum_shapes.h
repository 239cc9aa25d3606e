/*
 * The shape rule of Sum, for runtimes that infer shapes at run time: the inputs are broadcast as in
 * numpy.
 */
#ifndef SUM_SHAPES_H
#define SUM_SHAPES_H

#include "../generated/sum.h"
#include "../include/opkit/compute/elementwise.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *sum_shapes(const struct sum_inputs *inputs, const struct sum_params *params,
                              struct sum_outputs *outputs)
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
    return opkit_broadcast_shapes(tensors, COUNT, &outputs->sum) ? NULL
                                                                 : "the inputs must broadcast";
}

#endif
