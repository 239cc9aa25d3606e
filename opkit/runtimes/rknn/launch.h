/*
 * Functions for initialize_vx_kernel: query tensors, set launch, uniforms and border.
 *
 * Each function returns VX_SUCCESS; on an error it logs one line with the names of operator and
 * parameter, and returns the error status.
 */
#ifndef OPKIT_LAUNCH_H
#define OPKIT_LAUNCH_H

#include <math.h>

#include <VX/vx.h>
#include <VX/vx_ext_program.h>

#include "openvx.h"

/*
 * Reads type and shape of the tensor at `index`, not its data. Fails unless the elements have the
 * type `expected`: unlike the CPU kernel, a VX kernel gets elements unconverted.
 */
OPKIT_SMALL vx_status opkit_describe_vx_tensor(const struct opkit_call *call, vx_uint32 index,
                                               const char *name, vx_enum expected,
                                               struct opkit_tensor *tensor)
{
    struct opkit_device_tensor device;

    OPKIT_TRY(opkit_describe_tensor(call, index, name, &device, tensor));
    if (device.info->data_type != expected) {
        return opkit_fail(call, VX_ERROR_INVALID_TYPE, name,
                          "it holds VX_TYPE_%s; the VX kernel is for %s", device.info->name,
                          opkit_find_type(expected)->name);
    }
    return VX_SUCCESS;
}

/* The same for a tensor of halves. */
static inline vx_status opkit_describe_half_tensor(const struct opkit_call *call, vx_uint32 index,
                                                   const char *name, struct opkit_tensor *tensor)
{
    return opkit_describe_vx_tensor(call, index, name, VX_TYPE_FLOAT16, tensor);
}

/* The quantization of a tensor: number = scale * (element - zero_point). */
struct opkit_quantization {
    vx_float32 scale;
    vx_int32 zero_point;
};

/* Reads the quantization of the tensor at `index`; without one, scale is 1 and zero_point 0. */
OPKIT_SMALL vx_status opkit_read_quantization(const struct opkit_call *call, vx_uint32 index,
                                              const char *name,
                                              struct opkit_quantization *quantization)
{
    vx_reference reference;
    vx_enum format = VX_QUANT_NONE;
    vx_int32 position = 0; /* drivers require alignment that a vx_int8 may lack */

    quantization->scale = 1;
    quantization->zero_point = 0;
    OPKIT_TRY(opkit_find_reference(call, index, name, &reference));
    const vx_tensor tensor = (vx_tensor)reference;
    OPKIT_TRY(opkit_check(call, name, "read its quantization",
                          vxQueryTensor(tensor, VX_TENSOR_QUANT_FORMAT, &format, sizeof format)));
    switch (format) {
    case VX_QUANT_NONE:
        return VX_SUCCESS;
    case VX_QUANT_DYNAMIC_FIXED_POINT:
        OPKIT_TRY(opkit_check(
            call, name, "read its fixed point",
            vxQueryTensor(tensor, VX_TENSOR_FIXED_POINT_POSITION, &position, sizeof(vx_int8))));
        quantization->scale = ldexpf(1, -(vx_int8)position);
        return VX_SUCCESS;
    case VX_QUANT_AFFINE_SCALE:
        OPKIT_TRY(opkit_check(call, name, "read its scale",
                              vxQueryTensor(tensor, VX_TENSOR_SCALE, &quantization->scale,
                                            sizeof quantization->scale)));
        return opkit_check(call, name, "read its zero point",
                           vxQueryTensor(tensor, VX_TENSOR_ZERO_POINT, &quantization->zero_point,
                                         sizeof quantization->zero_point));
    default:
        return opkit_fail(call, VX_ERROR_NOT_SUPPORTED, name,
                          "its quantization %d is not supported (expected one scale)", (int)format);
    }
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

/*
 * Sets two uniforms of the kernel, a float and an int, to scale and zero point of the tensor at
 * `index`. Their names must stay valid, as in opkit_set_uniform.
 */
OPKIT_SMALL vx_status opkit_set_quantization(const struct opkit_call *call, vx_uint32 index,
                                             const char *name, const vx_char *scale,
                                             const vx_char *zero_point)
{
    struct opkit_quantization quantization;

    OPKIT_TRY(opkit_read_quantization(call, index, name, &quantization));
    OPKIT_TRY(opkit_set_uniform(call, scale, &quantization.scale));
    return opkit_set_uniform(call, zero_point, &quantization.zero_point);
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
