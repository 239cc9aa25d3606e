/*
 * The shape rule of GridSample, for runtimes that infer shapes at run time.
 *
 * y has the images and channels of x, and the height and width of grid.
 */
#ifndef GRIDSAMPLE_SHAPES_H
#define GRIDSAMPLE_SHAPES_H

#include "../generated/gridsample.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *gridsample_shapes(const struct gridsample_inputs *inputs,
                                     const struct gridsample_params *params,
                                     struct gridsample_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->x;
    const struct opkit_tensor *grid = &inputs->grid;

    (void)params;
    if (x->rank != 4 || grid->rank != 4) {
        return "x and grid must have 4 dimensions; 3-D data is not supported";
    }
    if (grid->shape[0] != x->shape[0] || grid->shape[3] != 2) {
        return "grid must be [N, H_out, W_out, 2], with the N of x";
    }
    outputs->y.rank = 4;
    outputs->y.shape[0] = x->shape[0];
    outputs->y.shape[1] = x->shape[1];
    outputs->y.shape[2] = grid->shape[1];
    outputs->y.shape[3] = grid->shape[2];
    return NULL;
}

#endif
