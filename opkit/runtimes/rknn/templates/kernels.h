/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
#ifndef ${upper}_KERNELS_H
#define ${upper}_KERNELS_H

/*
 * The kernels of ${name}, as RKNN's runtime calls them.
 * One source includes it: rknn_kernel_${lower}.c.
 *
$about
 * opkit/runtimes/rknn/kernel_hooks.h says when the callbacks here are called.
 */

#include <VX/vx_helper.h>

#include "../${lower}_compute.h"
#include "../include/opkit/runtimes/rknn/kernel_hooks.h"
#include "${lower}_params.h"

/* The source that includes this header may define it; if it does not, every hook is NULL. */
static const struct opkit_kernel_hooks kernel_hooks;

/* What messages begin with. */
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
        /* The board reports success even so. */
        ${lower}_invalidate(&call);
    }
    return status;
}

/* The runtime requires one. */
static vx_status VX_CALLBACK validator(vx_node node, const vx_reference parameters[],
                                       vx_uint32 parameter_count, vx_meta_format metas[])
{
    const struct opkit_call call = {operator_name, node, parameters, parameter_count};

    (void)metas;
    return opkit_check_count(&call, ${upper}_PARAMETER_COUNT);
}

static vx_status VX_CALLBACK cpu_kernel_initializer(vx_node node, const vx_reference *parameters,
                                                    vx_uint32 parameter_count)
{
    const struct opkit_call call = {operator_name, node, parameters, parameter_count};

    return opkit_call_hook(&call, kernel_hooks.initialize_cpu_kernel);
}

static vx_status VX_CALLBACK cpu_kernel_deinitializer(vx_node node, const vx_reference *parameters,
                                                      vx_uint32 parameter_count)
{
    const struct opkit_call call = {operator_name, node, parameters, parameter_count};

    return opkit_call_hook(&call, kernel_hooks.deinitialize_cpu_kernel);
}

/* Not const: the runtime writes an enumeration of its own. */
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

$vx_kernel/* What the runtime looks up: the only exported symbol. NULL ends the list. */
extern vx_kernel_description_t *vx_kernel_${name}_list[];
vx_kernel_description_t *vx_kernel_${name}_list[] = {
$list
    NULL,
};

#endif
