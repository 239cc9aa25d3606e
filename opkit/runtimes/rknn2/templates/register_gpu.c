    int status = rknn_register_custom_ops(context, operators, OPERATOR_COUNT);
    if (status < 0 && operators[0].target == RKNN_TARGET_TYPE_GPU) {
        fprintf(stderr, "$name: librknnrt refuses it on the GPU (%d); the CPU computes\n", status);
        operators[0] = *${lower}_custom_op_of_cpu();
        status = rknn_register_custom_ops(context, operators, OPERATOR_COUNT);
    }
    return status;
