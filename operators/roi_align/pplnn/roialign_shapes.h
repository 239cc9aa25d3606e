/*
 * The shape rule of RoiAlign, for runtimes that infer shapes at run time.
 *
 * y has an image for each region, with the channels of x and the size of the params.
 */
#ifndef ROIALIGN_SHAPES_H
#define ROIALIGN_SHAPES_H

#include "../generated/roialign.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *roialign_shapes(const struct roialign_inputs *inputs,
                                   const struct roialign_params *params,
                                   struct roialign_outputs *outputs)
{
    if (inputs->x.rank != 4) {
        return "x must be [N, C, H, W], with pixels";
    }
    if (params->output_height < 1 || params->output_width < 1) {
        return "output_height and output_width must be above 0, and sampling_ratio not negative";
    }
    outputs->y.rank = 4;
    outputs->y.shape[0] = inputs->rois.shape[0];
    outputs->y.shape[1] = inputs->x.shape[1];
    outputs->y.shape[2] = (size_t)params->output_height;
    outputs->y.shape[3] = (size_t)params->output_width;
    return NULL;
}

#endif
