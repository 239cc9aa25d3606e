/* Elements per work item of the VX kernel: $about. */
#define ELEMENTS_PER_ITEM $elements

/*
 * Sets the launch of the VX kernel: the number of work items and their scale. In a work item,
 * get_global_id(i) is its index * globalWorkScale[i]; globalWorkSize[i] items cover all elements.
 *
 * x is the last dimension, y the second to last, z all others. Assumption: the driver folds a
 * fourth dimension into z.
 */
static vx_status initialize_vx_kernel(const struct opkit_call *call)
{
    struct opkit_tensor output;

$describe
    const size_t width = output.shape[output.rank - 1];
    const size_t height = output.rank > 1 ? output.shape[output.rank - 2] : 1;
    const vx_kernel_execution_parameters_t launch = {
        .workDim = 3,
        .globalWorkScale = {ELEMENTS_PER_ITEM, 1, 1},
        .globalWorkSize = {(width + ELEMENTS_PER_ITEM - 1) / ELEMENTS_PER_ITEM, height,
                           output.size / (width * height)},
        /* localWorkSize stays 0: the driver chooses the size of work groups. */
    };
    return opkit_set_launch(call, &launch);
}

/* The generated callbacks call these functions: opkit/runtimes/rknn/kernel_hooks.h. */
static const struct opkit_kernel_hooks kernel_hooks = {
    .initialize_vx_kernel = initialize_vx_kernel,
};
