/* The name is that of the function in the .vx file; the function pointer stays NULL. */
static vx_kernel_description_t vx_kernel_description = {
    .enumeration = KERNEL_ENUM + 1,
    .name = "${lower}",
    .parameters = kernel_params,
    .numParams = ${upper}_PARAMETER_COUNT,
    .validate = validator,
    .initialize = vx_kernel_initializer,
    .deinitialize = vx_kernel_deinitializer,
};
