static vx_status VX_CALLBACK vx_kernel_initializer(vx_node node, const vx_reference *parameters,
                                                   vx_uint32 parameter_count)
{
    const struct opkit_call call = {operator_name, node, parameters, parameter_count};
    const opkit_kernel_hook initialize = kernel_hooks.initialize_vx_kernel;

    return opkit_call_required_hook(&call, initialize, "initialize_vx_kernel");
}

static vx_status VX_CALLBACK vx_kernel_deinitializer(vx_node node, const vx_reference *parameters,
                                                     vx_uint32 parameter_count)
{
    const struct opkit_call call = {operator_name, node, parameters, parameter_count};

    return opkit_call_hook(&call, kernel_hooks.deinitialize_vx_kernel);
}

/* `name` is the function in the .vx file; the function pointer stays NULL. */
static vx_kernel_description_t vx_kernel_description = {
    .enumeration = 0x101,
    .name = "${lower}",
    .parameters = kernel_params,
    .numParams = ${upper}_PARAMETER_COUNT,
    .validate = validator,
    .initialize = vx_kernel_initializer,
    .deinitialize = vx_kernel_deinitializer,
};
