/*
 * The kernels of Exp, as RKNN's runtime calls them.
 *
 * The runtime loads this library, looks up vx_kernel_Exp_list and takes from it the description
 * that op.yml's kernel_index names: 0 is the CPU kernel, 1 the VX kernel. It works as generated;
 * the math is in exp_compute.h, the VX kernel's program in rknn_kernel_exp.vx.
 */
#include "VX/vx_khr_cnn.h"
#include "VX/vx_helper.h"
#include "VX/vx_ext_program.h"

#include "generated/exp_params.h"
#include "opkit/runtimes/rknn/launch.h"
#include "exp_compute.h"

/* Any number does: the runtime writes its own here. */
#define KERNEL_ENUM 0x100

/* What one work item of the VX kernel handles: 16-bit elements that fill a register of 128 bits. */
#define ELEMENTS_PER_ITEM 8

/* Computes Exp on the CPU. The runtime calls it for every inference. */
static vx_status VX_CALLBACK cpu_kernel_function(vx_node node, const vx_reference *parameters,
                                                 vx_uint32 parameter_count)
{
    const struct opkit_call call = {"Exp", node, parameters, parameter_count};
    struct exp_arguments arguments;

    vx_status status = exp_read(&call, &arguments);
    if (status == VX_SUCCESS) {
        const char *problem = exp_compute(&arguments.inputs, &arguments.params, &arguments.outputs);
        if (problem != NULL) {
            status = opkit_fail(&call, VX_FAILURE, NULL, "%s", problem);
        }
    }
    if (status == VX_SUCCESS) {
        status = exp_write(&call, &arguments);
    }
    exp_release(&arguments);
    return status;
}

/* Called while the graph is verified, before anything is allocated. The runtime requires one. */
static vx_status VX_CALLBACK validator(vx_node node, const vx_reference parameters[],
                                       vx_uint32 parameter_count, vx_meta_format metas[])
{
    const struct opkit_call call = {"Exp", node, parameters, parameter_count};

    (void)metas;
    if (parameter_count != EXP_PARAMETER_COUNT) {
        return opkit_fail(&call, VX_ERROR_INVALID_PARAMETERS, NULL,
                          "has %u parameters instead of %u", (unsigned)parameter_count,
                          (unsigned)EXP_PARAMETER_COUNT);
    }
    return VX_SUCCESS;
}

/* Called once, before the first inference: the place for tables that every inference needs. */
static vx_status VX_CALLBACK cpu_kernel_initializer(vx_node node, const vx_reference *parameters,
                                                    vx_uint32 parameter_count)
{
    (void)node;
    (void)parameters;
    (void)parameter_count;
    return VX_SUCCESS;
}

/* Called once, after the last inference. */
static vx_status VX_CALLBACK cpu_kernel_deinitializer(vx_node node, const vx_reference *parameters,
                                                      vx_uint32 parameter_count)
{
    (void)node;
    (void)parameters;
    (void)parameter_count;
    return VX_SUCCESS;
}

/* For VXC_DP4x4: output i is element i of the first operand, so a half becomes a float. */
static vx_uint32 low_halves_to_floats[16] = {
    0x01010101, 0x00000000, 0x00010000, 0x00030002, 0x02020202, 0x00000000, 0x00000000, 0x00000100,
    0x00003C00, 0x00000000, 0x00003C00, 0x00000000, 0x00003C00, 0x00000000, 0x00003C00, 0x00000000};

/* For VXC_DP4x4: output i is element 4 + i of the first operand. */
static vx_uint32 high_halves_to_floats[16] = {
    0x01010101, 0x00000000, 0x00050004, 0x00070006, 0x02020202, 0x00000000, 0x00000000, 0x00000100,
    0x00003C00, 0x00000000, 0x00003C00, 0x00000000, 0x00003C00, 0x00000000, 0x00003C00, 0x00000000};

/* For VXC_DP2x8: elements 0, 2, 4 and 6 of the first operand, then those of the second. */
static vx_uint32 pack_halves[16] = {
    0x11111111, 0x11110000, 0x06040200, 0x06040200, 0x22222222, 0x00000000, 0x00000000, 0x00000100,
    0x00003C00, 0x00003C00, 0x00003C00, 0x00003C00, 0x00003C00, 0x00003C00, 0x00003C00, 0x00003C00};

/*
 * Says how often, and in what steps, the PPU runs the VX kernel. A work item's get_global_id(i) is
 * its index times globalWorkScale[i]; with globalWorkSize[i] items, every element has its turn.
 *
 * x is the last dimension, y the one before it, z all the others: that the driver folds a fourth
 * dimension into z is an assumption.
 */
static vx_status VX_CALLBACK vx_kernel_initializer(vx_node node, const vx_reference *parameters,
                                                   vx_uint32 parameter_count)
{
    const struct opkit_call call = {"Exp", node, parameters, parameter_count};
    vx_kernel_execution_parameters_t launch = {0};
    struct opkit_tensor input, output;

    OPKIT_TRY(opkit_describe_half_tensor(&call, EXP_INDEX_INPUT, "input", &input));
    OPKIT_TRY(opkit_describe_half_tensor(&call, EXP_INDEX_OUTPUT, "output", &output));
    OPKIT_TRY(opkit_set_uniform(&call, "low_halves_to_floats", low_halves_to_floats));
    OPKIT_TRY(opkit_set_uniform(&call, "high_halves_to_floats", high_halves_to_floats));
    OPKIT_TRY(opkit_set_uniform(&call, "pack_halves", pack_halves));
    const size_t width = output.shape[output.rank - 1];
    const size_t height = output.rank > 1 ? output.shape[output.rank - 2] : 1;

    launch.workDim = 3;
    launch.globalWorkScale[0] = ELEMENTS_PER_ITEM;
    launch.globalWorkScale[1] = 1;
    launch.globalWorkScale[2] = 1;
    launch.globalWorkSize[0] = (width + ELEMENTS_PER_ITEM - 1) / ELEMENTS_PER_ITEM;
    launch.globalWorkSize[1] = height;
    launch.globalWorkSize[2] = output.size / (width * height);
    /* localWorkSize stays 0: the driver chooses how items are grouped. */
    return opkit_set_launch(&call, &launch);
}

static vx_status VX_CALLBACK vx_kernel_deinitializer(vx_node node, const vx_reference *parameters,
                                                     vx_uint32 parameter_count)
{
    (void)node;
    (void)parameters;
    (void)parameter_count;
    return VX_SUCCESS;
}

/* The descriptions are not const: the runtime writes the enumeration. */
static vx_kernel_description_t cpu_kernel_description = {
    .enumeration = KERNEL_ENUM,
    .name = "exp_cpu",
    .function = cpu_kernel_function,
    .parameters = kernel_params,
    .numParams = EXP_PARAMETER_COUNT,
    .validate = validator,
    .initialize = cpu_kernel_initializer,
    .deinitialize = cpu_kernel_deinitializer,
};

/* The name is that of the function in the .vx file; the function pointer stays NULL. */
static vx_kernel_description_t vx_kernel_description = {
    .enumeration = KERNEL_ENUM + 1,
    .name = "exp",
    .parameters = kernel_params,
    .numParams = EXP_PARAMETER_COUNT,
    .validate = validator,
    .initialize = vx_kernel_initializer,
    .deinitialize = vx_kernel_deinitializer,
};

/* What the runtime looks up, the only symbol that leaves this library. NULL ends the list. */
extern vx_kernel_description_t *vx_kernel_Exp_list[];
vx_kernel_description_t *vx_kernel_Exp_list[] = {
    &cpu_kernel_description,
    &vx_kernel_description,
    NULL,
};
