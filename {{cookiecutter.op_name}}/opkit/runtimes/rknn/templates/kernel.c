/*
 * The kernels of ${name}, as RKNN's runtime calls them.
 *
$about
 */
$includes

/* Any number does: the runtime writes its own here. */
#define KERNEL_ENUM 0x100

/* Computes ${name} on the CPU. The runtime calls it for every inference. */
static vx_status VX_CALLBACK cpu_kernel_function(vx_node node, const vx_reference *parameters, vx_uint32 parameter_count)
{
    const struct opkit_call call = {"${name}", node, parameters, parameter_count};
    struct ${lower}_arguments arguments;

    vx_status status = ${lower}_read(&call, &arguments);
    if (status == VX_SUCCESS) {
        const char *problem = ${lower}_compute(&arguments.inputs, &arguments.params, &arguments.outputs);
        if (problem != NULL) {
            status = opkit_fail(&call, VX_FAILURE, NULL, "%s", problem);
        }
    }
    if (status == VX_SUCCESS) {
        status = ${lower}_write(&call, &arguments);
    }
    ${lower}_release(&arguments);
    if (status != VX_SUCCESS) {
        ${lower}_invalidate(&call); /* the board reports success even so */
    }
    return status;
}

/* Called while the graph is verified, before anything is allocated. The runtime requires one. */
static vx_status VX_CALLBACK validator(vx_node node, const vx_reference parameters[], vx_uint32 parameter_count, vx_meta_format metas[])
{
    const struct opkit_call call = {"${name}", node, parameters, parameter_count};

    (void)metas;
    if (parameter_count != ${upper}_PARAMETER_COUNT) {
        return opkit_fail(&call, VX_ERROR_INVALID_PARAMETERS, NULL, "has %u parameters instead of %u",
                          (unsigned)parameter_count, (unsigned)${upper}_PARAMETER_COUNT);
    }
    return VX_SUCCESS;
}

/* Called once, before the first inference: the place for tables that every inference needs. */
static vx_status VX_CALLBACK cpu_kernel_initializer(vx_node node, const vx_reference *parameters, vx_uint32 parameter_count)
{
    (void)node;
    (void)parameters;
    (void)parameter_count;
    return VX_SUCCESS;
}

/* Called once, after the last inference; also when validator or initializer failed. */
static vx_status VX_CALLBACK cpu_kernel_deinitializer(vx_node node, const vx_reference *parameters, vx_uint32 parameter_count)
{
    (void)node;
    (void)parameters;
    (void)parameter_count;
    return VX_SUCCESS;
}

$launch/* Descriptions are not const: the runtime writes the enumeration. */
static vx_kernel_description_t cpu_kernel_description = {
    .enumeration = KERNEL_ENUM,
    .name = "${lower}_cpu",
    .function = cpu_kernel_function,
    .parameters = kernel_params,
    .numParams = ${upper}_PARAMETER_COUNT,
    .validate = validator,
    .initialize = cpu_kernel_initializer,
    .deinitialize = cpu_kernel_deinitializer,
};

$description/* What the runtime looks up, the only symbol that leaves this library. NULL ends the list. */
extern vx_kernel_description_t *vx_kernel_${name}_list[];
$list
