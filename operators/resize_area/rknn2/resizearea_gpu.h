/* The launch of the GPU kernel of ResizeArea: work items, and arguments behind the tensors. */
#ifndef RESIZEAREA_GPU_H
#define RESIZEAREA_GPU_H

#include "../include/opkit/runtimes/rknn2/launch.h"
#include "../resizearea_compute.h"

/*
 * Describes the launch: one work item for each element of output. Returns NULL, or the reason why
 * the GPU cannot compute this.
 */
static const char *resizearea_launch(const struct resizearea_inputs *inputs,
                                     const struct resizearea_params *params,
                                     const struct resizearea_outputs *outputs,
                                     struct opkit_launch *launch)
{
    const struct opkit_tensor *input = &inputs->input, *output = &outputs->output;
    struct resizearea_plan plan;

    const char *problem = resizearea_prepare(input, output, params, &plan);
    if (problem != NULL) {
        return problem;
    }
    if (input->size > INT32_MAX || output->size > INT32_MAX) {
        return "the GPU kernel counts elements in int";
    }
    launch->global_size[0] = plan.output_width * plan.channels;
    launch->global_size[1] = plan.output_height;
    launch->global_size[2] = plan.images;
    opkit_add_int(launch, (int32_t)plan.images);
    opkit_add_int(launch, (int32_t)plan.channels);
    opkit_add_int(launch, (int32_t)plan.height);
    opkit_add_int(launch, (int32_t)plan.width);
    opkit_add_int(launch, (int32_t)plan.output_height);
    opkit_add_int(launch, (int32_t)plan.output_width);
    opkit_add_float(launch, plan.y_scale);
    opkit_add_float(launch, plan.x_scale);
    opkit_add_float(launch, plan.mean);
    return NULL;
}

#endif
