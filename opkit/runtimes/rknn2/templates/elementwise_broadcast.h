    const struct opkit_tensor *inputs_in_order[] = {$tensors};

    if (!opkit_add_broadcast(launch, &outputs->$output, inputs_in_order, $input_count)) {
        return "the inputs do not broadcast to $output";
    }
