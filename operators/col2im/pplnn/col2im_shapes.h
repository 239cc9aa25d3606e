/*
 * The shape rule of Col2Im, for runtimes that infer shapes at run time.
 *
 * output is [N, channels, *image_shape].
 */
#ifndef COL2IM_SHAPES_H
#define COL2IM_SHAPES_H

#include "../generated/col2im.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *col2im_shapes(const struct col2im_inputs *inputs,
                                 const struct col2im_params *params, struct col2im_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->input;
    const size_t count = params->image_shape.count;
    size_t elements = 1; /* of a block */

    if (x->rank != 3) {
        return "input must be [N, channels * elements of a block, blocks]";
    }
    if (count < 1 || count > OPKIT_MAX_RANK - 2 || params->block_shape.count != count) {
        return "image_shape and block_shape must have the same count of items, 1 to 4";
    }
    outputs->output.rank = 2 + count;
    for (size_t i = 0; i < count; i++) {
        if (params->image_shape.items[i] < 1 || params->block_shape.items[i] < 1) {
            return "shapes, dilations and strides must be above 0, and pads not negative";
        }
        elements *= (size_t)params->block_shape.items[i];
        outputs->output.shape[2 + i] = (size_t)params->image_shape.items[i];
    }
    if (x->shape[1] % elements != 0) {
        return "input must be [N, channels * elements of a block, blocks]";
    }
    outputs->output.shape[0] = x->shape[0];
    outputs->output.shape[1] = x->shape[1] / elements;
    return NULL;
}

#endif
