/* What one work item of the VX kernel handles: 16-bit elements that fill a register of 128 bits. */
#define ELEMENTS_PER_ITEM 8

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
