/*
 * A kernel source in the style of the vendor's toolkit: its three headers, memset without string.h,
 * descriptions initialized by position. It halves every element. It only has to compile.
 */
#include <stdio.h>
#include <stdlib.h>

#include <VX/vx_khr_cnn.h>
#include <VX/vx_helper.h>
#include <VX/vx_ext_program.h>

#define HALVE_KERNEL_ENUM 4711
#define MAX_DIMS 8

static vx_param_description_t halve_params[] = {
    {VX_INPUT, VX_TYPE_TENSOR, VX_PARAMETER_STATE_REQUIRED},
    {VX_OUTPUT, VX_TYPE_TENSOR, VX_PARAMETER_STATE_REQUIRED},
    {VX_INPUT, VX_TYPE_ARRAY, VX_PARAMETER_STATE_REQUIRED},
    {VX_INPUT, VX_TYPE_SCALAR, VX_PARAMETER_STATE_OPTIONAL},
};

/* Sets the patch to the whole tensor; returns its count of elements. */
static vx_size halve_layout(const vx_uint32 *dims, vx_uint32 dim_count, vx_size *first,
                            vx_size *last, vx_size *strides)
{
    vx_size total = 1;
    vx_uint32 i;

    for (i = 0; i < dim_count; i++) {
        first[i] = 0;
        last[i] = dims[i];
        strides[i] = total * sizeof(vx_uint16);
        total *= dims[i];
    }
    return total;
}

static vx_status VX_CALLBACK halve_cpu(vx_node node, const vx_reference *references,
                                       vx_uint32 count)
{
    vx_tensor from = (vx_tensor)references[0];
    vx_tensor to = (vx_tensor)references[1];
    vx_array sizes = (vx_array)references[2];
    vx_scalar flag = (vx_scalar)references[3];
    vx_uint32 dims[MAX_DIMS];
    vx_uint32 dim_count = 0;
    vx_size first[MAX_DIMS], last[MAX_DIMS], strides[MAX_DIMS];
    vx_enum type = VX_TYPE_INVALID;
    vx_int8 fixed_point = 0;
    vx_int32 wanted[4];
    vx_size wanted_count = 0;
    vx_bool enabled = vx_false_e;
    vx_status status = VX_SUCCESS;
    vx_uint16 *data;
    vx_size total;
    vx_uint32 i;

    if (count != dimof(halve_params))
        return VX_ERROR_INVALID_PARAMETERS;
    memset(dims, 0, sizeof(dims));
    memset(wanted, 0, sizeof(wanted));
    status |= vxQueryTensor(from, VX_TENSOR_NUMBER_OF_DIMS, &dim_count, sizeof(dim_count));
    status |= vxQueryTensor(from, VX_TENSOR_DIMS, dims, sizeof(dims[0]) * dim_count);
    status |= vxQueryTensor(from, VX_TENSOR_DATA_TYPE, &type, sizeof(type));
    status |=
        vxQueryTensor(from, VX_TENSOR_FIXED_POINT_POSITION, &fixed_point, sizeof(fixed_point));
    status |= vxQueryArray(sizes, VX_ARRAY_NUMITEMS, &wanted_count, sizeof(wanted_count));
    status |= vxCopyArrayRange(sizes, 0, wanted_count, sizeof(vx_int32), wanted, VX_READ_ONLY,
                               VX_MEMORY_TYPE_HOST);
    status |= vxCopyScalar(flag, &enabled, VX_READ_ONLY, VX_MEMORY_TYPE_HOST);
    if (status != VX_SUCCESS || type != VX_TYPE_FLOAT16) {
        vxAddLogEntry((vx_reference)node, VX_FAILURE, "halve: %u dims of type %d\n", dim_count,
                      type);
        return VX_FAILURE;
    }
    total = halve_layout(dims, dim_count, first, last, strides);
    data = (vx_uint16 *)malloc(total * sizeof(vx_uint16));
    if (data == NULL)
        return VX_ERROR_NO_MEMORY;
    status |= vxCopyTensorPatch(from, dim_count, first, last, strides, data, VX_READ_ONLY, 0);
    if (enabled == vx_true_e)
        for (i = 0; i < total; i++)
            data[i] = (vx_uint16)(data[i] > 0x400 ? data[i] - 0x400 : data[i]);
    status |= vxCopyTensorPatch(to, dim_count, first, last, strides, data, VX_WRITE_ONLY, 0);
    free(data);
    return status;
}

static vx_status VX_CALLBACK halve_validate(vx_node node, const vx_reference references[],
                                            vx_uint32 count, vx_meta_format metas[])
{
    (void)node;
    if (count < 2)
        return VX_ERROR_INVALID_PARAMETERS;
    return vxSetMetaFormatFromReference(metas[1], references[0]);
}

static vx_status VX_CALLBACK halve_vx_initialize(vx_node node, const vx_reference *references,
                                                 vx_uint32 count)
{
    vx_kernel_execution_parameters_t launch = {
        3, {0, 0, 0}, {8, 1, 1}, {0, 0, 0}, {0, 0, 0},
    };
    vx_uint32 dims[4] = {0, 0, 0, 0};
    vx_status status = vxQueryTensor((vx_tensor)references[0], VX_TENSOR_DIMS, dims, sizeof(dims));

    (void)count;
    launch.globalWorkSize[0] = (dims[0] + 7) / 8;
    launch.globalWorkSize[1] = dims[1];
    launch.globalWorkSize[2] = dims[2];
    status |= vxSetNodeAttribute(node, VX_NODE_ATTRIBUTE_KERNEL_EXECUTION_PARAMETERS, &launch,
                                 sizeof(launch));
    return status;
}

static vx_status VX_CALLBACK halve_deinitialize(vx_node node, const vx_reference *references,
                                                vx_uint32 count)
{
    (void)node;
    (void)references;
    (void)count;
    return VX_SUCCESS;
}

#ifdef __cplusplus
extern "C" {
#endif

vx_kernel_description_t vx_kernel_Halve_cpu = {
    HALVE_KERNEL_ENUM, "halve_cpu", halve_cpu, halve_params, dimof(halve_params),
    halve_validate,    NULL,        NULL,      NULL,         halve_deinitialize,
};

vx_kernel_description_t vx_kernel_Halve_vx = {
    VX_KERNEL_BASE(VX_ID_DEFAULT, 1) + 1,
    "halve",
    NULL,
    halve_params,
    (sizeof(halve_params) / sizeof(halve_params[0])),
    halve_validate,
    NULL,
    NULL,
    halve_vx_initialize,
    halve_deinitialize,
};

extern vx_kernel_description_t *vx_kernel_Halve_list[];
vx_kernel_description_t *vx_kernel_Halve_list[] = {&vx_kernel_Halve_cpu, &vx_kernel_Halve_vx, NULL};

#ifdef __cplusplus
}
#endif
