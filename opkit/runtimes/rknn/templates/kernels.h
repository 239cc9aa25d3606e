/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
#ifndef ${upper}_KERNELS_H
#define ${upper}_KERNELS_H

/*
 * The kernels of ${name} for RKNN's runtime.
 * Include it only in rknn_kernel_${lower}.c.
 *
$about
 * opkit/runtimes/rknn/kernel_hooks.h explains the order of the callbacks.
 */

#include <VX/vx_helper.h>

#include "${compute_header}"
#include "../include/opkit/runtimes/rknn/kernel_hooks.h"
#include "${lower}_params.h"

/* Tentative definition: the including source may define it; otherwise all hooks are NULL. */
static const struct opkit_kernel_hooks kernel_hooks;

/* The prefix of messages. */
$operator_name

/* Computes ${name} on the CPU, for every inference. */
static vx_status VX_CALLBACK cpu_kernel_function(vx_node node, const vx_reference *parameters,
                                                 vx_uint32 parameter_count)
{
    const struct opkit_call call = {operator_name, node, parameters, parameter_count};
    struct ${lower}_arguments arguments;

    vx_status status = ${lower}_read(&call, &arguments);
    if (status == VX_SUCCESS) {
$compute
        if (problem != NULL) {
            status = opkit_fail(&call, VX_FAILURE, NULL, "%s", problem);
        }
    }
    if (status == VX_SUCCESS) {
        status = ${lower}_write(&call, &arguments);
    }
    ${lower}_release(&arguments);
    if (status != VX_SUCCESS) {
        /* Mark the outputs: the board reports success even after an error. */
        ${lower}_invalidate(&call);
    }
    return status;
}

/* Required by the runtime. */
static vx_status VX_CALLBACK validator(vx_node node, const vx_reference parameters[],
                                       vx_uint32 parameter_count, vx_meta_format metas[])
{
    const struct opkit_call call = {operator_name, node, parameters, parameter_count};

    (void)metas;
    return opkit_check_count(&call, ${upper}_PARAMETER_COUNT);
}

/* Prepares a node. It keeps the memory for its tensors from call to call. */
static vx_status VX_CALLBACK cpu_kernel_initializer(vx_node node, const vx_reference *parameters,
                                                    vx_uint32 parameter_count)
{
    const struct opkit_call call = {operator_name, node, parameters, parameter_count};

    opkit_add_node(node);
    return opkit_call_hook(&call, kernel_hooks.initialize_cpu_kernel);
}

static vx_status VX_CALLBACK cpu_kernel_deinitializer(vx_node node, const vx_reference *parameters,
                                                      vx_uint32 parameter_count)
{
    const struct opkit_call call = {operator_name, node, parameters, parameter_count};

    const vx_status status = opkit_call_hook(&call, kernel_hooks.deinitialize_cpu_kernel);
    opkit_remove_node(node);
    return status;
}

/* Not const: the runtime overwrites `enumeration`. */
static vx_kernel_description_t cpu_kernel_description = {
    .enumeration = 0x100,
    .name = "${lower}_cpu",
    .function = cpu_kernel_function,
    .parameters = kernel_params,
    .numParams = ${upper}_PARAMETER_COUNT,
    .validate = validator,
    .initialize = cpu_kernel_initializer,
    .deinitialize = cpu_kernel_deinitializer,
};

$vx_kernel/* The list for the runtime, the only exported symbol. NULL terminates it. */
extern vx_kernel_description_t *vx_kernel_${name}_list[];
vx_kernel_description_t *vx_kernel_${name}_list[] = {
$list
    NULL,
};

#endif
