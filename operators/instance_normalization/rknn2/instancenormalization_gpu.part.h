/* Adds the rows, and the counts of elements of each and of channels. */
static const char *
instancenormalization_add_rows(const struct instancenormalization_inputs *inputs,
                               const struct instancenormalization_params *params,
                               const struct instancenormalization_outputs *outputs,
                               struct opkit_launch *launch)
{
    const struct opkit_tensor *input = &inputs->input;

    (void)params;
    const char *problem = instancenormalization_check(inputs, &outputs->output);
    if (problem != NULL) {
        return problem;
    }
    const size_t rows = input->shape[0] * input->shape[1];
    launch->global_size[1] = rows;
    opkit_add_int(launch, (int32_t)(input->size / rows));
    opkit_add_int(launch, (int32_t)input->shape[1]);
    return NULL;
}
