/* Adds the rows, the counts of elements of each and of a part, and that of the scales. */
static const char *groupnormalization_add_rows(const struct groupnormalization_inputs *inputs,
                                               const struct groupnormalization_params *params,
                                               const struct groupnormalization_outputs *outputs,
                                               struct opkit_launch *launch)
{
    const struct opkit_tensor *x = &inputs->x;

    const char *problem = groupnormalization_check(inputs, params, &outputs->y);
    if (problem != NULL) {
        return problem;
    }
    const size_t groups = x->shape[0] * (size_t)params->num_groups; /* of all images */
    const size_t parts = inputs->scale.size / (size_t)params->num_groups; /* of a group */
    launch->global_size[1] = groups;
    opkit_add_int(launch, (int32_t)(x->size / groups));
    opkit_add_int(launch, (int32_t)(x->size / groups / parts));
    opkit_add_int(launch, (int32_t)inputs->scale.size);
    return NULL;
}
