/*
 * A graph of one node for an invocation of the harness, made as librknn_runtime 1.7.5 makes it, by
 * OpenVX's functions alone: of the host runtime, or of the boards' driver.
 *
 * The order of the calls was measured on librknn_runtime 1.7.5.
 */
#ifndef OPKIT_RKNN_HARNESS_GRAPH_H
#define OPKIT_RKNN_HARNESS_GRAPH_H

#include <stdio.h>

#include <VX/vx.h>
#include <VX/vx_helper.h>

#include "opkit/check/harness/runtime.h"

/* The enumeration of every custom kernel, as librknn_runtime writes it. */
static const vx_enum CUSTOM_KERNEL = (vx_enum)0xFFF03080;

static const vx_enum VX_TYPES[] = {
    [HARNESS_BOOL] = VX_TYPE_BOOL,       [HARNESS_CHAR] = VX_TYPE_CHAR,
    [HARNESS_INT8] = VX_TYPE_INT8,       [HARNESS_UINT8] = VX_TYPE_UINT8,
    [HARNESS_INT16] = VX_TYPE_INT16,     [HARNESS_UINT16] = VX_TYPE_UINT16,
    [HARNESS_INT32] = VX_TYPE_INT32,     [HARNESS_UINT32] = VX_TYPE_UINT32,
    [HARNESS_INT64] = VX_TYPE_INT64,     [HARNESS_UINT64] = VX_TYPE_UINT64,
    [HARNESS_FLOAT16] = VX_TYPE_FLOAT16, [HARNESS_FLOAT32] = VX_TYPE_FLOAT32,
    [HARNESS_FLOAT64] = VX_TYPE_FLOAT64,
};

/* Returns from the function when a call does not succeed. */
#define CALL(error, function_name, ...)                      \
    do {                                                     \
        const vx_status status = function_name(__VA_ARGS__); \
        if (status != VX_SUCCESS) {                          \
            (error)->function = #function_name;              \
            return status;                                   \
        }                                                    \
    } while (0)

static vx_size element_size(enum harness_type type)
{
    static const uint8_t SIZES[] = {
#define HARNESS_SIZE(type, name, size) [HARNESS_##type] = size,
        HARNESS_TYPES(HARNESS_SIZE)
#undef HARNESS_SIZE
    };
    return SIZES[type];
}

/* Copies a whole tensor from (VX_WRITE_ONLY) or to (VX_READ_ONLY) the bytes of a value. */
static vx_status copy_tensor(vx_tensor tensor, const struct harness_value *value, vx_enum usage)
{
    static const vx_size START[HARNESS_MAX_RANK];
    vx_size end[HARNESS_MAX_RANK];
    vx_size strides[HARNESS_MAX_RANK];
    vx_size stride = element_size(value->type);

    for (unsigned i = 0; i < value->rank; i++) {
        end[i] = value->shape[value->rank - 1 - i];
        strides[i] = stride;
        stride *= end[i];
    }
    return vxCopyTensorPatch(tensor, value->rank, START, end, strides, value->bytes, usage,
                             VX_MEMORY_TYPE_HOST);
}

static vx_tensor create_tensor(vx_context context, const struct harness_value *value, vx_enum type,
                               vx_int8 fixed_point_position)
{
    vx_size dims[HARNESS_MAX_RANK];

    for (unsigned i = 0; i < value->rank; i++) {
        dims[i] = value->shape[value->rank - 1 - i];
    }
    return vxCreateTensor(context, value->rank, dims, type, fixed_point_position);
}

/* Creates the scalar or array of a param, with its value. */
static vx_status create_param(vx_context context, const struct harness_value *value,
                              vx_reference *reference, struct harness_error *error)
{
    const vx_enum type = VX_TYPES[value->type];

    if (value->rank == 0) {
        *reference = (vx_reference)vxCreateScalar(context, type, value->bytes);
        CALL(error, vxGetStatus, *reference);
        return VX_SUCCESS;
    }
    const vx_array array = vxCreateArray(context, type, value->shape[0]);
    *reference = (vx_reference)array;
    CALL(error, vxGetStatus, *reference);
    CALL(error, vxAddArrayItems, array, value->shape[0], value->bytes, element_size(value->type));
    return VX_SUCCESS;
}

/* Finds the kernel of an index in the kernel list; NULL: see the error. */
static vx_kernel_description_t *find_kernel(vx_kernel_description_t **kernels, unsigned long index,
                                            const struct harness_invocation *invocation,
                                            struct harness_error *error)
{
    unsigned count = 0;

    while (kernels[count] != NULL) {
        count++;
    }
    if (index >= count) {
        snprintf(error->message, sizeof error->message,
                 "kernel_index %lu is out of range (kernels in the list: %u)", index, count);
        return NULL;
    }
    if (kernels[index]->numParams != invocation->count) {
        snprintf(error->message, sizeof error->message,
                 "kernel '%s' has %u parameters, but op.yml has %u; run `scons target=x64`",
                 kernels[index]->name, kernels[index]->numParams, invocation->count);
        return NULL;
    }
    kernels[index]->enumeration = CUSTOM_KERNEL;
    return kernels[index];
}

/* Adds the parameters of a new kernel. */
static vx_status finalize_kernel(vx_kernel kernel, const vx_kernel_description_t *description,
                                 struct harness_error *error)
{
    CALL(error, vxGetStatus, (vx_reference)kernel);
    for (vx_uint32 i = 0; i < description->numParams; i++) {
        const vx_param_description_t *row = &description->parameters[i];
        CALL(error, vxAddParameterToKernel, kernel, i, row->direction, row->data_type, row->state);
    }
    CALL(error, vxFinalizeKernel, kernel);
    return VX_SUCCESS;
}

/*
 * Makes the graph with a node of the kernel. The node takes over the references of params; those of
 * tensors remain the caller's. The graph holds the node, which the caller releases.
 */
static vx_status create_graph(vx_context context, vx_kernel kernel,
                              const struct harness_invocation *invocation,
                              const vx_reference *references, vx_graph *graph, vx_node *node,
                              struct harness_error *error)
{
    *graph = vxCreateGraph(context);
    CALL(error, vxGetStatus, (vx_reference)*graph);
    *node = vxCreateGenericNode(*graph, kernel);
    CALL(error, vxGetStatus, (vx_reference)*node);
    for (unsigned i = 0; i < invocation->count; i++) {
        CALL(error, vxSetParameterByIndex, *node, i, references[i]);
        if (invocation->values[i].role == HARNESS_PARAM) {
            CALL(error, vxReleaseReference, &(vx_reference){references[i]});
        }
    }
    return VX_SUCCESS;
}

#endif
