/*
 * The kernels of ResizeArea, as RKNN's runtime calls them.
 *
 * The runtime loads this library, looks up vx_kernel_ResizeArea_list and takes from it the description
 * that op.yml's kernel_index names: 0 is the CPU kernel, 1 the VX kernel. It works as generated; the
 * math is in resizearea_compute.h, the VX kernel's program in rknn_kernel_resizearea.vx.
 */
#include "VX/vx_khr_cnn.h"
#include "VX/vx_helper.h"
#include "VX/vx_ext_program.h"

#include "generated/resizearea_params.h"
#include "opkit/runtimes/rknn/launch.h"
#include "resizearea_compute.h"

/* Any number does: the runtime writes its own here. */
#define KERNEL_ENUM 0x100

/* What one work item of the VX kernel handles: as many floats as fill a register of 128 bits. */
#define ELEMENTS_PER_ITEM 4

/* Computes ResizeArea on the CPU. The runtime calls it for every inference. */
static vx_status VX_CALLBACK cpu_kernel_function(vx_node node, const vx_reference *parameters, vx_uint32 parameter_count)
{
    const struct opkit_call call = {"ResizeArea", node, parameters, parameter_count};
    struct resizearea_arguments arguments;

    vx_status status = resizearea_read(&call, &arguments);
    if (status == VX_SUCCESS) {
        const char *problem = resizearea_compute(&arguments.inputs, &arguments.params, &arguments.outputs);
        if (problem != NULL) {
            status = opkit_fail(&call, VX_FAILURE, NULL, "%s", problem);
        }
    }
    if (status == VX_SUCCESS) {
        status = resizearea_write(&call, &arguments);
    }
    resizearea_release(&arguments);
    if (status != VX_SUCCESS) {
        resizearea_invalidate(&call); /* the board reports success even so */
    }
    return status;
}

/* Called while the graph is verified, before anything is allocated. The runtime requires one. */
static vx_status VX_CALLBACK validator(vx_node node, const vx_reference parameters[], vx_uint32 parameter_count, vx_meta_format metas[])
{
    const struct opkit_call call = {"ResizeArea", node, parameters, parameter_count};

    (void)metas;
    if (parameter_count != RESIZEAREA_PARAMETER_COUNT) {
        return opkit_fail(&call, VX_ERROR_INVALID_PARAMETERS, NULL, "has %u parameters instead of %u",
                          (unsigned)parameter_count, (unsigned)RESIZEAREA_PARAMETER_COUNT);
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

/* For VXC_DP2x8: elements 0, 2, 4 and 6 of the first operand, then those of the second. */
static vx_uint32 pack_halves[16] = {
    0x11111111, 0x11110000, 0x06040200, 0x06040200,
    0x22222222, 0x00000000, 0x00000000, 0x00000100,
    0x00003C00, 0x00003C00, 0x00003C00, 0x00003C00,
    0x00003C00, 0x00003C00, 0x00003C00, 0x00003C00};

/*
 * Says how often, and in what steps, the PPU runs the VX kernel. A work item's get_global_id(i) is
 * its index times globalWorkScale[i]; with globalWorkSize[i] items, every element has its turn.
 *
 * x is the channel, 4 in a work item, y the column and z the row of one image in NHWC.
 */
static vx_status VX_CALLBACK vx_kernel_initializer(vx_node node, const vx_reference *parameters, vx_uint32 parameter_count)
{
    const struct opkit_call call = {"ResizeArea", node, parameters, parameter_count};
    vx_kernel_execution_parameters_t launch = {0};
    struct opkit_tensor input, output;
    bool align_corners;

    OPKIT_TRY(opkit_describe_half_tensor(&call, RESIZEAREA_INDEX_INPUT, "input", &input));
    OPKIT_TRY(opkit_describe_half_tensor(&call, RESIZEAREA_INDEX_OUTPUT, "output", &output));
    OPKIT_TRY(opkit_read_bool(&call, RESIZEAREA_INDEX_ALIGN_CORNERS, "align_corners", &align_corners));
    if (input.rank != 4 || output.rank != 4 || input.shape[0] != 1 || output.shape[0] != 1 || input.shape[3] != output.shape[3]) {
        return opkit_fail(&call, VX_ERROR_NOT_SUPPORTED, "input",
                          "the VX kernel resizes one image, in NHWC");
    }
    const size_t height = output.shape[1], width = output.shape[2], channels = output.shape[3];
    float geometry[4] = {resizearea_scale(input.shape[1], height, align_corners),
                         resizearea_scale(input.shape[2], width, align_corners),
                         (float)(input.shape[1] - 1), (float)(input.shape[2] - 1)};

    OPKIT_TRY(opkit_set_uniform(&call, "low_halves_to_floats", low_halves_to_floats));
    OPKIT_TRY(opkit_set_uniform(&call, "pack_halves", pack_halves));
    OPKIT_TRY(opkit_set_uniform(&call, "geometry", geometry));

    launch.workDim = 3;
    launch.globalWorkScale[0] = ELEMENTS_PER_ITEM;
    launch.globalWorkScale[1] = 1;
    launch.globalWorkScale[2] = 1;
    launch.globalWorkSize[0] = (channels + ELEMENTS_PER_ITEM - 1) / ELEMENTS_PER_ITEM;
    launch.globalWorkSize[1] = width;
    launch.globalWorkSize[2] = height;
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

/* Descriptions are not const: the runtime writes the enumeration. */
static vx_kernel_description_t cpu_kernel_description = {
    .enumeration = KERNEL_ENUM,
    .name = "resizearea_cpu",
    .function = cpu_kernel_function,
    .parameters = kernel_params,
    .numParams = RESIZEAREA_PARAMETER_COUNT,
    .validate = validator,
    .initialize = cpu_kernel_initializer,
    .deinitialize = cpu_kernel_deinitializer,
};

/* The name is that of the function in the .vx file; the function pointer stays NULL. */
static vx_kernel_description_t vx_kernel_description = {
    .enumeration = KERNEL_ENUM + 1,
    .name = "resizearea",
    .parameters = kernel_params,
    .numParams = RESIZEAREA_PARAMETER_COUNT,
    .validate = validator,
    .initialize = vx_kernel_initializer,
    .deinitialize = vx_kernel_deinitializer,
};

/* What the runtime looks up, the only symbol that leaves this library. NULL ends the list. */
extern vx_kernel_description_t *vx_kernel_ResizeArea_list[];
vx_kernel_description_t *vx_kernel_ResizeArea_list[] = {&cpu_kernel_description, &vx_kernel_description, NULL};
