/*
 * The shape rule of Mod, for runtimes that infer shapes at run time: a and b are broadcast as in
 * numpy.
 */
#ifndef MOD_SHAPES_H
#define MOD_SHAPES_H

#include "../generated/mod.h"
#include "../include/opkit/compute/elementwise.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *mod_shapes(const struct mod_inputs *inputs, const struct mod_params *params,
                              struct mod_outputs *outputs)
{
    const struct opkit_tensor *const tensors[] = {&inputs->a, &inputs->b};

    (void)params;
    return opkit_broadcast_shapes(tensors, 2, &outputs->c) ? NULL : "a and b must broadcast";
}

#endif
