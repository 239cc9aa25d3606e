/*
 * What rknn_kernel_<op>.c adds to the generated kernels: functions that run once for each node.
 *
 * RKNN's runtime implements OpenVX, in which a model is a graph and each use of an operator is a
 * node. For a node the runtime calls, by way of the description that it finds in the kernel list:
 *
 *   validator      while the graph is verified, before anything is allocated
 *   initializer    once, after it
 *   the function   for every inference; a VX kernel has none, its program runs on the NPU
 *   deinitializer  once, when the node is released
 *
 * These callbacks are generated, in generated/<op>_kernels.h. An operator that needs something done
 * in them says so in rknn_kernel_<op>.c, in a struct of the functions that they call:
 *
 *     static const struct opkit_kernel_hooks kernel_hooks = {
 *         .initialize_vx_kernel = initialize_vx_kernel,
 *     };
 *
 * Each function returns VX_SUCCESS, or the status of what failed, which then is in the log.
 */
#ifndef OPKIT_KERNEL_HOOKS_H
#define OPKIT_KERNEL_HOOKS_H

#include "openvx.h"

typedef vx_status (*opkit_kernel_hook)(const struct opkit_call *call);

/* Those that an operator leaves out are NULL, and nothing is called. */
struct opkit_kernel_hooks {
    /* Makes what every inference needs. A table in a static variable serves all nodes. */
    opkit_kernel_hook initialize_cpu_kernel;

    /* Undoes that; called even when the validator or the initializer failed. */
    opkit_kernel_hook deinitialize_cpu_kernel;

    /* Sets launch and uniforms (launch.h). An operator with a VX kernel cannot leave it out. */
    opkit_kernel_hook initialize_vx_kernel;

    /* Undoes that; called even when the validator or the initializer failed. */
    opkit_kernel_hook deinitialize_vx_kernel;
};

/* Calls a function of the operator's, if it has one. */
static inline vx_status opkit_call_hook(const struct opkit_call *call, opkit_kernel_hook hook)
{
    return hook == NULL ? VX_SUCCESS : hook(call);
}

/* Calls a function that the operator must have, of this name in struct opkit_kernel_hooks. */
static inline vx_status opkit_call_required_hook(const struct opkit_call *call,
                                                 opkit_kernel_hook hook, const char *name)
{
    if (hook == NULL) {
        return opkit_fail(call, VX_ERROR_NOT_IMPLEMENTED, NULL, "kernel_hooks has no .%s", name);
    }
    return hook(call);
}

/* Fails unless the runtime passed as many parameters as op.yml has. */
static inline vx_status opkit_check_count(const struct opkit_call *call, vx_uint32 expected)
{
    if (call->count == expected) {
        return VX_SUCCESS;
    }
    return opkit_fail(call, VX_ERROR_INVALID_PARAMETERS, NULL, "has %u parameters instead of %u",
                      (unsigned)call->count, (unsigned)expected);
}

#endif
