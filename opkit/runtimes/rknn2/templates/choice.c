    if (opkit_choose_gpu(&custom_op_description, &gpu_kernel)) {
        custom_op.compute = gpu_callback;
        opkit_target_gpu(&custom_op);
    }
