/*
 * Functions for initialize_vx_kernel: query tensors, set launch, uniforms and border.
 *
 * Each function returns VX_SUCCESS; on an error it logs one line with the names of operator and
 * parameter, and returns the error status.
 */
#ifndef OPKIT_LAUNCH_H
#define OPKIT_LAUNCH_H

#include <VX/vx.h>
#include <VX/vx_ext_program.h>

#include "openvx.h"

/*
 * Reads type and shape of the tensor at `index`, not its data. Fails unless the elements are
 * halves: unlike the CPU kernel, a VX kernel gets elements unconverted.
 */
OPKIT_SMALL vx_status opkit_describe_half_tensor(const struct opkit_call *call, vx_uint32 index,
                                                 const char *name, struct opkit_tensor *tensor)
{
    struct opkit_device_tensor device;

    OPKIT_TRY(opkit_describe_tensor(call, index, name, &device, tensor));
    if (device.info->data_type != VX_TYPE_FLOAT16) {
        return opkit_fail(call, VX_ERROR_INVALID_TYPE, name,
                          "it holds VX_TYPE_%s; the VX kernel is for FLOAT16", device.info->name);
    }
    return VX_SUCCESS;
}

/*
 * Sets a _viv_uniform of the kernel. `value` points to data of the type that the .vx file declares.
 * `name` must stay valid for the node's lifetime: a string literal does.
 */
OPKIT_SMALL vx_status opkit_set_uniform(const struct opkit_call *call, const vx_char *name,
                                        const void *value)
{
    return opkit_check(call, name, "set this uniform",
                       vxSetNodeUniform(call->node, name, 1, (void *)value)); /* not modified */
}

/* Sets the launch: number, scale and groups of the kernel's work items. */
OPKIT_SMALL vx_status opkit_set_launch(const struct opkit_call *call,
                                       const vx_kernel_execution_parameters_t *launch)
{
    return opkit_check(call, NULL, "set the launch of the VX kernel",
                       vxSetNodeAttribute(call->node, VX_NODE_ATTRIBUTE_KERNEL_EXECUTION_PARAMETERS,
                                          launch, sizeof *launch));
}

/*
 * Sets the border mode: the value of reads outside of a tensor. VX_BORDER_REPLICATE gives the
 * nearest element; VX_BORDER_CONSTANT gives the element with these `bits`, for instance 0x3C00, the
 * half 1.0.
 */
OPKIT_SMALL vx_status opkit_set_border(const struct opkit_call *call, vx_enum mode, vx_uint32 bits)
{
    vx_border_t border = {mode, {{0}}};

    border.constant_value.U32 = bits;
    return opkit_check(call, NULL, "set the border of the VX kernel",
                       vxSetNodeAttribute(call->node, VX_NODE_BORDER, &border, sizeof border));
}

#endif
