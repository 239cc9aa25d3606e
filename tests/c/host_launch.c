/*
 * An operator with a VX kernel, whose initializer takes global and local work sizes from its
 * params.
 */
#include "vx_operator.h"

enum {
    INPUT,
    OUTPUT,
    GLOBAL,
    LOCAL,
    COUNT
};

static vx_status read_sizes(vx_reference array, vx_size *sizes)
{
    vx_int32 items[3];
    const vx_status status = vxCopyArrayRange((vx_array)array, 0, 3, sizeof(vx_int32), items,
                                              VX_READ_ONLY, VX_MEMORY_TYPE_HOST);
    for (int i = 0; i < 3; i++) {
        sizes[i] = (vx_size)items[i];
    }
    return status;
}

static vx_status VX_CALLBACK initializer(vx_node node, const vx_reference *parameters,
                                         vx_uint32 count)
{
    static float factor = 2.5F;
    vx_kernel_execution_parameters_t launch = {
        .workDim = 3, .globalWorkScale = {8, 1, 1}, .globalWorkOffset = {0, 2, 0}};
    (void)count;
    vx_status status = read_sizes(parameters[GLOBAL], launch.globalWorkSize);
    if (status == VX_SUCCESS) {
        status = read_sizes(parameters[LOCAL], launch.localWorkSize);
    }
    if (status == VX_SUCCESS) {
        status = vxSetNodeUniform(node, "factor", 1, &factor);
    }
    return status == VX_SUCCESS
               ? vxSetNodeAttribute(node, VX_NODE_ATTRIBUTE_KERNEL_EXECUTION_PARAMETERS, &launch,
                                    sizeof launch)
               : status;
}

static vx_param_description_t kernel_params[COUNT] = {
    {VX_INPUT, VX_TYPE_TENSOR, VX_PARAMETER_STATE_REQUIRED},
    {VX_OUTPUT, VX_TYPE_TENSOR, VX_PARAMETER_STATE_REQUIRED},
    {VX_INPUT, VX_TYPE_ARRAY, VX_PARAMETER_STATE_REQUIRED},
    {VX_INPUT, VX_TYPE_ARRAY, VX_PARAMETER_STATE_REQUIRED},
};

VX_OPERATOR(Launch, "launch");
