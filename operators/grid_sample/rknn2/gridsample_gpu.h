/* The launch of the GPU kernel of GridSample. */
#ifndef GRIDSAMPLE_GPU_H
#define GRIDSAMPLE_GPU_H

#include "../gridsample_compute.h"
#include "../include/opkit/runtimes/rknn2/launch.h"

/*
 * Describes the launch: one work item for each location and image. Returns NULL, or the reason why
 * the GPU cannot compute this.
 */
static const char *gridsample_launch(const struct gridsample_inputs *inputs,
                                     const struct gridsample_params *params,
                                     const struct gridsample_outputs *outputs,
                                     struct opkit_launch *launch)
{
    const struct opkit_tensor *x = &inputs->x;
    struct gridsample_method method;

    const char *problem = gridsample_read(params, &method);
    if (problem == NULL) {
        problem = gridsample_check(x, &inputs->grid, &outputs->y, &method);
    }
    if (problem != NULL) {
        return problem;
    }
    if (x->size > INT32_MAX || outputs->y.size > INT32_MAX || inputs->grid.size > INT32_MAX) {
        return "the GPU kernel counts elements in int";
    }
    const size_t locations = inputs->grid.size / inputs->grid.shape[0] / method.axes;
    launch->global_size[0] = locations;
    launch->global_size[1] = x->shape[0];
    opkit_add_int(launch, method.neighbors);
    opkit_add_int(launch, (int32_t)method.padding);
    opkit_add_int(launch, method.align_corners);
    opkit_add_int(launch, (int32_t)method.axes);
    opkit_add_int(launch, (int32_t)x->shape[1]);
    opkit_add_int(launch, (int32_t)method.slices);
    opkit_add_int(launch, (int32_t)method.rows);
    opkit_add_int(launch, (int32_t)method.columns);
    opkit_add_int(launch, (int32_t)locations);
    opkit_add_int(launch, (int32_t)x->shape[0]);
    return NULL;
}

#endif
