/*
 * The shape rule of ReduceMean, for runtimes that infer shapes at run time.
 *
 * output has the shape of input, with 1 as the last dimension.
 */
#ifndef REDUCEMEAN_SHAPES_H
#define REDUCEMEAN_SHAPES_H

#include <string.h>

#include "../generated/reducemean.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *reducemean_shapes(const struct reducemean_inputs *inputs,
                                     const struct reducemean_params *params,
                                     struct reducemean_outputs *outputs)
{
    (void)params;
    outputs->output.rank = inputs->input.rank;
    memcpy(outputs->output.shape, inputs->input.shape, sizeof inputs->input.shape);
    outputs->output.shape[inputs->input.rank - 1] = 1;
    return NULL;
}

#endif
