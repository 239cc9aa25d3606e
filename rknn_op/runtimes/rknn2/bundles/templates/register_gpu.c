    int status = $call;
    bool has_gpu = false;

    for (int i = 0; i < $count; i++) {
        has_gpu = has_gpu || operators[i].target == RKNN_TARGET_TYPE_GPU;
    }
    if (status < 0 && has_gpu) {
        fprintf(stderr, "librknnrt refuses operators of the GPU (%d); the CPU computes\n", status);
$copies
        status = $call;
    }
    return status;
