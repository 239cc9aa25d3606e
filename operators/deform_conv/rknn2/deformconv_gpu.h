/* The launch of the GPU kernel of DeformConv: work items, and arguments behind the tensors. */
#ifndef DEFORMCONV_GPU_H
#define DEFORMCONV_GPU_H

#include "../deformconv_compute.h"
#include "../include/opkit/runtimes/rknn2/launch.h"

enum {
    DEFORMCONV_TILE = 8 /* channels of y of a work item: TILE in deformconv_kernel.cl */
};

/* Whether the places of a kernel's elements along a dimension fit an int, before the offsets. */
static bool deformconv_is_in_reach(const struct deformconv_dimension *dimension)
{
    const uint64_t extent = ((uint64_t)dimension->kernel - 1) * (uint64_t)dimension->dilation;
    const uint64_t last = ((uint64_t)dimension->output - 1) * (uint64_t)dimension->stride;

    return dimension->pad <= INT32_MAX && dimension->stride <= INT32_MAX &&
           dimension->dilation <= INT32_MAX && extent + last <= INT32_MAX;
}

/*
 * Describes the launch: one work item for each location, tile of channels of y, and image. Returns
 * NULL, or the reason why the GPU cannot compute this.
 */
static const char *deformconv_launch(const struct deformconv_inputs *inputs,
                                     const struct deformconv_params *params,
                                     const struct deformconv_outputs *outputs,
                                     struct opkit_launch *launch)
{
    struct deformconv_layout layout;

    const char *problem = deformconv_read(params, inputs, &layout);
    if (problem == NULL) {
        problem = deformconv_check(inputs, params, outputs, &layout);
    }
    if (problem != NULL) {
        return problem;
    }
    if (inputs->x.size > INT32_MAX || inputs->w.size > INT32_MAX ||
        inputs->offset.size > INT32_MAX || outputs->y.size > INT32_MAX) {
        return "the GPU kernel counts elements in int";
    }
    if (!deformconv_is_in_reach(&layout.rows) || !deformconv_is_in_reach(&layout.columns)) {
        return "the GPU kernel counts pixels in int";
    }
    const size_t groups = (size_t)params->group;
    const size_t tiles = (layout.group_kernels + DEFORMCONV_TILE - 1) / DEFORMCONV_TILE;
    launch->global_size[0] = layout.locations;
    launch->global_size[1] = groups * tiles;
    launch->global_size[2] = inputs->x.shape[0];
    opkit_add_int(launch, (int32_t)inputs->x.shape[0]);
    opkit_add_int(launch, (int32_t)layout.channels);
    opkit_add_int(launch, (int32_t)layout.rows.image);
    opkit_add_int(launch, (int32_t)layout.columns.image);
    opkit_add_int(launch, (int32_t)groups);
    opkit_add_int(launch, (int32_t)layout.group_channels);
    opkit_add_int(launch, (int32_t)layout.group_kernels);
    opkit_add_int(launch, (int32_t)params->offset_group);
    opkit_add_int(launch, (int32_t)layout.rows.kernel);
    opkit_add_int(launch, (int32_t)layout.columns.kernel);
    opkit_add_int(launch, (int32_t)layout.rows.output);
    opkit_add_int(launch, (int32_t)layout.columns.output);
    opkit_add_int(launch, (int32_t)layout.rows.stride);
    opkit_add_int(launch, (int32_t)layout.columns.stride);
    opkit_add_int(launch, (int32_t)layout.rows.dilation);
    opkit_add_int(launch, (int32_t)layout.columns.dilation);
    opkit_add_int(launch, (int32_t)layout.rows.pad);
    opkit_add_int(launch, (int32_t)layout.columns.pad);
    return NULL;
}

#endif
