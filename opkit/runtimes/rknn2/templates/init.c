/* $what; called once. */
static int init_callback(rknn_custom_op_context *context, rknn_custom_op_tensor *input_tensors,
                         uint32_t input_count, rknn_custom_op_tensor *output_tensors,
                         uint32_t output_count)
{
    (void)input_tensors;
    (void)output_tensors;
    (void)output_count;
    return ${open};
}

