/*
 * The common parts of the tests' operators with a VX kernel: a CPU kernel that always fails, a
 * validator that accepts everything, and the list of both kernels.
 */
#ifndef VX_OPERATOR_H
#define VX_OPERATOR_H

#include "VX/vx_khr_cnn.h"
#include "VX/vx_helper.h"
#include "VX/vx_ext_program.h"

static vx_status VX_CALLBACK cpu_function(vx_node node, const vx_reference *parameters,
                                          vx_uint32 count)
{
    (void)node;
    (void)parameters;
    (void)count;
    return VX_ERROR_NOT_IMPLEMENTED;
}

static vx_status VX_CALLBACK validator(vx_node node, const vx_reference parameters[],
                                       vx_uint32 count, vx_meta_format metas[])
{
    (void)node;
    (void)parameters;
    (void)count;
    (void)metas;
    return VX_SUCCESS;
}

/* Returns the bits of a scalar of up to 32 bits. */
static inline vx_uint32 bits_of(const vx_reference *parameters, vx_uint32 index)
{
    vx_uint32 bits = 0;
    vxCopyScalar((vx_scalar)parameters[index], &bits, VX_READ_ONLY, VX_MEMORY_TYPE_HOST);
    return bits;
}

/* Defines the runtime's kernel list from kernel_params[] and initializer() of the file. */
#define VX_OPERATOR(operator, vx_kernel_name)                                                      \
    static vx_kernel_description_t cpu_kernel = {                                                  \
        .name = vx_kernel_name "_cpu",                                                             \
        .function = cpu_function,                                                                  \
        .parameters = kernel_params,                                                               \
        .numParams = sizeof kernel_params / sizeof kernel_params[0],                               \
        .validate = validator,                                                                     \
    };                                                                                             \
    static vx_kernel_description_t vx_kernel_description = {                                       \
        .name = vx_kernel_name,                                                                    \
        .parameters = kernel_params,                                                               \
        .numParams = sizeof kernel_params / sizeof kernel_params[0],                               \
        .validate = validator,                                                                     \
        .initialize = initializer,                                                                 \
    };                                                                                             \
    extern VX_API_ENTRY vx_kernel_description_t *vx_kernel_##operator##_list[];                    \
    vx_kernel_description_t *vx_kernel_##operator##_list[] = {&cpu_kernel, &vx_kernel_description, \
                                                              NULL}

#endif
