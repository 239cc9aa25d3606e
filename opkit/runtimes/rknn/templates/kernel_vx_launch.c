/* What one work item of the VX kernel handles: 16-bit elements that fill a register of 128 bits. */
#define ELEMENTS_PER_ITEM 8

/*
 * Says how often, and in what steps, the PPU runs the VX kernel. A work item's get_global_id(i) is
 * its index times globalWorkScale[i]; with globalWorkSize[i] items, every element has its turn.
 *
 * x is the last dimension, y the one before it, z all the others: that the driver folds a fourth
 * dimension into z is an assumption.
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
        /* localWorkSize stays 0: the driver chooses how items are grouped. */
    };
    return opkit_set_launch(call, &launch);
}

/* What the callbacks call, and when: opkit/runtimes/rknn/kernel_hooks.h. */
static const struct opkit_kernel_hooks kernel_hooks = {
    .initialize_vx_kernel = initialize_vx_kernel,
};
