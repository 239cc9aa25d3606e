/* Adds the rows, and the count of elements of each. Returns NULL, or an error message. */
static const char *layernormalization_add_rows(const struct layernormalization_inputs *inputs,
                                               const struct layernormalization_params *params,
                                               const struct layernormalization_outputs *outputs,
                                               struct opkit_launch *launch)
{
    size_t rows;

    const char *problem = layernormalization_check(inputs, params, outputs, &rows);
    if (problem == NULL) {
        launch->global_size[1] = rows;
        opkit_add_int(launch, (int32_t)inputs->scale.size);
    }
    return problem;
}
