/*
 * The shape rule of Col2Im, for runtimes that infer shapes at run time.
 *
 * output is [N, channels, *image_shape].
 */
#ifndef COL2IM_SHAPES_H
#define COL2IM_SHAPES_H

#include "../col2im_compute.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *col2im_shapes(const struct col2im_inputs *inputs,
                                 const struct col2im_params *params, struct col2im_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->input;
    struct col2im_layout layout;

    const char *problem = col2im_read(params, &layout);
    if (problem != NULL) {
        return problem;
    }
    if (x->rank != 3 || x->shape[1] % layout.elements != 0) {
        return "input must be [N, channels * elements of a block, blocks]";
    }
    outputs->output.rank = 2 + params->image_shape.count;
    outputs->output.shape[0] = x->shape[0];
    outputs->output.shape[1] = x->shape[1] / layout.elements;
    for (size_t i = 0; i < params->image_shape.count; i++) {
        outputs->output.shape[2 + i] = (size_t)params->image_shape.items[i];
    }
    return NULL;
}

#endif
