/*
 * The launch of the generated VX kernel of an elementwise operator, for initialize_vx_kernel.
 */
#ifndef OPKIT_ELEMENTWISE_LAUNCH_H
#define OPKIT_ELEMENTWISE_LAUNCH_H

#include "dot_products.h"
#include "launch.h"

/* Elements per work item of the VX kernel: 16-bit elements in a register of 128 bits. */
#define OPKIT_ELEMENTS_PER_ITEM 8

/*
 * Sets uniforms and launch of the VX kernel: the number of work items and their scale. In a work
 * item, get_global_id(i) is its index * globalWorkScale[i]; globalWorkSize[i] items cover all
 * elements. x is the last dimension, y the second to last, z all others. Assumption: the driver
 * folds a fourth dimension into z.
 *
 * `names` are those of the inputs and, at last, of the output. Fails unless all are halves of one
 * shape: unlike the CPU kernel, the VX kernel neither converts nor broadcasts.
 */
OPKIT_SMALL vx_status opkit_launch_elementwise(const struct opkit_call *call,
                                               const char *const *names, vx_uint32 count)
{
    struct opkit_tensor output, input;

    OPKIT_TRY(opkit_describe_half_tensor(call, count - 1, names[count - 1], &output));
    for (vx_uint32 i = 0; i + 1 < count; i++) {
        OPKIT_TRY(opkit_describe_half_tensor(call, i, names[i], &input));
        if (memcmp(input.shape, output.shape, sizeof input.shape) != 0) {
            return opkit_fail(call, VX_ERROR_NOT_SUPPORTED, names[i],
                              "it does not have the shape of %s, and the VX kernel does not "
                              "broadcast; the CPU kernel does (kernel_index: 0 in op.yml)",
                              names[count - 1]);
        }
    }
    OPKIT_TRY(opkit_set_uniform(call, "low_halves_to_floats", opkit_low_halves_to_floats));
    OPKIT_TRY(opkit_set_uniform(call, "high_halves_to_floats", opkit_high_halves_to_floats));
    OPKIT_TRY(opkit_set_uniform(call, "pack_halves", opkit_pack_halves));
    const size_t width = output.shape[output.rank - 1];
    const size_t height = output.rank > 1 ? output.shape[output.rank - 2] : 1;
    const vx_kernel_execution_parameters_t launch = {
        .workDim = 3,
        .globalWorkScale = {OPKIT_ELEMENTS_PER_ITEM, 1, 1},
        .globalWorkSize = {(width + OPKIT_ELEMENTS_PER_ITEM - 1) / OPKIT_ELEMENTS_PER_ITEM, height,
                           output.size / (width * height)},
        /* localWorkSize stays 0: the driver chooses the size of work groups. */
    };
    return opkit_set_launch(call, &launch);
}

#endif
