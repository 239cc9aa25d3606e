/*
 * An operator whose VX kernel, one of three in its file, converts elements of any type to floats by
 * the attributes of the input. A param gives the number of work items.
 */
#include "vx_operator.h"

#include "opkit/runtimes/rknn/launch.h"

enum {
    INPUT,
    OUTPUT,
    ITEMS, /* of the launch, in x; each handles 4 elements */
    ROWS, /* of the launch, in y */
    BFLOAT16, /* for the reference */
    COUNT
};

/* Sets the uniforms from the attributes of the input tensor. */
static vx_status set_uniforms(const struct opkit_call *call)
{
    const vx_tensor input = (vx_tensor)call->parameters[INPUT];
    vx_enum type;

    OPKIT_TRY(vxQueryTensor(input, VX_TENSOR_DATA_TYPE, &type, sizeof type));
    OPKIT_TRY(opkit_set_uniform(call, "type", &type));
    return opkit_set_quantization(call, INPUT, "input", "scale", "zero_point");
}

static vx_status VX_CALLBACK initializer(vx_node node, const vx_reference *parameters,
                                         vx_uint32 count)
{
    const struct opkit_call call = {"Tensors", node, parameters, count};
    const vx_kernel_execution_parameters_t launch = {
        .workDim = 2,
        .globalWorkScale = {4, 1},
        .globalWorkSize = {bits_of(parameters, ITEMS), bits_of(parameters, ROWS)},
    };

    OPKIT_TRY(set_uniforms(&call));
    return opkit_set_launch(&call, &launch);
}

static vx_param_description_t kernel_params[COUNT] = {
    {VX_INPUT, VX_TYPE_TENSOR, VX_PARAMETER_STATE_REQUIRED},
    {VX_OUTPUT, VX_TYPE_TENSOR, VX_PARAMETER_STATE_REQUIRED},
    {VX_INPUT, VX_TYPE_SCALAR, VX_PARAMETER_STATE_REQUIRED},
    {VX_INPUT, VX_TYPE_SCALAR, VX_PARAMETER_STATE_REQUIRED},
    {VX_INPUT, VX_TYPE_SCALAR, VX_PARAMETER_STATE_REQUIRED},
};

VX_OPERATOR(Tensors, "to_float");
