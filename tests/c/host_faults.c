/*
 * An operator that copies a float16 tensor, with one fault, which the param `fault` selects.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "VX/vx_khr_cnn.h"
#include "VX/vx_helper.h"
#include "VX/vx_ext_program.h"

enum fault {
    NONE,
    READ_PAST_END,
    WRITE_PAST_END,
    WRITE_BEFORE_START,
    UNWRITTEN,
    UNSET_MEMORY,
    UNSET_STACK,
    LEAK_MEMORY,
    LEAK_MAP,
    LEAK_REFERENCE,
    RELEASE_PARAMETER,
    RELEASE_SCALAR,
    DIVIDE_BY_ZERO,
    LOOP,
    STACK_OVERFLOW,
    USE_AFTER_FREE,
    USE_AFTER_REALLOC,
    FREE_TWICE,
    NULL_POINTER,
    ABORT,
    TRAP,
    SHORT_BUFFER,
    MAP_PAST_END,
    NO_OP_COPY,
    LONG_DIMS,
    OVERLAPPING_STRIDES,
    MEMORY_TYPE,
    STATUS,
    OTHER_RESULT,
    NOT_REPEATABLE,
    FAIL_LATER,
    NAN_RESULT,
    FREE_FOREIGN,
    UNSET_HUGE_MEMORY,
    MAP_VIEW,
    UNIFORM,
    LEFT_LOCAL_DATA
};

enum {
    INPUT,
    OUTPUT,
    FAULT,
    COUNT
};

struct buffer {
    vx_tensor tensor;
    vx_uint32 rank;
    vx_uint32 dims[6];
    vx_size start[6];
    vx_size end[6];
    vx_size strides[6];
    size_t count;
    uint16_t *data;
};

static volatile int zero;
static volatile int sink;

static vx_status open_buffer(vx_reference reference, struct buffer *buffer)
{
    memset(buffer, 0, sizeof *buffer);
    buffer->tensor = (vx_tensor)reference;
    vx_status status =
        vxQueryTensor(buffer->tensor, VX_TENSOR_NUMBER_OF_DIMS, &buffer->rank, sizeof buffer->rank);
    if (status == VX_SUCCESS) {
        status = vxQueryTensor(buffer->tensor, VX_TENSOR_DIMS, buffer->dims,
                               buffer->rank * sizeof(vx_uint32));
    }
    buffer->count = 1;
    for (vx_uint32 i = 0; i < buffer->rank; i++) {
        buffer->end[i] = buffer->dims[i];
        buffer->strides[i] = buffer->count * sizeof(uint16_t);
        buffer->count *= buffer->dims[i];
    }
    buffer->data = malloc(buffer->count * sizeof(uint16_t));
    return status;
}

static vx_status copy(const struct buffer *buffer, vx_enum usage, vx_enum memory_type)
{
    return vxCopyTensorPatch(buffer->tensor, buffer->rank, buffer->start, buffer->end,
                             buffer->strides, buffer->data, usage, memory_type);
}

static __attribute__((noinline)) int recurse(int depth)
{
    volatile char frame[4096];
    frame[0] = (char)depth;
    return depth < 0 ? 0 : recurse(depth + 1) + frame[0];
}

static void access_outside(enum fault fault, const struct buffer *input, struct buffer *output)
{
    volatile uint16_t *halves = output->data;
    const size_t count = output->count;

    switch (fault) {
    case READ_PAST_END:
        halves[0] = ((volatile uint16_t *)input->data)[count];
        break;
    case WRITE_PAST_END:
        halves[count + 2] = 0;
        break;
    case WRITE_BEFORE_START:
        halves[-1] = 0;
        break;
    case NULL_POINTER:
        *(volatile int *)(uintptr_t)zero = 1;
        break;
    default:
        break;
    }
}

static void use_unset_memory(enum fault fault, struct buffer *output)
{
    volatile uint16_t *halves = output->data;

    if (fault == UNSET_MEMORY) {
        volatile uint16_t *unset = malloc(sizeof *unset * 4);
        halves[3] = unset[2];
        free((void *)unset);
    } else if (fault == UNSET_HUGE_MEMORY) {
        volatile uint16_t *unset = malloc((size_t)1 << 30);
        halves[3] = unset[2];
        free((void *)unset);
    } else if (fault == UNSET_STACK) {
        volatile uint16_t unset[64];
        halves[1] = unset[7];
    }
}

static void misuse_malloc(enum fault fault, const struct buffer *input, struct buffer *output)
{
    volatile uint16_t *halves = output->data;

    switch (fault) {
    case LEAK_MEMORY:
        sink = (int)(uintptr_t)malloc(80);
        break;
    case USE_AFTER_FREE: {
        volatile uint16_t *freed = malloc(10);
        free((void *)freed);
        halves[0] = freed[3];
        break;
    }
    case USE_AFTER_REALLOC: {
        volatile uint16_t *old = malloc(10);
        void *volatile moved = realloc((void *)old, 4000);
        sink = old[0];
        free(moved);
        break;
    }
    case FREE_TWICE: {
        void *volatile memory = malloc(24);
        free(memory);
        free(memory);
        break;
    }
    case FREE_FOREIGN:
        free(input->data + 1);
        break;
    case SHORT_BUFFER:
        free(output->data);
        output->data = calloc(1, 2);
        break;
    default:
        break;
    }
}

static void stop(enum fault fault)
{
    switch (fault) {
    case DIVIDE_BY_ZERO:
        sink = 7 / zero;
        break;
    case LOOP:
        while (zero == 0) {
        }
        break;
    case STACK_OVERFLOW:
        sink = recurse(zero);
        break;
    case ABORT:
        abort();
    case TRAP:
        __builtin_trap();
    default:
        break;
    }
}

static vx_status map_and_leave(enum fault fault, struct buffer *input)
{
    const size_t count = input->count;
    vx_map_id map;
    vx_size strides[6];
    void *memory;
    const vx_status status =
        vxMapTensorPatch(input->tensor, input->rank, input->start, input->end, &map, strides,
                         &memory, VX_READ_ONLY, VX_MEMORY_TYPE_HOST);
    if (fault == MAP_PAST_END) {
        sink = ((volatile uint16_t *)memory)[count];
    }
    return status;
}

static vx_status copy_bytes_as_words(vx_context context)
{
    uint32_t words[2] = {0};
    vx_size dims[1] = {2};
    vx_size strides[1] = {4};
    vx_size start[1] = {0};
    vx_tensor bytes = vxCreateTensor(context, 1, dims, VX_TYPE_INT8, 0);
    const vx_status status = vxCopyTensorPatch(bytes, 1, start, dims, strides, words, VX_WRITE_ONLY,
                                               VX_MEMORY_TYPE_HOST);
    vxReleaseTensor(&bytes);
    return status;
}

/* Reads the first element of a view through the map of its tensor. */
static vx_status map_view(struct buffer *input)
{
    const vx_size start[6] = {1, 1, 1};
    const vx_size extents[6] = {input->dims[0] - 1, input->dims[1] - 1, 1};
    vx_tensor view = vxCreateTensorFromView(input->tensor, input->rank, start, input->end);
    vx_size strides[6];
    vx_map_id map;
    void *memory;
    vx_status status = vxMapTensorPatch(view, input->rank, input->start, extents, &map, strides,
                                        &memory, VX_READ_ONLY, VX_MEMORY_TYPE_HOST);
    if (status == VX_SUCCESS) {
        sink = *(volatile uint16_t *)memory;
        status = vxUnmapTensorPatch(view, map);
    }
    vxReleaseTensor(&view);
    return status;
}

/* Misuses the runtime; the runtime's status becomes the kernel's. */
static vx_status misuse_runtime(enum fault fault, vx_reference *parameters, vx_node node,
                                struct buffer *input, struct buffer *output)
{
    const vx_context context = vxGetContext((vx_reference)node);

    switch (fault) {
    case LEAK_MAP:
    case MAP_PAST_END:
        return map_and_leave(fault, input);
    case LEAK_REFERENCE: {
        vx_int32 value = 1;
        vxCreateScalar(context, VX_TYPE_INT32, &value);
        break;
    }
    case RELEASE_PARAMETER:
        return vxReleaseReference(&parameters[INPUT]);
    case RELEASE_SCALAR:
        vxReleaseReference(&parameters[FAULT]);
        break;
    case NO_OP_COPY:
        return copy_bytes_as_words(context);
    case LONG_DIMS: {
        vx_uint32 dims[6];
        return vxQueryTensor(output->tensor, VX_TENSOR_DIMS, dims, sizeof dims);
    }
    case OVERLAPPING_STRIDES: {
        const vx_size strides[6] = {2, 2, 2, 2, 2, 2};
        return vxCopyTensorPatch(input->tensor, input->rank, input->start, input->end, strides,
                                 output->data, VX_READ_ONLY, VX_MEMORY_TYPE_HOST);
    }
    case MEMORY_TYPE:
        return copy(output, VX_WRITE_ONLY, 7);
    case MAP_VIEW:
        return map_view(input);
    case UNIFORM:
        vxSetNodeUniform(node, "factor", 1, input->data);
        break;
    case STATUS:
        vxAddLogEntry((vx_reference)node, VX_ERROR_INVALID_VALUE, "parameter '%s': is %d", "fault",
                      26);
        return VX_ERROR_INVALID_VALUE;
    default:
        break;
    }
    return VX_SUCCESS;
}

static vx_status change_result(enum fault fault, struct buffer *output)
{
    static unsigned calls;
    static unsigned calls_until_failure;

    switch (fault) {
    case UNWRITTEN:
        output->end[0] = 1;
        break;
    case OTHER_RESULT:
        output->data[5] = 0x3C00;
        break;
    case NAN_RESULT:
        output->data[5] = 0x7E00;
        break;
    case NOT_REPEATABLE:
        if (calls++ % 5 >= 2) { /* a case calls it twice, then three times in a row */
            output->data[0] = 0x3C00;
        }
        break;
    case FAIL_LATER:
        return calls_until_failure++ % 3 == 2 ? VX_FAILURE : VX_SUCCESS;
    default:
        break;
    }
    return VX_SUCCESS;
}

/* Each of these functions handles some of the faults, and ignores the others. */
static vx_status misbehave(enum fault fault, vx_reference *parameters, vx_node node,
                           struct buffer *input, struct buffer *output)
{
    access_outside(fault, input, output);
    use_unset_memory(fault, output);
    misuse_malloc(fault, input, output);
    stop(fault);
    const vx_status status = misuse_runtime(fault, parameters, node, input, output);
    return status == VX_SUCCESS ? change_result(fault, output) : status;
}

static vx_status VX_CALLBACK kernel_function(vx_node node, const vx_reference *parameters,
                                             vx_uint32 count)
{
    vx_reference copies[COUNT];
    struct buffer input;
    struct buffer output;
    vx_int32 fault = 0;

    memcpy(copies, parameters, count * sizeof *copies);
    vx_status status =
        vxCopyScalar((vx_scalar)parameters[FAULT], &fault, VX_READ_ONLY, VX_MEMORY_TYPE_HOST);
    if (status != VX_SUCCESS) {
        return status;
    }
    status = open_buffer(parameters[INPUT], &input);
    if (status == VX_SUCCESS) {
        status = open_buffer(parameters[OUTPUT], &output);
    }
    if (status == VX_SUCCESS) {
        status = copy(&input, VX_READ_ONLY, VX_MEMORY_TYPE_HOST);
    }
    if (status == VX_SUCCESS) {
        memcpy(output.data, input.data, input.count * sizeof(uint16_t));
        status = misbehave((enum fault)fault, copies, node, &input, &output);
    }
    if (status == VX_SUCCESS) {
        status = copy(&output, VX_WRITE_ONLY, VX_MEMORY_TYPE_HOST);
    }
    free(input.data);
    free(output.data);
    return status;
}

static vx_status VX_CALLBACK validator(vx_node node, const vx_reference parameters[],
                                       vx_uint32 count, vx_meta_format metas[])
{
    (void)node;
    return count == COUNT ? vxSetMetaFormatFromReference(metas[OUTPUT], parameters[INPUT])
                          : VX_ERROR_INVALID_PARAMETERS;
}

/* Allocates memory, which the deinitializer has to free. */
static vx_status VX_CALLBACK initializer(vx_node node, const vx_reference *parameters,
                                         vx_uint32 count)
{
    void *kept = malloc(64);
    (void)parameters;
    (void)count;
    return vxSetNodeAttribute(node, VX_NODE_LOCAL_DATA_PTR, &kept, sizeof kept);
}

/* Afterwards the board frees the memory that LOCAL_DATA_PTR still refers to. */
static vx_status VX_CALLBACK deinitializer(vx_node node, const vx_reference *parameters,
                                           vx_uint32 count)
{
    vx_int32 fault = NONE;
    void *kept = NULL;
    (void)count;
    vx_status status = vxReadScalarValue((vx_scalar)parameters[FAULT], &fault);
    if (status == VX_SUCCESS) {
        status = vxQueryNode(node, VX_NODE_LOCAL_DATA_PTR, &kept, sizeof kept);
    }
    free(kept);
    kept = NULL;
    if (status == VX_SUCCESS && fault != LEFT_LOCAL_DATA) {
        status = vxSetNodeAttribute(node, VX_NODE_LOCAL_DATA_PTR, &kept, sizeof kept);
    }
    return status;
}

static vx_param_description_t kernel_params[] = {
    {VX_INPUT, VX_TYPE_TENSOR, VX_PARAMETER_STATE_REQUIRED},
    {VX_OUTPUT, VX_TYPE_TENSOR, VX_PARAMETER_STATE_REQUIRED},
    {VX_INPUT, VX_TYPE_SCALAR, VX_PARAMETER_STATE_REQUIRED},
};

static vx_kernel_description_t kernel = {
    .name = "faults_cpu",
    .function = kernel_function,
    .parameters = kernel_params,
    .numParams = COUNT,
    .validate = validator,
    .initialize = initializer,
    .deinitialize = deinitializer,
};

extern VX_API_ENTRY vx_kernel_description_t *vx_kernel_Faults_list[];
vx_kernel_description_t *vx_kernel_Faults_list[] = {&kernel, NULL};
