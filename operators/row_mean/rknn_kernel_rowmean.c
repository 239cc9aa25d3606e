/*
 * The kernels of RowMean: launch and set-up of the VX kernel in rknn_kernel_rowmean.vx.
 *
 * The callbacks and the kernel list are in generated/rowmean_kernels.h, the math is in
 * rowmean_compute.h.
 */
#include "rowmean_compute.h"
#include "generated/rowmean_kernels.h"
#include "include/opkit/runtimes/rknn/dot_products.h"
#include "include/opkit/runtimes/rknn/launch.h"

/* Work items per mean; the same as in the .vx file. */
#define ITEMS_PER_GROUP 16

/*
 * Sets the launch of the VX kernel: the number of work items and their scale. In a work item,
 * get_global_id(i) is its index * globalWorkScale[i]; globalWorkSize[i] items cover all elements.
 *
 * A work group computes one mean, at the index y and z. Assumption: the driver folds a fourth
 * dimension into z.
 */
static vx_status initialize_vx_kernel(const struct opkit_call *call)
{
    struct opkit_tensor input, output;

    OPKIT_TRY(opkit_describe_half_tensor(call, ROWMEAN_INDEX_INPUT, "input", &input));
    OPKIT_TRY(opkit_describe_half_tensor(call, ROWMEAN_INDEX_OUTPUT, "output", &output));
    if (!rowmean_shapes_fit(&input, &output)) {
        return opkit_fail(call, VX_ERROR_INVALID_DIMENSION, "output",
                          "it must have the shape of input, with 1 as the last dimension");
    }
    const size_t height = output.rank > 1 ? output.shape[output.rank - 2] : 1;
    const vx_int32 width = (vx_int32)input.shape[input.rank - 1];

    OPKIT_TRY(opkit_set_uniform(call, "low_halves_to_floats", opkit_low_halves_to_floats));
    OPKIT_TRY(opkit_set_uniform(call, "high_halves_to_floats", opkit_high_halves_to_floats));
    OPKIT_TRY(opkit_set_uniform(call, "width", &width));

    const vx_kernel_execution_parameters_t launch = {
        .workDim = 3,
        .globalWorkScale = {1, 1, 1},
        .localWorkSize = {ITEMS_PER_GROUP, 1, 1},
        .globalWorkSize = {ITEMS_PER_GROUP, height, output.size / height},
    };
    return opkit_set_launch(call, &launch);
}

/* The generated callbacks call these functions: opkit/runtimes/rknn/kernel_hooks.h. */
static const struct opkit_kernel_hooks kernel_hooks = {
    .initialize_vx_kernel = initialize_vx_kernel,
};
