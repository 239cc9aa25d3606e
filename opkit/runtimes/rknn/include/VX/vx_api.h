/*
 * OpenVX functions for custom operators and their runtime. libOpenVX.so of every board exports all
 * of them. It lacks some functions of OpenVX's sample code, so this header does not declare them:
 * vxGetLogEntry, vxClearLog, vxRegisterHelperAsLogReader, vxCreateNodeByStructure, math_gcd.
 *
 * On failure, functions that create an object return an error object, or NULL for tensors;
 * vxGetStatus returns the status of both. Functions that release an object take the address of the
 * handle and set it to NULL.
 */
#ifndef OPKIT_VX_API_H
#define OPKIT_VX_API_H

#include <VX/vx_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- References: the common base of all objects ---- */

VX_API_ENTRY vx_status VX_API_CALL vxQueryReference(vx_reference reference, vx_enum attribute,
                                                    void *value, vx_size size);
/* Returns VX_ERROR_NO_RESOURCES for NULL. */
VX_API_ENTRY vx_status VX_API_CALL vxGetStatus(vx_reference reference);
VX_API_ENTRY vx_context VX_API_CALL vxGetContext(vx_reference reference);
VX_API_ENTRY vx_status VX_API_CALL vxReleaseReference(vx_reference *reference);

/*
 * Adds a line to the log of the reference's context, with printf's formats. The line is truncated
 * to VX_MAX_LOG_MESSAGE_LEN bytes.
 */
VX_API_ENTRY void VX_API_CALL vxAddLogEntry(vx_reference reference, vx_status status,
                                            const char *message, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- Contexts and graphs ---- */

VX_API_ENTRY vx_context VX_API_CALL vxCreateContext(void);
VX_API_ENTRY vx_status VX_API_CALL vxReleaseContext(vx_context *context);
VX_API_ENTRY vx_graph VX_API_CALL vxCreateGraph(vx_context context);
/* No effect on a verified graph. Returns VX_ERROR_INVALID_GRAPH for a graph without nodes. */
VX_API_ENTRY vx_status VX_API_CALL vxVerifyGraph(vx_graph graph);
/* Boards return VX_SUCCESS even if a CPU kernel returned an error. */
VX_API_ENTRY vx_status VX_API_CALL vxProcessGraph(vx_graph graph);
VX_API_ENTRY vx_status VX_API_CALL vxReleaseGraph(vx_graph *graph);

/* ---- Kernels ---- */

/*
 * `name` is a buffer of VX_MAX_KERNEL_NAME bytes with more than ":". parameter_count must not be 0,
 * function and validate not NULL. deinitialize runs when the graph is released, even if validate or
 * initialize failed or never ran.
 */
VX_API_ENTRY vx_kernel VX_API_CALL vxAddUserKernel(vx_context context, const vx_char *name,
                                                   vx_enum enumeration, vx_kernel_f function,
                                                   vx_uint32 parameter_count,
                                                   vx_kernel_validate_f validate,
                                                   vx_kernel_initialize_f initialize,
                                                   vx_kernel_deinitialize_f deinitialize);
VX_API_ENTRY vx_status VX_API_CALL vxAddParameterToKernel(vx_kernel kernel, vx_uint32 index,
                                                          vx_enum direction, vx_enum data_type,
                                                          vx_enum state);
VX_API_ENTRY vx_status VX_API_CALL vxFinalizeKernel(vx_kernel kernel);
VX_API_ENTRY vx_status VX_API_CALL vxRemoveKernel(vx_kernel kernel);
VX_API_ENTRY vx_status VX_API_CALL vxReleaseKernel(vx_kernel *kernel);
/* Returns an error object if no kernel has the name. */
VX_API_ENTRY vx_kernel VX_API_CALL vxGetKernelByName(vx_context context, const vx_char *name);

/* ---- Nodes: a kernel with its parameters, in a graph ---- */

VX_API_ENTRY vx_node VX_API_CALL vxCreateGenericNode(vx_graph graph, vx_kernel kernel);
VX_API_ENTRY vx_status VX_API_CALL vxSetParameterByIndex(vx_node node, vx_uint32 index,
                                                         vx_reference value);
VX_API_ENTRY vx_status VX_API_CALL vxQueryNode(vx_node node, vx_enum attribute, void *value,
                                               vx_size size);
/*
 * Call it from initialize: after the verification of the graph it returns VX_ERROR_NOT_SUPPORTED.
 * Local data and the border can be set in deinitialize, too.
 */
VX_API_ENTRY vx_status VX_API_CALL vxSetNodeAttribute(vx_node node, vx_enum attribute,
                                                      const void *value, vx_size size);
VX_API_ENTRY vx_status VX_API_CALL vxReleaseNode(vx_node *node);

/*
 * Describes an output; call it in validate. On the board the metas of inputs are NULL, so the call
 * returns VX_ERROR_INVALID_REFERENCE. For an attribute of another kind of object it returns
 * VX_ERROR_INVALID_TYPE.
 */
VX_API_ENTRY vx_status VX_API_CALL vxSetMetaFormatAttribute(vx_meta_format meta, vx_enum attribute,
                                                            const void *value, vx_size size);
VX_API_ENTRY vx_status VX_API_CALL vxSetMetaFormatFromReference(vx_meta_format meta,
                                                                vx_reference reference);

/* ---- Tensors ---- */

/*
 * `data_type` is a tensor type of enum vx_type_e. dims[0] is the fastest dimension. Dimensions are
 * vx_size here, vx_uint32 in queries.
 *
 * On the board:
 *   - both functions return NULL, not an error object, on failure.
 *   - a tensor with a dimension of 0 is created, but all other functions reject it.
 *   - an empty dimension of a view becomes 1 element.
 */
VX_API_ENTRY vx_tensor VX_API_CALL vxCreateTensor(vx_context context, vx_size number_of_dims,
                                                  const vx_size *dims, vx_enum data_type,
                                                  vx_int8 fixed_point_position);
VX_API_ENTRY vx_tensor VX_API_CALL vxCreateTensorFromView(vx_tensor tensor, vx_size number_of_dims,
                                                          const vx_size *view_start,
                                                          const vx_size *view_end);
VX_API_ENTRY vx_status VX_API_CALL vxReleaseTensor(vx_tensor *tensor);
/*
 * See enum vx_tensor_attribute_e: dimensions are vx_uint32, and sizes are checked. `value` must be
 * aligned to 4 bytes, except for DIMS and FIXED_POINT_POSITION.
 */
VX_API_ENTRY vx_status VX_API_CALL vxQueryTensor(vx_tensor tensor, vx_enum attribute, void *value,
                                                 vx_size size);
VX_API_ENTRY vx_status VX_API_CALL vxSetTensorAttribute(vx_tensor tensor, vx_enum attribute,
                                                        const void *value, vx_size size);

/*
 * Copies a box of elements between the tensor and the user's memory.
 *
 * view_start (first) and view_end (one past the last) are in elements, user_stride in bytes;
 * user_memory is the address of the box's first element. For a dense buffer, user_stride[0] is the
 * size of an element, and user_stride[k] = user_stride[k - 1] * dims[k - 1].
 *
 * On the board:
 *   - number_of_dims must be the tensor's rank, at most 6; the standard allows fewer dimensions.
 *   - no stride may be 0, not even for a dimension with one element in the box.
 *   - user_stride[0] selects the type of the user's elements: the tensor's element size = the same
 *     type; otherwise 4 = float and 2 = half. The driver then converts between FLOAT16 and FLOAT32,
 *     with errors: it truncates instead of rounding, drops subnormals and turns infinity and NaN
 *     into 65504. Between other types it copies NOTHING and returns VX_SUCCESS. So always pass the
 *     element size of the tensor.
 *   - user_memory_type is ignored. Pass VX_MEMORY_TYPE_HOST.
 */
VX_API_ENTRY vx_status VX_API_CALL vxCopyTensorPatch(vx_tensor tensor, vx_size number_of_dims,
                                                     const vx_size *view_start,
                                                     const vx_size *view_end,
                                                     const vx_size *user_stride, void *user_memory,
                                                     vx_enum usage, vx_enum user_memory_type);

/*
 * Since OpenVX 1.3. Maps a box of a tensor's elements. On the board:
 *   - stride[0] is the element size, and the strides belong to the whole, dense tensor.
 *   - for a view, it maps the FIRST elements of the parent, with the strides of a dense tensor of
 *     the view's shape. Do not map views: copy them.
 *   - with fewer dimensions than the tensor's rank, the returned address is undefined.
 *   - for a tensor that was never written it returns VX_ERROR_NO_MEMORY, unless usage is
 *     VX_WRITE_ONLY.
 */
VX_API_ENTRY vx_status VX_API_CALL vxMapTensorPatch(vx_tensor tensor, vx_size number_of_dims,
                                                    const vx_size *view_start,
                                                    const vx_size *view_end, vx_map_id *map_id,
                                                    vx_size *stride, void **memory, vx_enum usage,
                                                    vx_enum memory_type);
VX_API_ENTRY vx_status VX_API_CALL vxUnmapTensorPatch(vx_tensor tensor, const vx_map_id map_id);

/* ---- Scalars ---- */

/*
 * With an unsupported type (VX_TYPE_FLOAT16, ...), returns a valid object; its value stays 0.
 */
VX_API_ENTRY vx_scalar VX_API_CALL vxCreateScalar(vx_context context, vx_enum data_type,
                                                  const void *value);
VX_API_ENTRY vx_scalar VX_API_CALL vxCreateScalarWithSize(vx_context context, vx_enum data_type,
                                                          const void *value, vx_size size);
VX_API_ENTRY vx_status VX_API_CALL vxReleaseScalar(vx_scalar *scalar);
VX_API_ENTRY vx_status VX_API_CALL vxQueryScalar(vx_scalar scalar, vx_enum attribute, void *value,
                                                 vx_size size);
/*
 * Copies as many bytes as the scalar's type has: query VX_SCALAR_TYPE first. A BOOL parameter of
 * an operator has 1 byte, not sizeof(vx_bool). user_memory_type must be VX_MEMORY_TYPE_HOST.
 */
VX_API_ENTRY vx_status VX_API_CALL vxCopyScalar(vx_scalar scalar, void *user_memory, vx_enum usage,
                                                vx_enum user_memory_type);
/* `size` is used for user-defined structs only. */
VX_API_ENTRY vx_status VX_API_CALL vxCopyScalarWithSize(vx_scalar scalar, vx_size size,
                                                        void *user_memory, vx_enum usage,
                                                        vx_enum user_memory_type);
VX_API_ENTRY vx_status VX_API_CALL vxReadScalarValue(vx_scalar scalar, void *value);
VX_API_ENTRY vx_status VX_API_CALL vxWriteScalarValue(vx_scalar scalar, const void *value);

/* ---- Arrays ---- */

VX_API_ENTRY vx_array VX_API_CALL vxCreateArray(vx_context context, vx_enum item_type,
                                                vx_size capacity);
VX_API_ENTRY vx_status VX_API_CALL vxReleaseArray(vx_array *array);
VX_API_ENTRY vx_status VX_API_CALL vxQueryArray(vx_array array, vx_enum attribute, void *value,
                                                vx_size size);
VX_API_ENTRY vx_status VX_API_CALL vxSetArrayAttribute(vx_array array, vx_enum attribute,
                                                       void *value, vx_size size);
/* `stride` is the distance between items in memory, in bytes. */
VX_API_ENTRY vx_status VX_API_CALL vxAddArrayItems(vx_array array, vx_size count, const void *items,
                                                   vx_size stride);
VX_API_ENTRY vx_status VX_API_CALL vxTruncateArray(vx_array array, vx_size count);
/*
 * Copies the items start to end - 1. `stride`, in bytes, is at least the item's size. Returns
 * VX_ERROR_INVALID_PARAMETERS for an empty range.
 */
VX_API_ENTRY vx_status VX_API_CALL vxCopyArrayRange(vx_array array, vx_size start, vx_size end,
                                                    vx_size stride, void *user_memory,
                                                    vx_enum usage, vx_enum user_memory_type);
VX_API_ENTRY vx_status VX_API_CALL vxMapArrayRange(vx_array array, vx_size start, vx_size end,
                                                   vx_map_id *map_id, vx_size *stride,
                                                   void **memory, vx_enum usage,
                                                   vx_enum memory_type, vx_uint32 flags);
VX_API_ENTRY vx_status VX_API_CALL vxUnmapArrayRange(vx_array array, vx_map_id map_id);

#ifdef __cplusplus
}
#endif

#endif
