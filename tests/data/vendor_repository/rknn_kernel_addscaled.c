/*
 * A kernel file in the style of the vendor's tool: its three headers, one table
 * of parameters, callbacks for both kernels, unused variables, and the list at the end. The
 * operator computes input0 - scale * input1, plus the sum of an array.
 */
#include <stdio.h>
#include <stdlib.h>

#include <VX/vx_khr_cnn.h>
#include <VX/vx_helper.h>
#include <VX/vx_ext_program.h>

#include "addscaled_halves.h"

#define KERNEL_ENUM 100
#define MAX_DIMS 6
#define OUTPUT_INDEX 2

static vx_param_description_t kernel_params[] = {
    {VX_INPUT, VX_TYPE_TENSOR, VX_PARAMETER_STATE_REQUIRED}, /* input0 */
    {VX_INPUT, VX_TYPE_TENSOR, VX_PARAMETER_STATE_REQUIRED}, /* input1 */
    {VX_OUTPUT, VX_TYPE_TENSOR, VX_PARAMETER_STATE_REQUIRED}, /* output0 */
    {VX_INPUT, VX_TYPE_SCALAR, VX_PARAMETER_STATE_REQUIRED},
    {VX_INPUT, VX_TYPE_ARRAY, VX_PARAMETER_STATE_REQUIRED},
};

static float half_to_float(vx_uint16 half)
{
    vx_int32 bits = (half & 0x7C00) ? ((half & 0x7FFF) << 13) + (112 << 23) : 0;
    vx_int32 sign = half & 0x8000;
    float value;

    sign <<= 16;
    bits |= sign;
    value = *(float *)&bits;
    return value;
}

static vx_status copy_halves(vx_tensor tensor, vx_uint16 *data, vx_uint32 *count, vx_enum usage)
{
    vx_uint32 dims[MAX_DIMS], rank = 0, i;
    vx_size start[MAX_DIMS], end[MAX_DIMS], stride[MAX_DIMS];
    vx_size total = 1;
    vx_status status = VX_SUCCESS;

    memset(dims, 0, sizeof(dims));
    status |= vxQueryTensor(tensor, VX_TENSOR_NUMBER_OF_DIMS, &rank, sizeof(rank));
    status |= vxQueryTensor(tensor, VX_TENSOR_DIMS, dims, sizeof(dims[0]) * rank);
    for (i = 0; i < rank; i++) {
        start[i] = 0;
        end[i] = dims[i];
        stride[i] = total * sizeof(vx_uint16);
        total *= dims[i];
    }
    *count = (vx_uint32)total;
    if (data != NULL)
        status |= vxCopyTensorPatch(tensor, rank, start, end, stride, data, usage, 0);
    return status;
}

static vx_status VX_CALLBACK cpu_kernel_function(vx_node node, const vx_reference *parameters,
                                                 vx_uint32 parameter_count)
{
    vx_tensor input0 = (vx_tensor)parameters[0];
    vx_tensor input1 = (vx_tensor)parameters[1];
    vx_tensor output0 = (vx_tensor)parameters[OUTPUT_INDEX];
    vx_array offsets = (vx_array)parameters[4];
    vx_float32 scale = 0, sum = 0;
    vx_int32 items[16];
    vx_size item_count = 0;
    vx_uint32 count = 0;
    vx_status status = VX_SUCCESS;
    vx_int16 *a, *b;
    int i, unused_variable;

    status |= vxCopyScalar((vx_scalar)parameters[3], &scale, VX_READ_ONLY, VX_MEMORY_TYPE_HOST);
    status |= vxQueryArray(offsets, VX_ARRAY_NUMITEMS, &item_count, sizeof(item_count));
    status |= vxCopyArrayRange(offsets, 0, item_count, sizeof(items[0]), items, VX_READ_ONLY,
                               VX_MEMORY_TYPE_HOST);
    for (i = 0; i < item_count; i++)
        sum += items[i];
    status |= copy_halves(input0, NULL, &count, VX_READ_ONLY);
    a = (vx_int16 *)malloc(count * sizeof(a[0]));
    b = (vx_int16 *)malloc(count * sizeof(b[0]));
    status |= copy_halves(input0, a, &count, VX_READ_ONLY);
    status |= copy_halves(input1, b, &count, VX_READ_ONLY);
    for (i = 0; i < count; i++)
        a[i] = float_to_half(half_to_float(a[i]) - scale * half_to_float(b[i]) + sum);
    status |= copy_halves(output0, a, &count, VX_WRITE_ONLY);
    free(a);
    free(b);
    return status;
}

static vx_status VX_CALLBACK validator(vx_node node, const vx_reference parameters[],
                                       vx_uint32 parameter_count, vx_meta_format metas[])
{
    return VX_SUCCESS;
}

static vx_status VX_CALLBACK initializer(vx_node node, const vx_reference *parameters,
                                         vx_uint32 parameter_count)
{
    return VX_SUCCESS;
}

static vx_status VX_CALLBACK vx_initializer(vx_node node, const vx_reference *parameters,
                                            vx_uint32 parameter_count)
{
    vx_kernel_execution_parameters_t launch = {
        3, {0, 0, 0}, {8, 1, 1}, {0, 0, 0}, {0, 0, 0},
    };
    vx_uint32 dims[4] = {1, 1, 1, 1};
    vx_status status = vxQueryTensor((vx_tensor)parameters[0], VX_TENSOR_DIMS, dims, sizeof(dims));

    launch.globalWorkSize[0] = (dims[0] + 7) / 8;
    launch.globalWorkSize[1] = dims[1];
    launch.globalWorkSize[2] = dims[2];
    status |= vxSetNodeAttribute(node, VX_NODE_ATTRIBUTE_KERNEL_EXECUTION_PARAMETERS, &launch,
                                 sizeof(launch));
    return status;
}

static vx_status VX_CALLBACK deinitializer(vx_node node, const vx_reference *parameters,
                                           vx_uint32 parameter_count)
{
    return VX_SUCCESS;
}

static vx_kernel_description_t vx_kernel_AddScaled_cpu = {
    KERNEL_ENUM,
    "addscaled_cpu",
    cpu_kernel_function,
    kernel_params,
    dimof(kernel_params),
    validator,
    NULL,
    NULL,
    initializer,
    deinitializer,
};

static vx_kernel_description_t vx_kernel_AddScaled_vx = {
    KERNEL_ENUM + 1, "addscaled", NULL, kernel_params,  dimof(kernel_params),
    validator,       NULL,        NULL, vx_initializer, deinitializer,
};

vx_kernel_description_t *vx_kernel_AddScaled_list[] = {&vx_kernel_AddScaled_cpu,
                                                       &vx_kernel_AddScaled_vx, NULL};
