/*
 * The kernels of Exp: launch and set-up of the VX kernel in rknn_kernel_exp.vx.
 *
 * The callbacks and the kernel list are in generated/exp_kernels.h, the math is in
 * exp_compute.h.
 */
#include "exp_compute.h"
#include "generated/exp_kernels.h"
#include "include/opkit/runtimes/rknn/dot_products.h"
#include "include/opkit/runtimes/rknn/launch.h"

/* Elements per work item of the VX kernel: 16-bit elements in a register of 128 bits. */
#define ELEMENTS_PER_ITEM 8

/*
 * Sets the launch of the VX kernel: the number of work items and their scale. In a work item,
 * get_global_id(i) is its index * globalWorkScale[i]; globalWorkSize[i] items cover all elements.
 *
 * x is the last dimension, y the second to last, z all others. Assumption: the driver folds a
 * fourth dimension into z.
 */
static vx_status initialize_vx_kernel(const struct opkit_call *call)
{
    struct opkit_tensor input, output;

    OPKIT_TRY(opkit_describe_half_tensor(call, EXP_INDEX_INPUT, "input", &input));
    OPKIT_TRY(opkit_describe_half_tensor(call, EXP_INDEX_OUTPUT, "output", &output));
    OPKIT_TRY(opkit_set_uniform(call, "low_halves_to_floats", opkit_low_halves_to_floats));
    OPKIT_TRY(opkit_set_uniform(call, "high_halves_to_floats", opkit_high_halves_to_floats));
    OPKIT_TRY(opkit_set_uniform(call, "pack_halves", opkit_pack_halves));
    const size_t width = output.shape[output.rank - 1];
    const size_t height = output.rank > 1 ? output.shape[output.rank - 2] : 1;
    const vx_kernel_execution_parameters_t launch = {
        .workDim = 3,
        .globalWorkScale = {ELEMENTS_PER_ITEM, 1, 1},
        .globalWorkSize = {(width + ELEMENTS_PER_ITEM - 1) / ELEMENTS_PER_ITEM, height,
                           output.size / (width * height)},
        /* localWorkSize stays 0: the driver chooses the size of work groups. */
    };
    return opkit_set_launch(call, &launch);
}

/* The generated callbacks call these functions: opkit/runtimes/rknn/kernel_hooks.h. */
static const struct opkit_kernel_hooks kernel_hooks = {
    .initialize_vx_kernel = initialize_vx_kernel,
};
