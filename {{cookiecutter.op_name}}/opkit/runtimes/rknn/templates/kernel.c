/*
 * The kernels of ${name}, as RKNN's runtime calls them.
 *
 * The runtime loads this library, looks up vx_kernel_${name}_list and takes from it the description
 * that op.yml's kernel_index names: 0 is the CPU kernel, 1 the VX kernel. It works as generated; the
 * math is in ${lower}_compute.h, the VX kernel's program in rknn_kernel_${lower}.vx.
 */
#include "VX/vx_khr_cnn.h"
#include "VX/vx_helper.h"
#include "VX/vx_ext_program.h"

#include "generated/${lower}_params.h"
#include "opkit/runtimes/rknn/launch.h"
#include "${lower}_compute.h"

/* Any number does: the runtime writes its own here. */
#define KERNEL_ENUM 0x100

/* What one work item of the VX kernel handles: 16-bit elements that fill a register of 128 bits. */
#define ELEMENTS_PER_ITEM 8

/* Computes ${name} on the CPU. The runtime calls it for every inference. */
static vx_status VX_CALLBACK cpu_kernel_function(vx_node node, const vx_reference *parameters, vx_uint32 parameter_count)
{
    const struct opkit_call call = {"${name}", node, parameters, parameter_count};
    struct ${lower}_arguments arguments;

    vx_status status = ${lower}_read(&call, &arguments);
    if (status == VX_SUCCESS) {
        const char *problem = ${lower}_compute(&arguments.inputs, &arguments.params, &arguments.outputs);
        if (problem != NULL) {
            status = opkit_fail(&call, VX_FAILURE, NULL, "%s", problem);
        }
    }
    if (status == VX_SUCCESS) {
        status = ${lower}_write(&call, &arguments);
    }
    ${lower}_release(&arguments);
    if (status != VX_SUCCESS) {
        ${lower}_invalidate(&call); /* the board reports success even so */
    }
    return status;
}

/* Called while the graph is verified, before anything is allocated. The runtime requires one. */
static vx_status VX_CALLBACK validator(vx_node node, const vx_reference parameters[], vx_uint32 parameter_count, vx_meta_format metas[])
{
    const struct opkit_call call = {"${name}", node, parameters, parameter_count};

    (void)metas;
    if (parameter_count != ${upper}_PARAMETER_COUNT) {
        return opkit_fail(&call, VX_ERROR_INVALID_PARAMETERS, NULL, "has %u parameters instead of %u",
                          (unsigned)parameter_count, (unsigned)${upper}_PARAMETER_COUNT);
    }
    return VX_SUCCESS;
}

/* Called once, before the first inference: the place for tables that every inference needs. */
static vx_status VX_CALLBACK cpu_kernel_initializer(vx_node node, const vx_reference *parameters, vx_uint32 parameter_count)
{
    (void)node;
    (void)parameters;
    (void)parameter_count;
    return VX_SUCCESS;
}

/* Called once, after the last inference; also when validator or initializer failed. */
static vx_status VX_CALLBACK cpu_kernel_deinitializer(vx_node node, const vx_reference *parameters, vx_uint32 parameter_count)
{
    (void)node;
    (void)parameters;
    (void)parameter_count;
    return VX_SUCCESS;
}

/*
 * Says how often, and in what steps, the PPU runs the VX kernel. A work item's get_global_id(i) is
 * its index times globalWorkScale[i]; with globalWorkSize[i] items, every element has its turn.
 *
 * x is the last dimension, y the one before it, z all the others: that the driver folds a fourth
 * dimension into z is an assumption.
 */
static vx_status VX_CALLBACK vx_kernel_initializer(vx_node node, const vx_reference *parameters, vx_uint32 parameter_count)
{
    const struct opkit_call call = {"${name}", node, parameters, parameter_count};
    vx_kernel_execution_parameters_t launch = {0};
    struct opkit_tensor output;

    OPKIT_TRY(opkit_describe_half_tensor(&call, ${upper}_INDEX_${first_output}, "${first_output_name}", &output));
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

static vx_status VX_CALLBACK vx_kernel_deinitializer(vx_node node, const vx_reference *parameters, vx_uint32 parameter_count)
{
    (void)node;
    (void)parameters;
    (void)parameter_count;
    return VX_SUCCESS;
}

/* The descriptions are not const: the runtime writes the enumeration. */
static vx_kernel_description_t cpu_kernel_description = {
    .enumeration = KERNEL_ENUM,
    .name = "${lower}_cpu",
    .function = cpu_kernel_function,
    .parameters = kernel_params,
    .numParams = ${upper}_PARAMETER_COUNT,
    .validate = validator,
    .initialize = cpu_kernel_initializer,
    .deinitialize = cpu_kernel_deinitializer,
};

/* The name is that of the function in the .vx file; the function pointer stays NULL. */
static vx_kernel_description_t vx_kernel_description = {
    .enumeration = KERNEL_ENUM + 1,
    .name = "${lower}",
    .parameters = kernel_params,
    .numParams = ${upper}_PARAMETER_COUNT,
    .validate = validator,
    .initialize = vx_kernel_initializer,
    .deinitialize = vx_kernel_deinitializer,
};

/* What the runtime looks up, the only symbol that leaves this library. NULL ends the list. */
extern vx_kernel_description_t *vx_kernel_${name}_list[];
vx_kernel_description_t *vx_kernel_${name}_list[] = {&cpu_kernel_description, &vx_kernel_description, NULL};
