/* The launch of the GPU kernel of Col2Im: its work items, and its arguments behind the tensors. */
#ifndef COL2IM_GPU_H
#define COL2IM_GPU_H

#include "../col2im_compute.h"
#include "../include/opkit/runtimes/rknn2/launch.h"

/* One dimension of the image, as `struct dimension` in col2im_kernel.cl. */
struct col2im_gpu_dimension {
    int32_t image, block, dilation, stride, pad, blocks;
};

/* Writes a dimension of the image. Returns whether all places in it fit an int. */
static bool col2im_is_in_reach(const struct col2im_dimension *from, struct col2im_gpu_dimension *to)
{
    to->image = (int32_t)from->image;
    to->block = (int32_t)from->block;
    to->dilation = (int32_t)from->dilation;
    to->stride = (int32_t)from->stride;
    to->pad = (int32_t)from->pad;
    to->blocks = (int32_t)from->blocks;
    return from->image + from->pad <= INT32_MAX &&
           from->dilation * (from->block - 1) <= INT32_MAX && from->blocks <= INT32_MAX;
}

/*
 * Describes the launch: one work item for each pixel and channel. Returns NULL, or the reason why
 * the GPU cannot compute this.
 */
static const char *col2im_launch(const struct col2im_inputs *inputs,
                                 const struct col2im_params *params,
                                 const struct col2im_outputs *outputs, struct opkit_launch *launch)
{
    /* Before the dimensions of the image, those of size 1. */
    struct col2im_gpu_dimension dimensions[COL2IM_MAX_DIMENSIONS];
    struct col2im_layout layout;
    size_t channels;

    const char *problem = col2im_read(params, &layout);
    if (problem == NULL) {
        problem = col2im_check(&inputs->input, &outputs->output, &layout, &channels);
    }
    if (problem != NULL) {
        return problem;
    }
    if (inputs->input.size > INT32_MAX || outputs->output.size > INT32_MAX) {
        return "the GPU kernel counts elements in int";
    }
    for (size_t i = 0; i < COL2IM_MAX_DIMENSIONS; i++) {
        const size_t missing = COL2IM_MAX_DIMENSIONS - layout.count;
        const struct col2im_dimension single = {1, 1, 1, 1, 0, 1, 0, 0, 0};
        const struct col2im_dimension *each =
            i < missing ? &single : &layout.dimensions[i - missing];

        if (!col2im_is_in_reach(each, &dimensions[i])) {
            return "the GPU kernel counts pixels in int";
        }
    }
    launch->global_size[0] = layout.pixels;
    launch->global_size[1] = channels;
    opkit_add_array(launch, dimensions, sizeof dimensions);
    opkit_add_int(launch, (int32_t)channels);
    opkit_add_int(launch, (int32_t)layout.elements);
    opkit_add_int(launch, (int32_t)layout.blocks);
    opkit_add_int(launch, (int32_t)layout.pixels);
    return NULL;
}

#endif
