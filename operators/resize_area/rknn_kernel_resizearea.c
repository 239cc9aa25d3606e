/*
 * The kernels of ResizeArea: launch and set-up of the VX kernel in rknn_kernel_resizearea.vx.
 *
 * The callbacks and the kernel list are in generated/resizearea_kernels.h, the math is in
 * resizearea_compute.h.
 */
#include "resizearea_compute.h"
#include "generated/resizearea_kernels.h"
#include "include/opkit/runtimes/rknn/dot_products.h"
#include "include/opkit/runtimes/rknn/launch.h"

/* Elements per work item of the VX kernel: floats in a register of 128 bits. */
#define ELEMENTS_PER_ITEM 4

/*
 * Sets the launch of the VX kernel: the number of work items and their scale. In a work item,
 * get_global_id(i) is its index * globalWorkScale[i]; globalWorkSize[i] items cover all elements.
 *
 * x is the channel (4 per work item), y the column, z the row of one image in NHWC.
 */
static vx_status initialize_vx_kernel(const struct opkit_call *call)
{
    struct opkit_tensor input, output;
    bool align_corners;

    OPKIT_TRY(opkit_describe_half_tensor(call, RESIZEAREA_INDEX_INPUT, "input", &input));
    OPKIT_TRY(opkit_describe_half_tensor(call, RESIZEAREA_INDEX_OUTPUT, "output", &output));
    OPKIT_TRY(
        opkit_read_bool(call, RESIZEAREA_INDEX_ALIGN_CORNERS, "align_corners", &align_corners));
    if (input.rank != 4 || output.rank != 4 || input.shape[0] != 1 || output.shape[0] != 1 ||
        input.shape[3] != output.shape[3]) {
        return opkit_fail(call, VX_ERROR_NOT_SUPPORTED, "input",
                          "the VX kernel resizes one image, in NHWC");
    }
    const size_t height = output.shape[1], width = output.shape[2], channels = output.shape[3];
    const float geometry[4] = {
        resizearea_scale(input.shape[1], height, align_corners),
        resizearea_scale(input.shape[2], width, align_corners),
        (float)(input.shape[1] - 1),
        (float)(input.shape[2] - 1),
    };

    OPKIT_TRY(opkit_set_uniform(call, "low_halves_to_floats", opkit_low_halves_to_floats));
    OPKIT_TRY(opkit_set_uniform(call, "pack_halves", opkit_pack_halves));
    OPKIT_TRY(opkit_set_uniform(call, "geometry", geometry));

    const vx_kernel_execution_parameters_t launch = {
        .workDim = 3,
        .globalWorkScale = {ELEMENTS_PER_ITEM, 1, 1},
        .globalWorkSize = {(channels + ELEMENTS_PER_ITEM - 1) / ELEMENTS_PER_ITEM, width, height},
        /* localWorkSize stays 0: the driver chooses the size of work groups. */
    };
    return opkit_set_launch(call, &launch);
}

/* The generated callbacks call these functions: opkit/runtimes/rknn/kernel_hooks.h. */
static const struct opkit_kernel_hooks kernel_hooks = {
    .initialize_vx_kernel = initialize_vx_kernel,
};
