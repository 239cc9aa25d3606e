static const struct opkit_gpu_kernel gpu_kernel = {
    .name = "${kernel}",
    .lines = ${lower}_kernel_lines,
    .line_count = sizeof ${lower}_kernel_lines / sizeof *${lower}_kernel_lines,
};

/* Computes on the GPU, or else on the CPU. */
static int gpu_callback(rknn_custom_op_context *context, rknn_custom_op_tensor *input_tensors,
                        uint32_t input_count, rknn_custom_op_tensor *output_tensors,
                        uint32_t output_count)
{
${call}    struct opkit_launch launch = {0};

    int status = opkit_open_gpu_call(&call);
    if (status == 0 && !opkit_are_empty(&outputs, sizeof outputs)) {
$launch
        status = opkit_launch_call(&call, &launch, problem);
    }
    opkit_close_call(&call);
    if (status == 0) {
        return 0;
    }
    opkit_leave_gpu(context);
    return compute_callback(context, input_tensors, input_count, output_tensors, output_count);
}

