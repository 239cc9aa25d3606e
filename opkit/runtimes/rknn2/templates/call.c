    struct ${lower}_inputs inputs;
    struct ${lower}_params params;
    struct ${lower}_outputs outputs;
    struct opkit_call call = {
        .op = &custom_op_description,
        .context = context,
        .input_tensors = input_tensors,
        .input_count = input_count,
        .output_tensors = output_tensors,
        .output_count = output_count,
        .inputs = &inputs,
        .params = &params,
        .outputs = &outputs,
    };
