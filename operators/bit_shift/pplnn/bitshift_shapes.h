/*
 * The shape rule of BitShift, for runtimes that infer shapes at run time: x and y are broadcast as
 * in numpy.
 */
#ifndef BITSHIFT_SHAPES_H
#define BITSHIFT_SHAPES_H

#include "../generated/bitshift.h"
#include "../include/opkit/compute/elementwise.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *bitshift_shapes(const struct bitshift_inputs *inputs,
                                   const struct bitshift_params *params,
                                   struct bitshift_outputs *outputs)
{
    const struct opkit_tensor *const tensors[] = {&inputs->x, &inputs->y};

    (void)params;
    return opkit_broadcast_shapes(tensors, 2, &outputs->z) ? NULL : "x and y must broadcast";
}

#endif
