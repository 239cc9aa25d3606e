/*
 * The shape rule of GridSample, for runtimes that infer shapes at run time.
 *
 * y has the images and channels of x, and the size of grid.
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
    if ((x->rank != 4 && x->rank != 5) || grid->rank != x->rank) {
        return "x and grid must have 4 dimensions, or 5";
    }
    const size_t axes = x->rank - 2;
    if (grid->shape[0] != x->shape[0] || grid->shape[1 + axes] != axes) {
        return "grid must be [N, D_out, H_out, W_out, 3], or [N, H_out, W_out, 2], with the N of x";
    }
    outputs->y.rank = x->rank;
    outputs->y.shape[0] = x->shape[0];
    outputs->y.shape[1] = x->shape[1];
    for (size_t i = 0; i < axes; i++) {
        outputs->y.shape[2 + i] = grid->shape[1 + i];
    }
    return NULL;
}

#endif
