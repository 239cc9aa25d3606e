/*
 * What initialize_vx_kernel needs: to query the tensors, and to set what the driver launches.
 *
 * Each function returns VX_SUCCESS, or logs one line that names the operator and the parameter and
 * returns the status of what failed.
 */
#ifndef OPKIT_LAUNCH_H
#define OPKIT_LAUNCH_H

#include <VX/vx.h>
#include <VX/vx_ext_program.h>

#include "openvx.h"

/*
 * Describes the tensor at `index` (without data). Fails unless its elements are halves: a VX kernel
 * gets them as they are, not as float.
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
 * Sets a _viv_uniform of the kernel: `value` points to as much as the .vx file declares. The name
 * must live as long as the node.
 */
OPKIT_SMALL vx_status opkit_set_uniform(const struct opkit_call *call, const vx_char *name,
                                        const void *value)
{
    return opkit_check(call, name, "set this uniform",
                       vxSetNodeUniform(call->node, name, 1, (void *)value)); /* it only reads */
}

/* Sets over which work items the kernel runs. */
OPKIT_SMALL vx_status opkit_set_launch(const struct opkit_call *call,
                                       const vx_kernel_execution_parameters_t *launch)
{
    return opkit_check(call, NULL, "set the launch of the VX kernel",
                       vxSetNodeAttribute(call->node, VX_NODE_ATTRIBUTE_KERNEL_EXECUTION_PARAMETERS,
                                          launch, sizeof *launch));
}

/*
 * Sets what the kernel reads outside of a tensor: VX_BORDER_REPLICATE, the nearest element, or
 * VX_BORDER_CONSTANT, the element whose bits these are, for instance 0x3C00 for a half that is 1.
 */
OPKIT_SMALL vx_status opkit_set_border(const struct opkit_call *call, vx_enum mode, vx_uint32 bits)
{
    vx_border_t border = {mode, {{0}}};

    border.constant_value.U32 = bits;
    return opkit_check(call, NULL, "set the border of the VX kernel",
                       vxSetNodeAttribute(call->node, VX_NODE_BORDER, &border, sizeof border));
}

#endif
