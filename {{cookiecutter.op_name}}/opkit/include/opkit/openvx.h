/*
 * What a CPU kernel needs to get at its parameters: tensors, scalars and arrays, read and written
 * with every status checked.
 *
 * Each function returns VX_SUCCESS, or logs one line that names the operator and the parameter and
 * returns the status of what failed. On failure nothing stays allocated.
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

#include "opkit/half.h"
#include "opkit/tensor.h"

/* What runs once for each parameter is compiled for size; the time goes into the elements. */
#if defined(__clang__)
#define OPKIT_SMALL __attribute__((minsize, noinline, unused)) static
#else
#define OPKIT_SMALL __attribute__((cold, noinline, unused)) static
#endif

/* One call of a kernel: what the runtime passed, and whom messages are about. */
struct opkit_call {
    const char *operator_name;
    vx_node node; /* where messages are logged; may be NULL */
    const vx_reference *parameters;
    vx_uint32 count;
};

/* Returns from a function of type vx_status at the first thing that fails. */
#define OPKIT_TRY(expression)                        \
    do {                                             \
        const vx_status opkit_status = (expression); \
        if (opkit_status != VX_SUCCESS) {            \
            return opkit_status;                     \
        }                                            \
    } while (0)

/*
 * Logs "ResizeArea: parameter 'size': <message>" (without the middle part if `parameter` is NULL)
 * to the node's log and to stderr. Returns `status`.
 */
__attribute__((format(printf, 4, 5))) OPKIT_SMALL vx_status
opkit_fail(const struct opkit_call *call, vx_status status, const char *parameter,
           const char *format, ...)
{
    char line[VX_MAX_LOG_MESSAGE_LEN] = "";
    const int written =
        parameter == NULL
            ? snprintf(line, sizeof line, "%s: ", call->operator_name)
            : snprintf(line, sizeof line, "%s: parameter '%s': ", call->operator_name, parameter);
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

/* Passes a status on, and logs one that is a failure. */
OPKIT_SMALL vx_status opkit_check(const struct opkit_call *call, vx_status status,
                                  const char *parameter, const char *action)
{
    if (status == VX_SUCCESS) {
        return VX_SUCCESS;
    }
    return opkit_fail(call, status, parameter, "cannot %s: OpenVX status %d", action, (int)status);
}

/* malloc, with a message. `size` is above 0. */
OPKIT_SMALL vx_status opkit_allocate(const struct opkit_call *call, const char *parameter,
                                     size_t size, void **memory)
{
    *memory = malloc(size);
    if (*memory == NULL) {
        return opkit_fail(call, VX_ERROR_NO_MEMORY, parameter, "no memory for %zu bytes", size);
    }
    return VX_SUCCESS;
}

/* What is known of a VX_TYPE_...; sizes are in bytes. */
struct opkit_type_info {
    vx_enum data_type;
    char name[17];        /* not a pointer, which the loader would have to set for every row */
    uint8_t scalar_size;  /* 0: no scalar of this type can be read */
    uint8_t element_size; /* 0: no tensor of this type can be read */
    uint8_t type;         /* enum opkit_type: what the elements of such a tensor become */
};

OPKIT_SMALL const struct opkit_type_info *opkit_find_type(vx_enum data_type)
{
    static const struct opkit_type_info types[] = {
        {VX_TYPE_CHAR, "VX_TYPE_CHAR", 1, 0, OPKIT_INT8},
        {VX_TYPE_INT8, "VX_TYPE_INT8", 1, 1, OPKIT_INT8},
        {VX_TYPE_UINT8, "VX_TYPE_UINT8", 1, 1, OPKIT_UINT8},
        {VX_TYPE_INT16, "VX_TYPE_INT16", 2, 2, OPKIT_INT16},
        {VX_TYPE_UINT16, "VX_TYPE_UINT16", 2, 2, OPKIT_UINT16},
        {VX_TYPE_INT32, "VX_TYPE_INT32", 4, 4, OPKIT_INT32},
        {VX_TYPE_UINT32, "VX_TYPE_UINT32", 4, 4, OPKIT_UINT32},
        {VX_TYPE_INT64, "VX_TYPE_INT64", 8, 8, OPKIT_INT64},
        {VX_TYPE_UINT64, "VX_TYPE_UINT64", 8, 0, OPKIT_INT64},
        {VX_TYPE_FLOAT32, "VX_TYPE_FLOAT32", 4, 4, OPKIT_FLOAT32},
        {VX_TYPE_FLOAT64, "VX_TYPE_FLOAT64", 8, 0, OPKIT_FLOAT32},
        {VX_TYPE_ENUM, "VX_TYPE_ENUM", 4, 0, OPKIT_INT32},
        {VX_TYPE_SIZE, "VX_TYPE_SIZE", sizeof(vx_size), 0, OPKIT_INT64},
        {VX_TYPE_FLOAT16, "VX_TYPE_FLOAT16", 0, 2, OPKIT_FLOAT32},
        {VX_TYPE_BOOL, "VX_TYPE_BOOL", 4, 0, OPKIT_INT32},
        {VX_TYPE_BOOL8, "VX_TYPE_BOOL8", 0, 1, OPKIT_UINT8},
        {VX_TYPE_BFLOAT16, "VX_TYPE_BFLOAT16", 0, 0, OPKIT_FLOAT32},
    };
    static const struct opkit_type_info unknown = {VX_TYPE_INVALID, "an unknown type", 0, 0,
                                                   OPKIT_FLOAT32};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (types[i].data_type == data_type) {
            return &types[i];
        }
    }
    return &unknown;
}

/* The reference at `index`. */
OPKIT_SMALL vx_status opkit_find_reference(const struct opkit_call *call, vx_uint32 index,
                                           const char *name, vx_reference *reference)
{
    if (index >= call->count) {
        return opkit_fail(call, VX_ERROR_INVALID_PARAMETERS, name,
                          "it is number %u, but the runtime passed only %u parameters",
                          (unsigned)index, (unsigned)call->count);
    }
    *reference = call->parameters[index];
    if (*reference == NULL) {
        return opkit_fail(call, VX_ERROR_INVALID_REFERENCE, name, "the runtime passed none");
    }
    return VX_SUCCESS;
}

/*
 * A tensor of the device: all that vxCopyTensorPatch wants to know. dims[0] is the fastest
 * dimension.
 */
struct opkit_device_tensor {
    vx_tensor handle;
    const struct opkit_type_info *info;
    vx_size rank;
    vx_size start[OPKIT_MAX_RANK];  /* elements */
    vx_size end[OPKIT_MAX_RANK];    /* elements */
    vx_size stride[OPKIT_MAX_RANK]; /* bytes */
};

/*
 * Describes the tensor at `index`, both as the device has it and as compute sees it (without data).
 */
OPKIT_SMALL vx_status opkit_describe_tensor(const struct opkit_call *call, vx_uint32 index,
                                            const char *name, struct opkit_device_tensor *device,
                                            struct opkit_tensor *tensor)
{
    vx_reference reference;
    vx_enum data_type = VX_TYPE_INVALID;
    /* Boards count dimensions in vx_uint32, not in the standard's vx_size, and check the size. */
    vx_uint32 rank = 0;
    vx_uint32 dims[OPKIT_MAX_RANK] = {0};

    memset(device, 0, sizeof *device);
    memset(tensor, 0, sizeof *tensor);
    OPKIT_TRY(opkit_find_reference(call, index, name, &reference));
    device->handle = (vx_tensor)reference;

    OPKIT_TRY(opkit_check(
        call, vxQueryTensor(device->handle, VX_TENSOR_DATA_TYPE, &data_type, sizeof data_type),
        name, "query the type"));
    device->info = opkit_find_type(data_type);
    if (device->info->element_size == 0) {
        return opkit_fail(call, VX_ERROR_INVALID_TYPE, name,
                          "tensors of type 0x%03X (%s) are not supported", (unsigned)data_type,
                          device->info->name);
    }

    OPKIT_TRY(opkit_check(
        call, vxQueryTensor(device->handle, VX_TENSOR_NUMBER_OF_DIMS, &rank, sizeof rank), name,
        "query the number of dimensions"));
    if (rank < 1 || rank > OPKIT_MAX_RANK) {
        return opkit_fail(call, VX_ERROR_INVALID_DIMENSION, name,
                          "it has %u dimensions; 1 to %d are supported", (unsigned)rank,
                          OPKIT_MAX_RANK);
    }
    OPKIT_TRY(opkit_check(
        call, vxQueryTensor(device->handle, VX_TENSOR_DIMS, dims, rank * sizeof dims[0]), name,
        "query the dimensions"));

    device->rank = rank;
    tensor->type = (enum opkit_type)device->info->type;
    tensor->rank = rank;
    tensor->size = 1;
    for (size_t i = 0; i < OPKIT_MAX_RANK; i++) {
        tensor->shape[i] = 1;
    }

    /*
     * The driver keeps strides in 32 bits, so no tensor may have more bytes; and with that no
     * product here overflows.
     */
    const size_t limit = UINT32_MAX / opkit_element_size(tensor->type);
    for (size_t i = 0; i < rank; i++) {
        if (dims[i] == 0) {
            return opkit_fail(call, VX_ERROR_INVALID_DIMENSION, name, "its dimension %zu is 0", i);
        }
        if (dims[i] > limit / tensor->size) {
            return opkit_fail(call, VX_ERROR_NO_MEMORY, name, "it has more than %zu elements",
                              limit);
        }
        device->end[i] = dims[i];
        device->stride[i] = tensor->size * device->info->element_size;
        tensor->shape[rank - 1 - i] = dims[i];
        tensor->size *= dims[i];
    }
    return VX_SUCCESS;
}

/*
 * Copies the whole tensor between the device and `memory`, which holds the device's own elements:
 * user_stride[0] is the device's element size. With any other the driver would convert, truncating
 * instead of rounding.
 */
OPKIT_SMALL vx_status opkit_copy_tensor(const struct opkit_call *call, const char *name,
                                        const struct opkit_device_tensor *device, void *memory,
                                        vx_enum usage)
{
    return opkit_check(call,
                       vxCopyTensorPatch(device->handle, device->rank, device->start, device->end,
                                         device->stride, memory, usage, VX_MEMORY_TYPE_HOST),
                       name, usage == VX_READ_ONLY ? "read the tensor" : "write the tensor");
}

/*
 * Frees what opkit_open_tensor or opkit_read_tensor took. Harmless on a zeroed tensor, and on one
 * closed before.
 */
static inline void opkit_close_tensor(struct opkit_tensor *tensor)
{
    free(tensor->data);
    tensor->data = NULL;
}

/*
 * Describes the tensor at `index` and allocates room for its elements, whose values are undefined.
 */
OPKIT_SMALL vx_status opkit_open_tensor(const struct opkit_call *call, vx_uint32 index,
                                        const char *name, struct opkit_tensor *tensor)
{
    struct opkit_device_tensor device;
    OPKIT_TRY(opkit_describe_tensor(call, index, name, &device, tensor));
    return opkit_allocate(call, name, tensor->size * opkit_element_size(tensor->type),
                          &tensor->data);
}

/* Copies the device's elements into an open tensor. */
OPKIT_SMALL vx_status opkit_fill_tensor(const struct opkit_call *call, const char *name,
                                        const struct opkit_device_tensor *device,
                                        struct opkit_tensor *tensor)
{
    void *halves;
    vx_status status;

    if (device->info->data_type != VX_TYPE_FLOAT16) {
        return opkit_copy_tensor(call, name, device, tensor->data, VX_READ_ONLY);
    }

    OPKIT_TRY(opkit_allocate(call, name, tensor->size * sizeof(uint16_t), &halves));
    status = opkit_copy_tensor(call, name, device, halves, VX_READ_ONLY);
    if (status == VX_SUCCESS) {
        opkit_halves_to_floats((const uint16_t *)halves, tensor->float32, tensor->size);
    }
    free(halves);
    return status;
}

/* Opens the tensor at `index` and reads its elements from the device. */
OPKIT_SMALL vx_status opkit_read_tensor(const struct opkit_call *call, vx_uint32 index,
                                        const char *name, struct opkit_tensor *tensor)
{
    struct opkit_device_tensor device;
    vx_status status;

    OPKIT_TRY(opkit_describe_tensor(call, index, name, &device, tensor));
    OPKIT_TRY(
        opkit_allocate(call, name, tensor->size * opkit_element_size(tensor->type), &tensor->data));
    status = opkit_fill_tensor(call, name, &device, tensor);
    if (status != VX_SUCCESS) {
        opkit_close_tensor(tensor);
    }
    return status;
}

/*
 * Writes an open tensor's elements to the tensor at `index` of the device, which must have the same
 * type and shape.
 */
OPKIT_SMALL vx_status opkit_write_tensor(const struct opkit_call *call, vx_uint32 index,
                                         const char *name, const struct opkit_tensor *tensor)
{
    struct opkit_device_tensor device;
    struct opkit_tensor expected;
    void *halves;
    vx_status status;

    OPKIT_TRY(opkit_describe_tensor(call, index, name, &device, &expected));
    if (tensor->data == NULL) {
        return opkit_fail(call, VX_ERROR_NOT_ALLOCATED, name, "there is no data to write");
    }
    if (tensor->type != expected.type) {
        return opkit_fail(call, VX_ERROR_INVALID_TYPE, name,
                          "the data is not of the tensor's type, %s", device.info->name);
    }
    if (tensor->rank != expected.rank ||
        memcmp(tensor->shape, expected.shape, sizeof expected.shape) != 0) {
        return opkit_fail(call, VX_ERROR_INVALID_DIMENSION, name,
                          "the data does not have the tensor's shape");
    }

    if (device.info->data_type != VX_TYPE_FLOAT16) {
        return opkit_copy_tensor(call, name, &device, tensor->data, VX_WRITE_ONLY);
    }

    OPKIT_TRY(opkit_allocate(call, name, expected.size * sizeof(uint16_t), &halves));
    opkit_floats_to_halves(tensor->float32, (uint16_t *)halves, expected.size);
    status = opkit_copy_tensor(call, name, &device, halves, VX_WRITE_ONLY);
    free(halves);
    return status;
}

/*
 * Reads the scalar at `index`. `type` is the type that the board delivers (VX_TYPE_UINT8 for a BOOL
 * parameter), and `size` the size of what `value` points to, in bytes; both must be the scalar's
 * own.
 */
OPKIT_SMALL vx_status opkit_read_scalar(const struct opkit_call *call, vx_uint32 index,
                                        const char *name, vx_enum type, void *value, size_t size)
{
    const struct opkit_type_info *expected = opkit_find_type(type);
    vx_reference reference;
    vx_enum delivered = VX_TYPE_INVALID;
    vx_uint64 buffer = 0; /* drivers want aligned memory, which a bool or char need not have */

    if (expected->scalar_size == 0 || expected->scalar_size != size) {
        return opkit_fail(call, VX_ERROR_INVALID_PARAMETERS, name,
                          "a scalar of type 0x%03X (%s) cannot be read into %zu bytes",
                          (unsigned)type, expected->name, size);
    }
    OPKIT_TRY(opkit_find_reference(call, index, name, &reference));
    OPKIT_TRY(opkit_check(
        call, vxQueryScalar((vx_scalar)reference, VX_SCALAR_TYPE, &delivered, sizeof delivered),
        name, "query the type"));
    if (delivered != type) {
        return opkit_fail(call, VX_ERROR_INVALID_TYPE, name,
                          "the runtime passed a scalar of type 0x%03X (%s) instead of %s",
                          (unsigned)delivered, opkit_find_type(delivered)->name, expected->name);
    }
    OPKIT_TRY(opkit_check(
        call, vxCopyScalar((vx_scalar)reference, &buffer, VX_READ_ONLY, VX_MEMORY_TYPE_HOST), name,
        "read the scalar"));
    memcpy(value, &buffer, size);
    return VX_SUCCESS;
}

/* Reads the BOOL at `index`, which the board delivers as a scalar of one byte. */
OPKIT_SMALL vx_status opkit_read_bool(const struct opkit_call *call, vx_uint32 index,
                                      const char *name, bool *value)
{
    vx_uint8 byte = 0;
    OPKIT_TRY(opkit_read_scalar(call, index, name, VX_TYPE_UINT8, &byte, sizeof byte));
    *value = byte != 0;
    return VX_SUCCESS;
}

/*
 * Reads the array at `index`, which must have `length` items; 0 stands for any number up to
 * OPKIT_MAX_ITEMS.
 */
OPKIT_SMALL vx_status opkit_read_int32_array(const struct opkit_call *call, vx_uint32 index,
                                             const char *name, size_t length,
                                             struct opkit_int32_array *array)
{
    vx_reference reference;
    vx_enum item_type = VX_TYPE_INVALID;
    vx_size count = 0;

    memset(array, 0, sizeof *array);
    OPKIT_TRY(opkit_find_reference(call, index, name, &reference));
    OPKIT_TRY(opkit_check(
        call, vxQueryArray((vx_array)reference, VX_ARRAY_ITEMTYPE, &item_type, sizeof item_type),
        name, "query the type of the items"));
    if (item_type != VX_TYPE_INT32) {
        return opkit_fail(call, VX_ERROR_INVALID_TYPE, name,
                          "its items are of type 0x%03X (%s) instead of VX_TYPE_INT32",
                          (unsigned)item_type, opkit_find_type(item_type)->name);
    }
    OPKIT_TRY(opkit_check(
        call, vxQueryArray((vx_array)reference, VX_ARRAY_NUMITEMS, &count, sizeof count), name,
        "query the number of items"));
    if (count > OPKIT_MAX_ITEMS) {
        return opkit_fail(call, VX_ERROR_INVALID_PARAMETERS, name,
                          "it has %zu items; at most %d are possible", count, OPKIT_MAX_ITEMS);
    }
    if (length != 0 && count != length) {
        return opkit_fail(call, VX_ERROR_INVALID_PARAMETERS, name,
                          "it has %zu items instead of %zu", count, length);
    }
    if (count > 0) { /* drivers refuse to copy nothing */
        OPKIT_TRY(
            opkit_check(call,
                        vxCopyArrayRange((vx_array)reference, 0, count, sizeof array->items[0],
                                         array->items, VX_READ_ONLY, VX_MEMORY_TYPE_HOST),
                        name, "read the items"));
    }
    array->count = count;
    return VX_SUCCESS;
}

#endif
