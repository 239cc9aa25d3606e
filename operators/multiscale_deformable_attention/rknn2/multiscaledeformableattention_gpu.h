/*
 * The launch of the GPU kernel of MultiscaleDeformableAttention: work items, and arguments behind
 * the tensors.
 */
#ifndef MULTISCALEDEFORMABLEATTENTION_GPU_H
#define MULTISCALEDEFORMABLEATTENTION_GPU_H

#include "../include/opkit/runtimes/rknn2/launch.h"
#include "../multiscaledeformableattention_compute.h"

enum {
    ATTENTION_WIDTH = 4 /* channels of a work item */
};

/*
 * Describes the launch: one work item for each vector of channels, query, and image. Returns NULL,
 * or the reason why the GPU cannot compute this.
 */
static const char *
multiscaledeformableattention_launch(const struct multiscaledeformableattention_inputs *inputs,
                                     const struct multiscaledeformableattention_params *params,
                                     const struct multiscaledeformableattention_outputs *outputs,
                                     struct opkit_launch *launch)
{
    const struct opkit_int32_array *sizes = &params->value_spatial_shapes;
    const struct opkit_int32_array *starts = &params->value_level_start_index;
    const struct opkit_tensor *value = &inputs->value;
    struct attention_layout layout;

    const char *problem = attention_read(params, &layout);
    if (problem == NULL) {
        problem = attention_check(inputs, outputs, &layout);
    }
    if (problem != NULL) {
        return problem;
    }
    if (value->size > INT32_MAX || outputs->output.size > INT32_MAX ||
        inputs->sampling_locations.size > INT32_MAX) {
        return "the GPU kernel counts elements in int";
    }
    const size_t vectors = (layout.channels + ATTENTION_WIDTH - 1) / ATTENTION_WIDTH;
    launch->global_size[0] = layout.heads * vectors;
    launch->global_size[1] = layout.queries;
    launch->global_size[2] = value->shape[0];
    opkit_add_array(launch, sizes->items, sizes->count * sizeof *sizes->items);
    opkit_add_array(launch, starts->items, starts->count * sizeof *starts->items);
    opkit_add_int(launch, (int32_t)value->shape[0]);
    opkit_add_int(launch, (int32_t)value->shape[1]);
    opkit_add_int(launch, (int32_t)layout.heads);
    opkit_add_int(launch, (int32_t)layout.channels);
    opkit_add_int(launch, (int32_t)layout.queries);
    opkit_add_int(launch, (int32_t)layout.levels);
    opkit_add_int(launch, (int32_t)layout.points);
    return NULL;
}

#endif
