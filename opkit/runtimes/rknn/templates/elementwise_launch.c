/* Sets the launch of the VX kernel: opkit/runtimes/rknn/elementwise_launch.h. */
static vx_status initialize_vx_kernel(const struct opkit_call *call)
{
$names
    return opkit_launch_elementwise(call, names, sizeof names / sizeof names[0]);
}

/* The generated callbacks call these functions: opkit/runtimes/rknn/kernel_hooks.h. */
static const struct opkit_kernel_hooks kernel_hooks = {
    .initialize_vx_kernel = initialize_vx_kernel,
};
