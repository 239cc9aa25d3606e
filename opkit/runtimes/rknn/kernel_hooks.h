/*
 * Hooks: functions of rknn_kernel_<op>.c that the generated kernels call once per node.
 *
 * RKNN's runtime implements OpenVX: a model is a graph, and each use of an operator is a node. The
 * runtime finds the kernel's description in the kernel list, and calls its callbacks for each node:
 *
 *   validator      while the graph is verified, before any allocation
 *   initializer    once, after the validator
 *   function       for every inference; NULL in a VX kernel, whose program runs on the NPU
 *   deinitializer  once, when the node is released
 *
 * The callbacks are generated, in generated/<op>_kernels.h. To run code of your own in them, define
 * this struct in rknn_kernel_<op>.c:
 *
 *     static const struct opkit_kernel_hooks kernel_hooks = {
 *         .initialize_vx_kernel = initialize_vx_kernel,
 *     };
 *
 * Each hook returns VX_SUCCESS, or logs a message and returns the error status.
 */
#ifndef OPKIT_KERNEL_HOOKS_H
#define OPKIT_KERNEL_HOOKS_H

#include "openvx.h"

typedef vx_status (*opkit_kernel_hook)(const struct opkit_call *call);

/* Omitted hooks are NULL and not called. */
struct opkit_kernel_hooks {
    /* Prepares data for all inferences. A table in a static variable is shared by all nodes. */
    opkit_kernel_hook initialize_cpu_kernel;

    /* Frees that data. Called even if the validator or the initializer failed. */
    opkit_kernel_hook deinitialize_cpu_kernel;

    /* Sets launch and uniforms (launch.h). Required for a VX kernel. */
    opkit_kernel_hook initialize_vx_kernel;

    /* Frees what initialize_vx_kernel allocated. Called even if validator or initializer failed. */
    opkit_kernel_hook deinitialize_vx_kernel;
};

/* Calls a hook, unless it is NULL. */
static inline vx_status opkit_call_hook(const struct opkit_call *call, opkit_kernel_hook hook)
{
    return hook == NULL ? VX_SUCCESS : hook(call);
}

/* Calls a required hook. `name` is its member in struct opkit_kernel_hooks, for the message. */
static inline vx_status opkit_call_required_hook(const struct opkit_call *call,
                                                 opkit_kernel_hook hook, const char *name)
{
    if (hook == NULL) {
        return opkit_fail(call, VX_ERROR_NOT_IMPLEMENTED, NULL, "kernel_hooks has no .%s", name);
    }
    return hook(call);
}

/* Fails unless the runtime passed `expected` parameters. */
static inline vx_status opkit_check_count(const struct opkit_call *call, vx_uint32 expected)
{
    if (call->count == expected) {
        return VX_SUCCESS;
    }
    return opkit_fail(call, VX_ERROR_INVALID_PARAMETERS, NULL, "has %u parameters instead of %u",
                      (unsigned)call->count, (unsigned)expected);
}

#endif
