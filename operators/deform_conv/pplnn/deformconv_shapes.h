/*
 * The shape rule of DeformConv, for runtimes that infer shapes at run time.
 *
 * y has the images of x, a channel for each kernel, and the height and width of offset.
 */
#ifndef DEFORMCONV_SHAPES_H
#define DEFORMCONV_SHAPES_H

#include "../generated/deformconv.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *deformconv_shapes(const struct deformconv_inputs *inputs,
                                     const struct deformconv_params *params,
                                     struct deformconv_outputs *outputs)
{
    (void)params;
    if (inputs->x.rank != 4 || inputs->w.rank != 4) {
        return "x and w must have 4 dimensions: images of 2 dimensions";
    }
    if (inputs->offset.rank != 4) {
        return "offset must be [N, offset_group * kernel elements * 2, H_out, W_out]";
    }
    outputs->y.rank = 4;
    outputs->y.shape[0] = inputs->x.shape[0];
    outputs->y.shape[1] = inputs->w.shape[0];
    outputs->y.shape[2] = inputs->offset.shape[2];
    outputs->y.shape[3] = inputs->offset.shape[3];
    return NULL;
}

#endif
