/*
 * Access to a kernel's parameters: read and write tensors, scalars and arrays, check every status.
 *
 * Each function returns VX_SUCCESS; on an error it logs one line with the names of operator and
 * parameter, and returns the error status.
 *
 * Remarks on boards were measured on the driver 1.7.5.
 */
#ifndef OPKIT_OPENVX_H
#define OPKIT_OPENVX_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <VX/vx.h>

#include "../../compute/half.h"
#include "../../compute/scratch.h"
#include "../../compute/tensor.h"

/*
 * ---- Nodes: memory that each node of a CPU kernel keeps between its calls ----
 *
 * The nodes are in a list of this library, because OpenVX's own place for data of a node,
 * VX_NODE_LOCAL_DATA_PTR, is free for the hooks: the driver frees whatever it refers to. The list
 * has a lock, because nodes of several graphs may run at the same time. It is empty after the last
 * node is released.
 */

/* A node, between its initializer and its deinitializer. OpenVX runs it once at a time. */
struct opkit_node {
    struct opkit_node *next;
    vx_node handle;
    struct opkit_scratch tensors; /* the elements of all tensors */
    struct opkit_half_table table; /* the results of an elementwise function */
};

static struct {
    bool is_locked;
    struct opkit_node *first;
} opkit_nodes;

static inline void opkit_lock_nodes(void)
{
    while (__atomic_test_and_set(&opkit_nodes.is_locked, __ATOMIC_ACQUIRE)) {
    }
}

static inline void opkit_unlock_nodes(void)
{
    __atomic_clear(&opkit_nodes.is_locked, __ATOMIC_RELEASE);
}

/* Returns the address of the link to a node; the link is NULL if not found. Requires the lock. */
static inline struct opkit_node **opkit_find_link(vx_node handle)
{
    struct opkit_node **link = &opkit_nodes.first;

    while (*link != NULL && (*link)->handle != handle) {
        link = &(*link)->next;
    }
    return link;
}

/* Returns a node, or NULL if its kernel did not add it. */
OPKIT_SMALL struct opkit_node *opkit_find_node(vx_node handle)
{
    opkit_lock_nodes();
    struct opkit_node *node = *opkit_find_link(handle);
    opkit_unlock_nodes();
    return node;
}

/* Returns the table of a node, or NULL if its kernel did not add the node. */
static inline struct opkit_half_table *opkit_find_table(vx_node handle)
{
    struct opkit_node *node = opkit_find_node(handle);

    return node != NULL ? &node->table : NULL;
}

/*
 * Adds a node, unless it is in the list: after a verification that failed, the driver initializes a
 * node again. Out of memory it adds nothing, and each call of the kernel allocates.
 */
OPKIT_SMALL void opkit_add_node(vx_node handle)
{
    struct opkit_node *node = (struct opkit_node *)calloc(1, sizeof *node);

    if (node == NULL) {
        return;
    }
    node->handle = handle;
    opkit_lock_nodes();
    struct opkit_node **link = opkit_find_link(handle);
    const bool is_new = *link == NULL;
    if (is_new) {
        *link = node;
    }
    opkit_unlock_nodes();
    if (!is_new) {
        free(node);
    }
}

/* Removes a node, if it is in the list, and frees its memory. */
OPKIT_SMALL void opkit_remove_node(vx_node handle)
{
    opkit_lock_nodes();
    struct opkit_node **link = opkit_find_link(handle);
    struct opkit_node *node = *link;
    if (node != NULL) {
        *link = node->next;
    }
    opkit_unlock_nodes();
    if (node != NULL) {
        opkit_release_scratch(&node->tensors);
        opkit_release_half_table(&node->table);
        free(node);
    }
}

/* ---- Parameters ---- */

#define OPKIT_RKNN_MAX_ITEMS 16 /* of an array: the runtime rejects longer arrays */

/* One call of a kernel: the runtime's arguments, and the operator's name for messages. */
struct opkit_call {
    const char *operator_name;
    vx_node node; /* its log receives the messages; may be NULL */
    const vx_reference *parameters;
    vx_uint32 count;
};

/*
 * Logs "ResizeArea: parameter 'size': <message>" (without the middle part if `parameter` is NULL)
 * to the node's log and to stderr. Returns `status`.
 */
__attribute__((format(printf, 4, 5))) OPKIT_SMALL vx_status opkit_fail(
    const struct opkit_call *call, vx_status status, const char *parameter, const char *format, ...)
{
    char line[VX_MAX_LOG_MESSAGE_LEN];
    const int written =
        snprintf(line, sizeof line,
                 parameter ? "%s: parameter '%s': " : "%s: ", call->operator_name, parameter);
    if (written >= 0 && (size_t)written < sizeof line) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(line + written, sizeof line - (size_t)written, format, arguments);
        va_end(arguments);
    }
    fprintf(stderr, "%s\n", line);
    if (call->node != NULL) {
        vxAddLogEntry((vx_reference)call->node, status, "%s", line);
    }
    return status;
}

/* Returns `status`; logs an error as "cannot <action>", for instance "cannot read its shape". */
OPKIT_SMALL vx_status opkit_check(const struct opkit_call *call, const char *parameter,
                                  const char *action, vx_status status)
{
    if (status == VX_SUCCESS) {
        return VX_SUCCESS;
    }
    return opkit_fail(call, status, parameter, "cannot %s: OpenVX status %d", action, (int)status);
}

/* Fails unless min <= value <= max. */
OPKIT_SMALL vx_status opkit_check_range(const struct opkit_call *call, const char *parameter,
                                        const char *what, size_t value, size_t min, size_t max)
{
    if (min <= value && value <= max) {
        return VX_SUCCESS;
    }
    return opkit_fail(call, VX_ERROR_INVALID_DIMENSION, parameter,
                      "%s is %zu; it must be at least %zu and at most %zu", what, value, min, max);
}

/* Properties of a VX_TYPE_... */
struct opkit_type_info {
    uint8_t data_type;
    uint8_t element_size; /* of a tensor, in bytes; 0: tensors of this type are not supported */
    uint8_t type; /* enum opkit_type: element type for the math */
    char name[8]; /* an array, not a pointer: needs no relocation at load time */
};

/* Returns the row of a type; for an unknown type, the last row, with the name "?". */
OPKIT_SMALL const struct opkit_type_info *opkit_find_type(vx_enum data_type)
{
    static const struct opkit_type_info types[] = {
        {VX_TYPE_CHAR, 0, OPKIT_INT8, "CHAR"},
        {VX_TYPE_INT8, 1, OPKIT_INT8, "INT8"},
        {VX_TYPE_UINT8, 1, OPKIT_UINT8, "UINT8"},
        {VX_TYPE_INT16, 2, OPKIT_INT16, "INT16"},
        {VX_TYPE_UINT16, 2, OPKIT_UINT16, "UINT16"},
        {VX_TYPE_INT32, 4, OPKIT_INT32, "INT32"},
        {VX_TYPE_UINT32, 4, OPKIT_UINT32, "UINT32"},
        {VX_TYPE_INT64, 8, OPKIT_INT64, "INT64"},
        {VX_TYPE_UINT64, 0, OPKIT_INT64, "UINT64"},
        {VX_TYPE_FLOAT32, 4, OPKIT_FLOAT32, "FLOAT32"},
        {VX_TYPE_FLOAT64, 0, OPKIT_FLOAT32, "FLOAT64"},
        {VX_TYPE_FLOAT16, 2, OPKIT_FLOAT32, "FLOAT16"},
        {VX_TYPE_BOOL8, 1, OPKIT_UINT8, "BOOL8"},
        {VX_TYPE_INVALID, 0, OPKIT_FLOAT32, "?"},
    };
    const struct opkit_type_info *info = types;
    while (info->data_type != VX_TYPE_INVALID && info->data_type != data_type) {
        info++;
    }
    return info;
}

/* Fails unless a scalar, or an array's items, have the expected type. */
OPKIT_SMALL vx_status opkit_check_type(const struct opkit_call *call, const char *parameter,
                                       vx_enum type, vx_enum expected)
{
    if (type == expected) {
        return VX_SUCCESS;
    }
    return opkit_fail(call, VX_ERROR_INVALID_TYPE, parameter,
                      "it holds type 0x%03X (VX_TYPE_%s) instead of VX_TYPE_%s", (unsigned)type,
                      opkit_find_type(type)->name, opkit_find_type(expected)->name);
}

/* Gets the reference at `index` of the parameters. */
OPKIT_SMALL vx_status opkit_find_reference(const struct opkit_call *call, vx_uint32 index,
                                           const char *name, vx_reference *reference)
{
    if (index >= call->count || call->parameters[index] == NULL) {
        return opkit_fail(call, VX_ERROR_INVALID_REFERENCE, name,
                          "it is not among the %u parameters that the runtime passed",
                          (unsigned)call->count);
    }
    *reference = call->parameters[index];
    return VX_SUCCESS;
}

/*
 * A tensor of the device: the arguments of vxCopyTensorPatch. Index 0 is the fastest dimension.
 */
struct opkit_device_tensor {
    vx_tensor handle;
    const struct opkit_type_info *info;
    vx_size rank;
    vx_size start[OPKIT_MAX_RANK]; /* elements */
    vx_size end[OPKIT_MAX_RANK]; /* elements */
    vx_size stride[OPKIT_MAX_RANK]; /* bytes */
};

/* Reads the shape of a tensor. device->handle and device->info must be set. */
OPKIT_SMALL vx_status opkit_describe_shape(const struct opkit_call *call, const char *name,
                                           struct opkit_device_tensor *device,
                                           struct opkit_tensor *tensor)
{
    /* Boards use vx_uint32 for dimensions, not the standard's vx_size, and check the size. */
    vx_uint32 rank = 0;
    vx_uint32 dims[OPKIT_MAX_RANK] = {0};

    OPKIT_TRY(
        opkit_check(call, name, "read its rank",
                    vxQueryTensor(device->handle, VX_TENSOR_NUMBER_OF_DIMS, &rank, sizeof rank)));
    OPKIT_TRY(opkit_check_range(call, name, "its rank", rank, 1, OPKIT_MAX_RANK));
    OPKIT_TRY(
        opkit_check(call, name, "read its shape",
                    vxQueryTensor(device->handle, VX_TENSOR_DIMS, dims, rank * sizeof dims[0])));

    device->rank = rank;
    tensor->rank = rank;
    tensor->size = 1;
    for (size_t i = 0; i < OPKIT_MAX_RANK; i++) {
        tensor->shape[i] = 1;
    }

    /*
     * The driver stores strides in 32 bits: the limit of a tensor's size in bytes. The limit here
     * is for the largest elements, so no product below overflows.
     */
    const vx_uint32 limit = UINT32_MAX / sizeof(int64_t);
    for (size_t i = 0; i < rank; i++) {
        OPKIT_TRY(opkit_check_range(call, name, "one dimension", dims[i], 1, limit / tensor->size));
        device->end[i] = dims[i];
        device->stride[i] = tensor->size * device->info->element_size;
        tensor->shape[rank - 1 - i] = dims[i];
        tensor->size *= dims[i];
    }
    return VX_SUCCESS;
}

/*
 * Reads type and shape of the tensor at `index`: of the device's tensor, and of the math's (without
 * data).
 */
OPKIT_SMALL vx_status opkit_describe_tensor(const struct opkit_call *call, vx_uint32 index,
                                            const char *name, struct opkit_device_tensor *device,
                                            struct opkit_tensor *tensor)
{
    vx_reference reference;
    vx_enum data_type = VX_TYPE_INVALID;

    memset(device, 0, sizeof *device);
    memset(tensor, 0, sizeof *tensor);
    OPKIT_TRY(opkit_find_reference(call, index, name, &reference));
    device->handle = (vx_tensor)reference;

    OPKIT_TRY(opkit_check(
        call, name, "read its type",
        vxQueryTensor(device->handle, VX_TENSOR_DATA_TYPE, &data_type, sizeof data_type)));
    device->info = opkit_find_type(data_type);
    if (device->info->element_size == 0) {
        return opkit_fail(call, VX_ERROR_INVALID_TYPE, name,
                          "tensors of type 0x%03X (VX_TYPE_%s) are not supported",
                          (unsigned)data_type, device->info->name);
    }
    tensor->type = (enum opkit_type)device->info->type;
    return opkit_describe_shape(call, name, device, tensor);
}

/*
 * Copies all elements between the device's tensor at `index` and an open tensor of the same type
 * and shape: VX_READ_ONLY from the device, VX_WRITE_ONLY to it.
 *
 * user_stride[0] is always the device's element size: with another value the driver would convert,
 * and truncate instead of round. Halves are converted here, in place, in the memory of the floats,
 * unless the tensor is OPKIT_FLOAT16.
 */
OPKIT_SMALL vx_status opkit_copy_tensor(const struct opkit_call *call, vx_uint32 index,
                                        const char *name, const struct opkit_tensor *tensor,
                                        vx_enum usage)
{
    const bool reading = usage == VX_READ_ONLY;
    struct opkit_device_tensor device;
    struct opkit_tensor expected;
    uint16_t *memory = tensor->uint16;

    OPKIT_TRY(opkit_describe_tensor(call, index, name, &device, &expected));
    const bool is_half = device.info->data_type == VX_TYPE_FLOAT16;
    const bool converts = is_half && tensor->type == OPKIT_FLOAT32;
    if (is_half && !converts) {
        expected.type = OPKIT_FLOAT16;
    }
    if (memory == NULL || tensor->type != expected.type || tensor->rank != expected.rank ||
        memcmp(tensor->shape, expected.shape, sizeof expected.shape) != 0) {
        return opkit_fail(call, VX_ERROR_INVALID_FORMAT, name,
                          "the data does not have the tensor's type and shape");
    }

    if (converts && reading) {
        memory += expected.size;
    } else if (converts) {
        opkit_floats_to_halves(tensor->float32, memory, expected.size);
    }
    OPKIT_TRY(opkit_check(call, name, reading ? "read its data" : "write its data",
                          vxCopyTensorPatch(device.handle, device.rank, device.start, device.end,
                                            device.stride, memory, usage, VX_MEMORY_TYPE_HOST)));
    if (converts && reading) {
        opkit_halves_to_floats(memory, tensor->float32, expected.size);
    }
    return VX_SUCCESS;
}

/*
 * Writes an open tensor's elements to the device's tensor at `index`, of the same type and shape.
 * Floats are converted to halves in place, so the elements are undefined afterwards.
 */
static inline vx_status opkit_write_tensor(const struct opkit_call *call, vx_uint32 index,
                                           const char *name, const struct opkit_tensor *tensor)
{
    return opkit_copy_tensor(call, index, name, tensor, VX_WRITE_ONLY);
}

/* Returns the memory that the node keeps between its calls, or `own` if it keeps none. */
OPKIT_SMALL struct opkit_scratch *opkit_tensor_scratch(const struct opkit_call *call,
                                                       struct opkit_scratch *own)
{
    struct opkit_node *node = opkit_find_node(call->node);
    return node != NULL ? &node->tensors : own;
}

/*
 * Fills the tensor at `index` with bytes 0xFF: NaN for floats, -1 or the largest number for
 * integers. Otherwise an output of a failed call would keep the values of an earlier call, and
 * boards do not report the failure.
 */
OPKIT_SMALL vx_status opkit_invalidate_tensor(const struct opkit_call *call, vx_uint32 index,
                                              const char *name)
{
    struct opkit_device_tensor device;
    struct opkit_tensor tensor;
    struct opkit_scratch own = {NULL, 0};

    OPKIT_TRY(opkit_describe_tensor(call, index, name, &device, &tensor));
    const size_t size = tensor.size * device.info->element_size;
    void *memory = opkit_reserve(opkit_tensor_scratch(call, &own), size);
    if (memory == NULL) {
        return opkit_fail(call, VX_ERROR_NO_MEMORY, name,
                          "no memory for %zu bytes to mark it as invalid", size);
    }
    memset(memory, 0xFF, size);
    const vx_status status =
        vxCopyTensorPatch(device.handle, device.rank, device.start, device.end, device.stride,
                          memory, VX_WRITE_ONLY, VX_MEMORY_TYPE_HOST);
    opkit_release_scratch(&own);
    return opkit_check(call, name, "mark it as invalid", status);
}

/* A tensor among the parameters of a call, for opkit_open_tensors. */
struct opkit_tensor_parameter {
    vx_uint32 index;
    vx_enum usage; /* VX_READ_ONLY: an input; VX_WRITE_ONLY: an output */
    const char *name;
    struct opkit_tensor *tensor; /* receives type, shape and elements */
};

#if defined(OPKIT_GUARDED)
/*
 * Allocates memory for a tensor between inaccessible pages, until the call returns. Defined by the
 * host runtime, for checks; returns `unguarded` while guarding is off.
 */
extern void *hostrt_tensor_memory(const char *name, size_t size, void *unguarded);
/* Makes the elements of an input read-only, for checks. */
extern void hostrt_protect_tensor(void *elements);
#endif

/* Returns the bytes of a tensor's elements, rounded up to a cache line. */
static inline uint64_t opkit_memory_size(const struct opkit_tensor *tensor)
{
    const uint64_t cache_line = 64;
    const uint64_t size = (uint64_t)tensor->size * opkit_element_size(tensor->type);
    return (size + cache_line - 1) / cache_line * cache_line;
}

/*
 * Opens tensors: reads types and shapes, reserves one block for all elements, and reads the inputs
 * from the device. The elements of outputs are undefined.
 *
 * Tensors of halves get the type `half`: OPKIT_FLOAT32, converted, or OPKIT_FLOAT16, as they are.
 * The block is the node's; if it keeps none, it is `own`, which the caller releases, even after an
 * error.
 */
OPKIT_SMALL vx_status opkit_open_tensors(const struct opkit_call *call,
                                         const struct opkit_tensor_parameter *tensors, size_t count,
                                         enum opkit_type half, struct opkit_scratch *own)
{
    const struct opkit_tensor_parameter *end = tensors + count;
    uint64_t size = 0;

    for (const struct opkit_tensor_parameter *each = tensors; each < end; each++) {
        struct opkit_device_tensor device;
        OPKIT_TRY(opkit_describe_tensor(call, each->index, each->name, &device, each->tensor));
        if (device.info->data_type == VX_TYPE_FLOAT16) {
            each->tensor->type = half;
        }
        size += opkit_memory_size(each->tensor);
    }
    struct opkit_scratch *scratch = opkit_tensor_scratch(call, own);
    char *place = (size_t)size == size ? (char *)opkit_reserve(scratch, (size_t)size) : NULL;
    if (place == NULL) {
        return opkit_fail(call, VX_ERROR_NO_MEMORY, NULL, "no memory for %llu bytes of tensors",
                          (unsigned long long)size);
    }
    for (; tensors < end; tensors++) {
        struct opkit_tensor *tensor = tensors->tensor;
        tensor->data = place;
        place += opkit_memory_size(tensor);
#if defined(OPKIT_GUARDED)
        tensor->data = hostrt_tensor_memory(
            tensors->name, tensor->size * opkit_element_size(tensor->type), tensor->data);
#endif
        if (tensors->usage == VX_READ_ONLY) {
            OPKIT_TRY(opkit_copy_tensor(call, tensors->index, tensors->name, tensor, VX_READ_ONLY));
#if defined(OPKIT_GUARDED)
            hostrt_protect_tensor(tensor->data);
#endif
        }
    }
    return VX_SUCCESS;
}

/*
 * Reads the scalar at `index` into `value`. `type` is the required type of the scalar as boards
 * pass it (VX_TYPE_UINT8 for a BOOL parameter); `size` is its size in bytes.
 */
OPKIT_SMALL vx_status opkit_read_scalar(const struct opkit_call *call, vx_uint32 index,
                                        const char *name, vx_enum type, void *value, size_t size)
{
    vx_reference reference;
    vx_enum actual = VX_TYPE_INVALID;
    vx_uint64 buffer = 0; /* drivers require alignment that a bool or char may lack */

    OPKIT_TRY(opkit_find_reference(call, index, name, &reference));
    const vx_scalar scalar = (vx_scalar)reference;
    OPKIT_TRY(opkit_check(call, name, "read its type",
                          vxQueryScalar(scalar, VX_SCALAR_TYPE, &actual, sizeof actual)));
    OPKIT_TRY(opkit_check_type(call, name, actual, type));
    OPKIT_TRY(opkit_check(call, name, "read its data",
                          vxCopyScalar(scalar, &buffer, VX_READ_ONLY, VX_MEMORY_TYPE_HOST)));
    memcpy(value, &buffer, size);
    return VX_SUCCESS;
}

/* Reads the BOOL at `index`, which boards pass as a scalar of one byte. */
OPKIT_SMALL vx_status opkit_read_bool(const struct opkit_call *call, vx_uint32 index,
                                      const char *name, bool *value)
{
    vx_uint8 byte = 0;
    OPKIT_TRY(opkit_read_scalar(call, index, name, VX_TYPE_UINT8, &byte, sizeof byte));
    *value = byte != 0;
    return VX_SUCCESS;
}

/*
 * Reads the array at `index`. It must have `length` items; a `length` of 0 allows any number up to
 * OPKIT_RKNN_MAX_ITEMS. The items are stored in `items`, the caller's memory.
 */
OPKIT_SMALL vx_status opkit_read_int32_array(const struct opkit_call *call, vx_uint32 index,
                                             const char *name, size_t length,
                                             int32_t items[OPKIT_RKNN_MAX_ITEMS],
                                             struct opkit_int32_array *array)
{
    vx_reference reference;
    vx_enum item_type = VX_TYPE_INVALID;
    vx_size count = 0;

    array->count = 0;
    array->items = items;
    OPKIT_TRY(opkit_find_reference(call, index, name, &reference));
    const vx_array handle = (vx_array)reference;
    OPKIT_TRY(opkit_check(call, name, "read its type",
                          vxQueryArray(handle, VX_ARRAY_ITEMTYPE, &item_type, sizeof item_type)));
    OPKIT_TRY(opkit_check_type(call, name, item_type, VX_TYPE_INT32));
    OPKIT_TRY(opkit_check(call, name, "read its length",
                          vxQueryArray(handle, VX_ARRAY_NUMITEMS, &count, sizeof count)));
    OPKIT_TRY(opkit_check_range(call, name, "its length", count, length,
                                length != 0 ? length : OPKIT_RKNN_MAX_ITEMS));
    if (count > 0) { /* drivers reject an empty range */
        OPKIT_TRY(opkit_check(call, name, "read its data",
                              vxCopyArrayRange(handle, 0, count, sizeof items[0], items,
                                               VX_READ_ONLY, VX_MEMORY_TYPE_HOST)));
    }
    array->count = count;
    return VX_SUCCESS;
}

#endif
