/*
 * The kernels of ReduceMean, as RKNN's runtime calls them.
 *
 * The runtime loads this library, looks up vx_kernel_ReduceMean_list and takes from it the description
 * that op.yml's kernel_index names: 0 is the CPU kernel, 1 the VX kernel. It works as generated; the
 * math is in reducemean_compute.h, the VX kernel's program in rknn_kernel_reducemean.vx.
 */
#include "VX/vx_khr_cnn.h"
#include "VX/vx_helper.h"
#include "VX/vx_ext_program.h"

#include "generated/reducemean_params.h"
#include "opkit/runtimes/rknn/launch.h"
#include "reducemean_compute.h"

/* Any number does: the runtime writes its own here. */
#define KERNEL_ENUM 0x100

/* How many work items of the VX kernel compute one mean, as the .vx file has it. */
#define ITEMS_PER_GROUP 16

/* Computes ReduceMean on the CPU. The runtime calls it for every inference. */
static vx_status VX_CALLBACK cpu_kernel_function(vx_node node, const vx_reference *parameters, vx_uint32 parameter_count)
{
    const struct opkit_call call = {"ReduceMean", node, parameters, parameter_count};
    struct reducemean_arguments arguments;

    vx_status status = reducemean_read(&call, &arguments);
    if (status == VX_SUCCESS) {
        const char *problem = reducemean_compute(&arguments.inputs, &arguments.params, &arguments.outputs);
        if (problem != NULL) {
            status = opkit_fail(&call, VX_FAILURE, NULL, "%s", problem);
        }
    }
    if (status == VX_SUCCESS) {
        status = reducemean_write(&call, &arguments);
    }
    reducemean_release(&arguments);
    if (status != VX_SUCCESS) {
        reducemean_invalidate(&call); /* the board reports success even so */
    }
    return status;
}

/* Called while the graph is verified, before anything is allocated. The runtime requires one. */
static vx_status VX_CALLBACK validator(vx_node node, const vx_reference parameters[], vx_uint32 parameter_count, vx_meta_format metas[])
{
    const struct opkit_call call = {"ReduceMean", node, parameters, parameter_count};

    (void)metas;
    if (parameter_count != REDUCEMEAN_PARAMETER_COUNT) {
        return opkit_fail(&call, VX_ERROR_INVALID_PARAMETERS, NULL, "has %u parameters instead of %u",
                          (unsigned)parameter_count, (unsigned)REDUCEMEAN_PARAMETER_COUNT);
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

/* Called once, after the last inference. */
static vx_status VX_CALLBACK cpu_kernel_deinitializer(vx_node node, const vx_reference *parameters, vx_uint32 parameter_count)
{
    (void)node;
    (void)parameters;
    (void)parameter_count;
    return VX_SUCCESS;
}

/* For VXC_DP4x4: output i is element i of the first operand, so a half becomes a float. */
static vx_uint32 low_halves_to_floats[16] = {
    0x01010101, 0x00000000, 0x00010000, 0x00030002,
    0x02020202, 0x00000000, 0x00000000, 0x00000100,
    0x00003C00, 0x00000000, 0x00003C00, 0x00000000,
    0x00003C00, 0x00000000, 0x00003C00, 0x00000000};

/* For VXC_DP4x4: output i is element 4 + i of the first operand. */
static vx_uint32 high_halves_to_floats[16] = {
    0x01010101, 0x00000000, 0x00050004, 0x00070006,
    0x02020202, 0x00000000, 0x00000000, 0x00000100,
    0x00003C00, 0x00000000, 0x00003C00, 0x00000000,
    0x00003C00, 0x00000000, 0x00003C00, 0x00000000};

/*
 * Says how often, and in what steps, the PPU runs the VX kernel. A work item's get_global_id(i) is
 * its index times globalWorkScale[i]; with globalWorkSize[i] items, every element has its turn.
 *
 * A group of work items computes one mean; y and z say which. That the driver folds a fourth
 * dimension into z is an assumption.
 */
static vx_status VX_CALLBACK vx_kernel_initializer(vx_node node, const vx_reference *parameters, vx_uint32 parameter_count)
{
    const struct opkit_call call = {"ReduceMean", node, parameters, parameter_count};
    vx_kernel_execution_parameters_t launch = {0};
    struct opkit_tensor input, output;

    OPKIT_TRY(opkit_describe_half_tensor(&call, REDUCEMEAN_INDEX_INPUT, "input", &input));
    OPKIT_TRY(opkit_describe_half_tensor(&call, REDUCEMEAN_INDEX_OUTPUT, "output", &output));
    if (!reducemean_shapes_fit(&input, &output)) {
        return opkit_fail(&call, VX_ERROR_INVALID_DIMENSION, "output",
                          "it must have the shape of input, with 1 as the last dimension");
    }
    const size_t height = output.rank > 1 ? output.shape[output.rank - 2] : 1;
    vx_int32 width = (vx_int32)input.shape[input.rank - 1];

    OPKIT_TRY(opkit_set_uniform(&call, "low_halves_to_floats", low_halves_to_floats));
    OPKIT_TRY(opkit_set_uniform(&call, "high_halves_to_floats", high_halves_to_floats));
    OPKIT_TRY(opkit_set_uniform(&call, "width", &width));

    launch.workDim = 3;
    for (size_t i = 0; i < launch.workDim; i++) {
        launch.globalWorkScale[i] = 1;
        launch.localWorkSize[i] = 1;
    }
    launch.localWorkSize[0] = ITEMS_PER_GROUP;
    launch.globalWorkSize[0] = ITEMS_PER_GROUP;
    launch.globalWorkSize[1] = height;
    launch.globalWorkSize[2] = output.size / height;
    return opkit_set_launch(&call, &launch);
}

static vx_status VX_CALLBACK vx_kernel_deinitializer(vx_node node, const vx_reference *parameters, vx_uint32 parameter_count)
{
    (void)node;
    (void)parameters;
    (void)parameter_count;
    return VX_SUCCESS;
}

/* Descriptions are not const: the runtime writes the enumeration. */
static vx_kernel_description_t cpu_kernel_description = {
    .enumeration = KERNEL_ENUM,
    .name = "reducemean_cpu",
    .function = cpu_kernel_function,
    .parameters = kernel_params,
    .numParams = REDUCEMEAN_PARAMETER_COUNT,
    .validate = validator,
    .initialize = cpu_kernel_initializer,
    .deinitialize = cpu_kernel_deinitializer,
};

/* The name is that of the function in the .vx file; the function pointer stays NULL. */
static vx_kernel_description_t vx_kernel_description = {
    .enumeration = KERNEL_ENUM + 1,
    .name = "reducemean",
    .parameters = kernel_params,
    .numParams = REDUCEMEAN_PARAMETER_COUNT,
    .validate = validator,
    .initialize = vx_kernel_initializer,
    .deinitialize = vx_kernel_deinitializer,
};

/* What the runtime looks up, the only symbol that leaves this library. NULL ends the list. */
extern vx_kernel_description_t *vx_kernel_ReduceMean_list[];
vx_kernel_description_t *vx_kernel_ReduceMean_list[] = {&cpu_kernel_description, &vx_kernel_description, NULL};
