/*
 * An operator whose VX kernel reads outside of its tensor. Its initializer sets the border of the
 * params, if any.
 */
#include "vx_operator.h"

#include "opkit/runtimes/rknn/launch.h"

enum {
    INPUT,
    OUTPUT,
    MODE, /* 0: the initializer sets no border */
    BITS, /* of the constant */
    SIZE, /* of the attribute */
    WHAT, /* for the kernel */
    OUTSIDE, /* for the reference */
    COUNT
};

enum {
    ELEMENTS_PER_ITEM = 4
};

static vx_status set_border(const struct opkit_call *call)
{
    const vx_enum mode = (vx_enum)bits_of(call->parameters, MODE);
    const vx_size size = bits_of(call->parameters, SIZE);
    const vx_uint8 nothing[32] = {0};

    if (size != sizeof(vx_border_t)) {
        return vxSetNodeAttribute(call->node, VX_NODE_BORDER, nothing, size);
    }
    return mode == 0 ? VX_SUCCESS : opkit_set_border(call, mode, bits_of(call->parameters, BITS));
}

static vx_status VX_CALLBACK initializer(vx_node node, const vx_reference *parameters,
                                         vx_uint32 count)
{
    const struct opkit_call call = {"Border", node, parameters, count};
    vx_kernel_execution_parameters_t launch = {.workDim = 2,
                                               .globalWorkScale = {ELEMENTS_PER_ITEM, 1}};
    struct opkit_device_tensor device;
    struct opkit_tensor output;

    OPKIT_TRY(opkit_describe_tensor(&call, OUTPUT, "output", &device, &output));
    launch.globalWorkSize[0] = (output.shape[1] + ELEMENTS_PER_ITEM - 1) / ELEMENTS_PER_ITEM;
    launch.globalWorkSize[1] = output.shape[0];
    OPKIT_TRY(set_border(&call));
    return opkit_set_launch(&call, &launch);
}

static vx_param_description_t kernel_params[COUNT] = {
    {VX_INPUT, VX_TYPE_TENSOR, VX_PARAMETER_STATE_REQUIRED},
    {VX_OUTPUT, VX_TYPE_TENSOR, VX_PARAMETER_STATE_REQUIRED},
    {VX_INPUT, VX_TYPE_SCALAR, VX_PARAMETER_STATE_REQUIRED},
    {VX_INPUT, VX_TYPE_SCALAR, VX_PARAMETER_STATE_REQUIRED},
    {VX_INPUT, VX_TYPE_SCALAR, VX_PARAMETER_STATE_REQUIRED},
    {VX_INPUT, VX_TYPE_SCALAR, VX_PARAMETER_STATE_REQUIRED},
    {VX_INPUT, VX_TYPE_SCALAR, VX_PARAMETER_STATE_REQUIRED},
};

VX_OPERATOR(Border, "border");
