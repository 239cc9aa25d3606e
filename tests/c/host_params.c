/*
 * An operator that copies its params: for each, its output holds a row of 72 bytes: the OpenVX
 * type (4 bytes), the count of items (4), and the bytes of the value in memory (64).
 */
#include "VX/vx_khr_cnn.h"
#include "VX/vx_helper.h"

enum {
    FIRST_PARAM = 2,
    ROW = 72,
    SCALARS = 12,
    COUNT = FIRST_PARAM + SCALARS + 1
};

static vx_status show_scalar(vx_scalar scalar, vx_uint8 *row)
{
    vx_enum type = 0;
    const vx_uint32 one = 1;
    vx_status status = vxQueryScalar(scalar, VX_SCALAR_TYPE, &type, sizeof type);
    memcpy(row, &type, 4);
    memcpy(row + 4, &one, 4);
    return status == VX_SUCCESS ? vxCopyScalar(scalar, row + 8, VX_READ_ONLY, VX_MEMORY_TYPE_HOST)
                                : status;
}

static vx_status show_array(vx_array array, vx_uint8 *row)
{
    vx_enum type = 0;
    vx_size count = 0;
    vx_size capacity = 0;
    vxQueryArray(array, VX_ARRAY_ITEMTYPE, &type, sizeof type);
    vxQueryArray(array, VX_ARRAY_NUMITEMS, &count, sizeof count);
    vxQueryArray(array, VX_ARRAY_CAPACITY, &capacity, sizeof capacity);
    if (capacity != count) {
        return VX_FAILURE;
    }
    memcpy(row, &type, 4);
    const vx_uint32 shown = (vx_uint32)count;
    memcpy(row + 4, &shown, 4);
    return vxCopyArrayRange(array, 0, count, sizeof(vx_int32), row + 8, VX_READ_ONLY, 0);
}

static vx_status VX_CALLBACK kernel_function(vx_node node, const vx_reference *parameters,
                                             vx_uint32 count)
{
    vx_uint8 rows[SCALARS + 1][ROW] = {{0}};
    const vx_size start[] = {0, 0};
    const vx_size end[] = {ROW, SCALARS + 1};
    const vx_size strides[] = {1, ROW};
    vx_status status = VX_SUCCESS;

    (void)node;
    for (vx_uint32 i = FIRST_PARAM; status == VX_SUCCESS && i < count - 1; i++) {
        status = show_scalar((vx_scalar)parameters[i], rows[i - FIRST_PARAM]);
    }
    if (status == VX_SUCCESS) {
        status = show_array((vx_array)parameters[count - 1], rows[SCALARS]);
    }
    return status == VX_SUCCESS ? vxCopyTensorPatch((vx_tensor)parameters[1], 2, start, end,
                                                    strides, rows, VX_WRITE_ONLY, 0)
                                : status;
}

static vx_status VX_CALLBACK validator(vx_node node, const vx_reference parameters[],
                                       vx_uint32 count, vx_meta_format metas[])
{
    (void)node;
    (void)parameters;
    (void)metas;
    return count == COUNT ? VX_SUCCESS : VX_FAILURE;
}

#define SCALAR {VX_INPUT, VX_TYPE_SCALAR, VX_PARAMETER_STATE_REQUIRED}

static vx_param_description_t kernel_params[COUNT] = {
    {VX_INPUT, VX_TYPE_TENSOR, VX_PARAMETER_STATE_REQUIRED},
    {VX_OUTPUT, VX_TYPE_TENSOR, VX_PARAMETER_STATE_REQUIRED},
    SCALAR,
    SCALAR,
    SCALAR,
    SCALAR,
    SCALAR,
    SCALAR,
    SCALAR,
    SCALAR,
    SCALAR,
    SCALAR,
    SCALAR,
    SCALAR,
    {VX_INPUT, VX_TYPE_ARRAY, VX_PARAMETER_STATE_REQUIRED},
};

static vx_kernel_description_t kernel = {
    .name = "params_cpu",
    .function = kernel_function,
    .parameters = kernel_params,
    .numParams = COUNT,
    .validate = validator,
};

extern VX_API_ENTRY vx_kernel_description_t *vx_kernel_Params_list[];
vx_kernel_description_t *vx_kernel_Params_list[] = {&kernel, NULL};
