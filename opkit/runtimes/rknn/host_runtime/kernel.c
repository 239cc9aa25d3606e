/* Kernels, and the programs that VX kernels come from. */
#include <stdio.h>

#include "opkit/check/harness/memory/libc_memory.h"

#include "hostrt.h"

static void destroy_kernel(vx_reference reference)
{
    __libc_free(((vx_kernel)reference)->parameters);
}

static vx_kernel add_kernel(vx_context context, const vx_char *name, vx_enum enumeration,
                            vx_kernel_f function, vx_uint32 parameter_count,
                            vx_kernel_validate_f validate, vx_kernel_initialize_f initialize,
                            vx_kernel_deinitialize_f deinitialize)
{
    if (name == NULL || name[strspn(name, ":")] == '\0' ||
        memchr(name, '\0', VX_MAX_KERNEL_NAME) == NULL || parameter_count == 0 ||
        validate == NULL) {
        return (vx_kernel)hostrt_new_error(context, VX_ERROR_INVALID_PARAMETERS);
    }
    vx_param_description_t *parameters = __libc_calloc(parameter_count, sizeof *parameters);
    vx_kernel kernel = hostrt_new(context, VX_TYPE_KERNEL, sizeof *kernel, destroy_kernel);
    if (kernel == NULL || parameters == NULL) {
        __libc_free(parameters);
        return NULL;
    }
    snprintf(kernel->kernel_name, sizeof kernel->kernel_name, "%s", name);
    hostrt_retain(kernel); /* by the context, until vxRemoveKernel */
    kernel->enumeration = enumeration;
    kernel->function = function;
    kernel->validate = validate;
    kernel->initialize = initialize;
    kernel->deinitialize = deinitialize;
    kernel->parameter_count = parameter_count;
    kernel->parameters = parameters;
    return kernel;
}

vx_kernel vxAddUserKernel(vx_context context, const vx_char *name, vx_enum enumeration,
                          vx_kernel_f function, vx_uint32 parameter_count,
                          vx_kernel_validate_f validate, vx_kernel_initialize_f initialize,
                          vx_kernel_deinitialize_f deinitialize)
{
    if (!hostrt_is(context, VX_TYPE_CONTEXT)) {
        return NULL;
    }
    if (function == NULL) {
        return (vx_kernel)hostrt_new_error(context, VX_ERROR_INVALID_PARAMETERS);
    }
    return add_kernel(context, name, enumeration, function, parameter_count, validate, initialize,
                      deinitialize);
}

vx_status vxAddParameterToKernel(vx_kernel kernel, vx_uint32 index, vx_enum direction,
                                 vx_enum data_type, vx_enum state)
{
    if (!hostrt_is(kernel, VX_TYPE_KERNEL)) {
        return VX_ERROR_INVALID_REFERENCE;
    }
    if (index >= kernel->parameter_count || (direction != VX_INPUT && direction != VX_OUTPUT) ||
        !hostrt_is_type(data_type) ||
        (state != VX_PARAMETER_STATE_REQUIRED && state != VX_PARAMETER_STATE_OPTIONAL)) {
        return VX_ERROR_INVALID_PARAMETERS;
    }
    kernel->parameters[index] = (vx_param_description_t){direction, data_type, state};
    return VX_SUCCESS;
}

vx_status vxFinalizeKernel(vx_kernel kernel)
{
    if (!hostrt_is(kernel, VX_TYPE_KERNEL)) {
        return VX_ERROR_INVALID_REFERENCE;
    }
    for (vx_uint32 i = 0; i < kernel->parameter_count; i++) {
        if (kernel->parameters[i].data_type == VX_TYPE_INVALID) {
            return VX_ERROR_INVALID_PARAMETERS;
        }
    }
    kernel->finalized = true;
    return VX_SUCCESS;
}

vx_status vxRemoveKernel(vx_kernel kernel)
{
    vx_reference reference = (vx_reference)kernel;
    if (!hostrt_is(kernel, VX_TYPE_KERNEL)) {
        return VX_ERROR_INVALID_PARAMETERS;
    }
    kernel->kernel_name[0] = '\0';
    const vx_status status = hostrt_release_handle(&reference, VX_TYPE_KERNEL);
    if (status == VX_SUCCESS) {
        hostrt_release(kernel);
    }
    return status;
}

vx_status vxReleaseKernel(vx_kernel *kernel)
{
    if (kernel == NULL || *kernel == NULL) {
        hostrt_log_crash(__func__, "the kernel is NULL");
        return VX_ERROR_INVALID_REFERENCE;
    }
    return hostrt_release_handle((vx_reference *)kernel, VX_TYPE_KERNEL);
}

/*
 * Asks the whole context: a kernel of another operator with the same name is found as well. Of an
 * unknown name it returns an error object.
 */
vx_kernel vxGetKernelByName(vx_context context, const vx_char *name)
{
    if (!hostrt_is(context, VX_TYPE_CONTEXT)) {
        return NULL;
    }
    if (name == NULL) {
        hostrt_log_crash(__func__, "the name is NULL");
        return NULL;
    }
    const vx_kernel found = hostrt_find_kernel(context, name);
    return found != NULL ? found
                         : (vx_kernel)hostrt_new_error(context, VX_ERROR_INVALID_PARAMETERS);
}

/* ---- Programs ---- */

vx_program vxCreateProgramWithBinary(vx_context context, const vx_uint8 *binary, vx_size size)
{
    static const char *const MAGICS[] = {"SHDR", "FULLPRGM"};
    if (!hostrt_is(context, VX_TYPE_CONTEXT)) {
        return NULL;
    }
    if (binary == NULL) {
        hostrt_log_crash(__func__, "the binary is NULL");
        return NULL;
    }
    for (size_t i = 0; i < dimof(MAGICS); i++) {
        const size_t length = strlen(MAGICS[i]);
        if (size >= length && memcmp(binary, MAGICS[i], length) == 0) {
            return hostrt_new(context, VX_TYPE_PROGRAM, sizeof(struct vx_program_s), NULL);
        }
    }
    return (vx_program)hostrt_new_error(context, VX_ERROR_INVALID_PARAMETERS);
}

/* The PC has no compiler for VX kernels. */
vx_program vxCreateProgramWithSource(vx_context context, vx_uint32 count, const vx_char *strings[],
                                     vx_size lengths[])
{
    (void)count;
    (void)strings;
    (void)lengths;
    return hostrt_is(context, VX_TYPE_CONTEXT)
               ? (vx_program)hostrt_new_error(context, VX_ERROR_NOT_SUPPORTED)
               : NULL;
}

vx_status vxBuildProgram(vx_program program, const vx_char *options)
{
    (void)options;
    if (!hostrt_is(program, VX_TYPE_PROGRAM)) {
        return VX_ERROR_INVALID_REFERENCE;
    }
    program->built = true;
    return VX_SUCCESS;
}

vx_status vxReleaseProgram(vx_program *program)
{
    return hostrt_release_handle((vx_reference *)program, VX_TYPE_PROGRAM);
}

vx_kernel vxAddKernelInProgram(vx_program program, vx_char *name, vx_enum enumeration,
                               vx_uint32 parameter_count, vx_kernel_validate_f validate,
                               vx_kernel_initialize_f initialize,
                               vx_kernel_deinitialize_f deinitialize)
{
    if (!hostrt_is(program, VX_TYPE_PROGRAM)) {
        return NULL;
    }
    if (!program->built) {
        return (vx_kernel)hostrt_new_error(program->base.context, VX_ERROR_INVALID_PARAMETERS);
    }
    return add_kernel(program->base.context, name, enumeration, NULL, parameter_count, validate,
                      initialize, deinitialize);
}
