/* Adds the rows, and the count of elements of each. Returns NULL, or an error message. */
static const char *rmsnormalization_add_rows(const struct rmsnormalization_inputs *inputs,
                                             const struct rmsnormalization_params *params,
                                             const struct rmsnormalization_outputs *outputs,
                                             struct opkit_launch *launch)
{
    const char *problem = rmsnormalization_check(inputs, params, &outputs->y);
    if (problem == NULL) {
        launch->global_size[1] = inputs->x.size / inputs->scale.size;
        opkit_add_int(launch, (int32_t)inputs->scale.size);
    }
    return problem;
}
