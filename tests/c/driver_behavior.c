/*
 * Check the host runtime against measurements of the driver 1.7.5: one function for each point, run
 * by its name.
 */
#define _GNU_SOURCE /* sigsetjmp, siginfo_t */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opkit/check/harness/memory/guarded_memory.h"

#include "hostrt.h"

static int failures;
static vx_context context;

static void expect(long long given, long long expected, const char *expression, int line)
{
    if (given != expected) {
        fprintf(stderr, "driver_behavior.c:%d: %s is %lld instead of %lld\n", line, expression,
                given, expected);
        failures++;
    }
}

#define EXPECT(expected, expression) \
    expect((long long)(expression), (expected), #expression, __LINE__)

/* Whether the first entry of a log contains a text. */
static bool has_entry(enum hostrt_log log, const char *text)
{
    vx_status status;
    const char *entry = hostrt_log_entry(log, 0, &status);
    return entry != NULL && strstr(entry, text) != NULL;
}

static const struct harness_invocation GUARDED = {.guarded = true, .fill = 0x7E};

/* Logs the leaks and events that guarded memory records. */
static void log_record(const char *what, const void *text, size_t size)
{
    const enum hostrt_log log = strncmp(what, "leak", 4) == 0 ? HOSTRT_LEAK : HOSTRT_EVENT;
    (void)size;
    if (log == HOSTRT_LEAK || strncmp(what, "event", 5) == 0) {
        hostrt_log_append(log, VX_SUCCESS, text);
    }
}

static vx_tensor new_tensor(vx_enum type, vx_size width, vx_size height)
{
    const vx_size dims[] = {width, height};
    return vxCreateTensor(context, 2, dims, type, 0);
}

/* ---- A graph of one node: a float16 tensor in, one out ---- */

enum {
    INPUT,
    OUTPUT,
    COUNT
};

struct operator {
    vx_kernel kernel;
    vx_graph graph;
    vx_node node;
};

/*
 * The behavior of the callbacks: the statuses to return, and functions to run before; `calls` gets
 * the first letter of each callback.
 */
static vx_status validate_status, initialize_status, process_status;
static void (*in_validate)(vx_meta_format metas[]);
static void (*in_initialize)(vx_node node);
static void (*in_process)(void);
static void (*in_deinitialize)(vx_node node);
static char calls[32];

static void called(char letter)
{
    calls[strlen(calls)] = letter;
}

static vx_status VX_CALLBACK validate(vx_node node, const vx_reference references[],
                                      vx_uint32 count, vx_meta_format metas[])
{
    (void)node;
    (void)references;
    called('v');
    EXPECT(COUNT, count);
    if (in_validate != NULL) {
        in_validate(metas);
    }
    return validate_status;
}

static vx_status VX_CALLBACK initialize(vx_node node, const vx_reference *references,
                                        vx_uint32 count)
{
    (void)references;
    (void)count;
    called('i');
    if (in_initialize != NULL) {
        in_initialize(node);
    }
    return initialize_status;
}

static vx_status VX_CALLBACK process(vx_node node, const vx_reference *references, vx_uint32 count)
{
    (void)node;
    (void)references;
    (void)count;
    called('p');
    if (in_process != NULL) {
        in_process();
    }
    return process_status;
}

static vx_status VX_CALLBACK deinitialize(vx_node node, const vx_reference *references,
                                          vx_uint32 count)
{
    (void)references;
    (void)count;
    called('d');
    if (in_deinitialize != NULL) {
        in_deinitialize(node);
    }
    return VX_SUCCESS;
}

static void add_node(struct operator *operator)
{
    operator->node = vxCreateGenericNode(operator->graph, operator->kernel);
    for (vx_uint32 i = 0; i < COUNT; i++) {
        EXPECT(0, vxSetParameterByIndex(operator->node, i,
                                        (vx_reference)new_tensor(VX_TYPE_FLOAT16, 3, 2)));
    }
}

static struct operator new_operator(void)
{
    struct operator operator;
    operator.kernel = vxAddUserKernel(context, "kernel", 0x100, process, COUNT, validate,
                                      initialize, deinitialize);
    EXPECT(0, vxAddParameterToKernel(operator.kernel, INPUT, VX_INPUT, VX_TYPE_TENSOR,
                                     VX_PARAMETER_STATE_REQUIRED));
    EXPECT(0, vxAddParameterToKernel(operator.kernel, OUTPUT, VX_OUTPUT, VX_TYPE_TENSOR,
                                     VX_PARAMETER_STATE_REQUIRED));
    EXPECT(0, vxFinalizeKernel(operator.kernel));
    operator.graph = vxCreateGraph(context);
    add_node(&operator);
    return operator;
}

static void release(struct operator *operator)
{
    EXPECT(0, vxReleaseNode(&operator->node));
    EXPECT(0, vxReleaseGraph(&operator->graph));
}

/* ---- Tensors ---- */

static vx_status copy(vx_tensor tensor, vx_size width, vx_size height, vx_size stride0,
                      vx_size stride1, void *memory, vx_enum usage)
{
    const vx_size start[] = {0, 0};
    const vx_size end[] = {width, height};
    const vx_size strides[] = {stride0, stride1};
    return vxCopyTensorPatch(tensor, 2, start, end, strides, memory, usage, VX_MEMORY_TYPE_HOST);
}

static void a_stride_of_zero(void)
{
    vx_uint16 row[3] = {1, 2, 3};
    vx_tensor tensor = new_tensor(VX_TYPE_FLOAT16, 3, 1);

    EXPECT(-12, copy(tensor, 3, 1, 2, 0, row, VX_WRITE_ONLY)); /* the extent is 1 */
    EXPECT(-12, copy(tensor, 3, 1, 0, 6, row, VX_WRITE_ONLY));
    EXPECT(0, copy(tensor, 3, 1, 2, 6, row, VX_WRITE_ONLY));
    EXPECT(-12, copy(tensor, 3, 1, 2, 0, row, VX_READ_ONLY));
    EXPECT(-12, copy(tensor, 1, 1, 0, 6, row, VX_READ_ONLY));
    /* The driver tests these first. */
    EXPECT(-10, copy(tensor, 4, 1, 2, 0, row, VX_READ_ONLY));
}

static void unaligned_answers(void)
{
    _Alignas(8) vx_uint8 memory[32];
    vx_tensor tensor = new_tensor(VX_TYPE_FLOAT16, 3, 2);
    vx_uint32 dims[2];

    for (vx_size shift = 1; shift < 4; shift++) {
        memset(memory, 0xEE, sizeof memory);
        EXPECT(0, vxQueryTensor(tensor, VX_TENSOR_DIMS, memory + shift, 8));
        memcpy(dims, memory + shift, sizeof dims);
        EXPECT(3, dims[0]);
        EXPECT(2, dims[1]);
        EXPECT(0, vxQueryTensor(tensor, VX_TENSOR_FIXED_POINT_POSITION, memory + shift, 1));
        EXPECT(0, memory[shift]);
        EXPECT(-10, vxQueryTensor(tensor, VX_TENSOR_NUMBER_OF_DIMS, memory + shift, 4));
        EXPECT(-10, vxQueryTensor(tensor, VX_TENSOR_DATA_TYPE, memory + shift, 4));
    }
}

static void entries_after_the_last_dimension(void)
{
    vx_tensor tensor = new_tensor(VX_TYPE_FLOAT16, 3, 2);
    vx_uint32 dims[6];

    guarded_memory_begin(&GUARDED, log_record);
    EXPECT(0, vxQueryTensor(tensor, VX_TENSOR_DIMS, dims, sizeof dims));
    guarded_memory_end();
    EXPECT(3, dims[0]);
    EXPECT(2, dims[1]);
    for (int i = 2; i < 6; i++) {
        EXPECT(0x7E7E7E7E, dims[i]);
    }
}

static void invalid_tensors(void)
{
    const vx_size dims[] = {3, 2, 1, 1, 1, 1, 1};
    const vx_size start[] = {0, 0};
    const vx_size end[] = {3, 3};
    vx_tensor tensor = new_tensor(VX_TYPE_FLOAT16, 3, 2);

    EXPECT(true, vxCreateTensor(context, 2, NULL, VX_TYPE_FLOAT16, 0) == NULL);
    EXPECT(true, vxCreateTensor(context, 0, dims, VX_TYPE_FLOAT16, 0) == NULL);
    EXPECT(true, vxCreateTensor(context, 7, dims, VX_TYPE_FLOAT16, 0) == NULL);
    EXPECT(true, vxCreateTensor(context, 2, dims, VX_TYPE_FLOAT64, 0) == NULL);
    EXPECT(true, vxCreateTensorFromView(tensor, 2, start, end) == NULL);
    EXPECT(true, vxCreateTensorFromView(tensor, 1, start, dims) == NULL);
    EXPECT(true, vxCreateTensorFromView(tensor, 2, NULL, dims) == NULL);
    EXPECT(true, vxCreateTensorFromView(tensor, 2, start, dims) != NULL);
    EXPECT(-7, vxGetStatus(NULL));
    EXPECT(-12, vxGetStatus((vx_reference)(void *)&tensor));
    EXPECT(0, vxGetStatus((vx_reference)tensor));
}

static void attributes_of_a_new_tensor(void)
{
    static const struct {
        vx_enum attribute;
        vx_int32 value;
    } EXPECTED[] = {
        {VX_TENSOR_QUANT_FORMAT, 0},   {VX_TENSOR_ZERO_POINT, 0},
        {VX_TENSOR_SCALE, 0x3F800000}, /* the bits of 1.0 */
        {VX_TENSOR_RANK, 0},           {VX_TENSOR_PRECISION, 0},
        {VX_TENSOR_LIFETIME, 1},
    };
    vx_tensor tensor = new_tensor(VX_TYPE_FLOAT16, 3, 2);

    for (size_t i = 0; i < dimof(EXPECTED); i++) {
        vx_int32 value = -1;
        EXPECT(0, vxQueryTensor(tensor, EXPECTED[i].attribute, &value, sizeof value));
        EXPECT(EXPECTED[i].value, value);
    }
}

static void mapping_with_fewer_dimensions(void)
{
    vx_uint16 elements[6] = {0, 1, 2, 3, 4, 5};
    const vx_size start[] = {1};
    const vx_size end[] = {3};
    vx_size strides[2] = {77, 77};
    vx_tensor tensor = new_tensor(VX_TYPE_FLOAT16, 3, 2);
    vx_map_id map;
    void *memory;

    EXPECT(0, copy(tensor, 3, 2, 2, 6, elements, VX_WRITE_ONLY));
    EXPECT(0, vxMapTensorPatch(tensor, 1, start, end, &map, strides, &memory, VX_READ_ONLY,
                               VX_MEMORY_TYPE_HOST));
    EXPECT(true, has_entry(HOSTRT_EVENT, "gets 1 dimensions of a tensor with 2, and maps any"));
    EXPECT(2, strides[0]);
    EXPECT(77, strides[1]);
    EXPECT(0, vxUnmapTensorPatch(tensor, map));
    EXPECT(-10, vxMapTensorPatch(tensor, 0, start, end, &map, strides, &memory, VX_READ_ONLY,
                                 VX_MEMORY_TYPE_HOST));
    EXPECT(-10, vxMapTensorPatch(tensor, 3, start, end, &map, strides, &memory, VX_READ_ONLY,
                                 VX_MEMORY_TYPE_HOST));
    /* A copy does not accept fewer dimensions. */
    EXPECT(-12, vxCopyTensorPatch(tensor, 1, start, end, strides, elements, VX_READ_ONLY,
                                  VX_MEMORY_TYPE_HOST));
}

static void strides_that_overlap_by_one_byte(void)
{
    vx_uint16 elements[16] = {0};
    vx_tensor tensor = new_tensor(VX_TYPE_FLOAT16, 3, 2);

    EXPECT(0, copy(tensor, 3, 2, 2, 6, elements, VX_WRITE_ONLY));
    EXPECT(0, copy(tensor, 3, 2, 2, 6, elements, VX_READ_ONLY));
    EXPECT(0, copy(tensor, 3, 2, 2, 7, elements, VX_READ_ONLY));
    /* One row does not overlap another; read-only elements may overlap. */
    EXPECT(0, copy(tensor, 3, 1, 2, 1, elements, VX_READ_ONLY));
    EXPECT(0, copy(tensor, 3, 2, 2, 5, elements, VX_WRITE_ONLY));
    EXPECT(false, has_entry(HOSTRT_EVENT, ""));
    EXPECT(0, copy(tensor, 3, 2, 2, 5, elements, VX_READ_ONLY));
    EXPECT(true,
           has_entry(HOSTRT_EVENT,
                     "vxCopyTensorPatch gets strides by which elements overwrite each other"));
}

static void the_outermost_strides_overlap_by_one_byte(void)
{
    const vx_size dims[] = {3, 2, 2};
    const vx_size start[] = {0, 0, 0};
    const vx_size dense[] = {2, 6, 12};
    const vx_size swapped[] = {2, 12, 6};
    const vx_size overlapping[] = {2, 6, 11};
    vx_uint16 elements[16] = {0};
    vx_tensor tensor = vxCreateTensor(context, 3, dims, VX_TYPE_FLOAT16, 0);

    EXPECT(0, vxCopyTensorPatch(tensor, 3, start, dims, dense, elements, VX_WRITE_ONLY,
                                VX_MEMORY_TYPE_HOST));
    EXPECT(0, vxCopyTensorPatch(tensor, 3, start, dims, dense, elements, VX_READ_ONLY,
                                VX_MEMORY_TYPE_HOST));
    EXPECT(0, vxCopyTensorPatch(tensor, 3, start, dims, swapped, elements, VX_READ_ONLY,
                                VX_MEMORY_TYPE_HOST));
    EXPECT(false, has_entry(HOSTRT_EVENT, ""));
    EXPECT(0, vxCopyTensorPatch(tensor, 3, start, dims, overlapping, elements, VX_READ_ONLY,
                                VX_MEMORY_TYPE_HOST));
    EXPECT(true, has_entry(HOSTRT_EVENT, "overwrite each other"));
}

/* ---- Arrays and scalars ---- */

static const struct {
    vx_enum type;
    vx_size size;
    bool scalar;
} STRUCTS[] = {
    {VX_TYPE_FLOAT16, 2, false},       {VX_TYPE_RECTANGLE, 16, true},
    {VX_TYPE_KEYPOINT, 28, true},      {VX_TYPE_COORDINATES2D, 8, true},
    {VX_TYPE_COORDINATES3D, 12, true},
};

static void arrays_of_structs(void)
{
    for (size_t i = 0; i < dimof(STRUCTS); i++) {
        const vx_size size = STRUCTS[i].size;
        vx_uint8 items[2 * 28] = {1, 2, 3};
        vx_uint8 back[2 * 28] = {0};
        vx_size answer = 0;
        vx_array array = vxCreateArray(context, STRUCTS[i].type, 2);

        EXPECT(0, vxGetStatus((vx_reference)array));
        EXPECT(0, vxQueryArray(array, VX_ARRAY_ITEMSIZE, &answer, sizeof answer));
        EXPECT((long long)size, answer);
        items[size] = 9; /* the second item */
        EXPECT(0, vxAddArrayItems(array, 2, items, size));
        EXPECT(0, vxCopyArrayRange(array, 0, 2, size, back, VX_READ_ONLY, VX_MEMORY_TYPE_HOST));
        EXPECT(0, memcmp(items, back, 2 * size));
        EXPECT(-10,
               vxCopyArrayRange(array, 0, 2, size - 1, back, VX_READ_ONLY, VX_MEMORY_TYPE_HOST));
    }
    EXPECT(-10, vxGetStatus((vx_reference)vxCreateArray(context, VX_TYPE_BOOL8, 2)));
}

static void scalars_of_structs(void)
{
    for (size_t i = 0; i < dimof(STRUCTS); i++) {
        const vx_size size = STRUCTS[i].size;
        vx_uint8 value[32];
        vx_uint8 back[32];
        vx_scalar scalar;

        memset(value, 0x5A, sizeof value);
        memset(back, 0xEE, sizeof back);
        scalar = vxCreateScalar(context, STRUCTS[i].type, value);
        EXPECT(0, vxGetStatus((vx_reference)scalar));
        EXPECT(STRUCTS[i].scalar ? 0 : -3,
               vxCopyScalar(scalar, back, VX_READ_ONLY, VX_MEMORY_TYPE_HOST));
        EXPECT(STRUCTS[i].scalar ? 0x5A : 0xEE, back[size - 1]);
        EXPECT(0xEE, back[size]);
    }
}

/* ---- Kernels and nodes ---- */

static void a_name_of_colons(void)
{
    EXPECT(-10, vxGetStatus((vx_reference)vxAddUserKernel(context, ":", 0x100, process, 1, validate,
                                                          NULL, NULL)));
    EXPECT(-10, vxGetStatus((vx_reference)vxAddUserKernel(context, "", 0x100, process, 1, validate,
                                                          NULL, NULL)));
    EXPECT(0, vxGetStatus((vx_reference)vxAddUserKernel(context, "a", 0x100, process, 1, validate,
                                                        NULL, NULL)));
}

static vx_status meta_status;

static void set_meta_of_input(vx_meta_format metas[])
{
    const vx_enum type = VX_TYPE_FLOAT16;
    EXPECT(true, metas[INPUT] == NULL);
    meta_status = vxSetMetaFormatAttribute(metas[INPUT], VX_TENSOR_DATA_TYPE, &type, sizeof type);
    validate_status = meta_status;
}

static void metas_of_inputs(void)
{
    struct operator operator = new_operator();
    in_validate = set_meta_of_input;
    EXPECT(-12, vxVerifyGraph(operator.graph));
    EXPECT(-12, meta_status);
    EXPECT(0, strcmp(calls, "v"));
    release(&operator);
}

static void set_meta_of_output(vx_meta_format metas[])
{
    const vx_enum type = VX_TYPE_FLOAT16;
    const vx_size dims[7] = {3, 2}; /* or of 32 bits: the size alone is looked at */
    const vx_size size = 1;
    const vx_int8 position = 0;
    vx_meta_format meta = metas[OUTPUT];

    EXPECT(true, meta != NULL);
    EXPECT(0, vxSetMetaFormatAttribute(meta, VX_TENSOR_DATA_TYPE, &type, sizeof type));
    EXPECT(-10, vxSetMetaFormatAttribute(meta, VX_TENSOR_DATA_TYPE, &type, 2));
    EXPECT(-10, vxSetMetaFormatAttribute(meta, VX_TENSOR_DATA_TYPE, NULL, sizeof type));
    EXPECT(0, vxSetMetaFormatAttribute(meta, VX_TENSOR_DIMS, dims, 8));
    EXPECT(0, vxSetMetaFormatAttribute(meta, VX_TENSOR_DIMS, dims, 6 * sizeof dims[0]));
    EXPECT(-10, vxSetMetaFormatAttribute(meta, VX_TENSOR_DIMS, dims, sizeof dims));
    EXPECT(0, vxSetMetaFormatAttribute(meta, VX_TENSOR_FIXED_POINT_POSITION, &position, 1));
    EXPECT(-17, vxSetMetaFormatAttribute(meta, 0x999999, &type, sizeof type));
    /* This output is a tensor. */
    EXPECT(-17, vxSetMetaFormatAttribute(meta, VX_ARRAY_CAPACITY, &size, sizeof size));
}

static void metas_of_outputs(void)
{
    struct operator operator = new_operator();
    in_validate = set_meta_of_output;
    EXPECT(0, vxVerifyGraph(operator.graph));
    EXPECT(0, strcmp(calls, "vi"));
    release(&operator);
}

static void deinitialize_after_a_failing_validate(void)
{
    struct operator operator = new_operator();
    validate_status = VX_ERROR_INVALID_FORMAT;
    EXPECT(-14, vxVerifyGraph(operator.graph));
    EXPECT(0, strcmp(calls, "v"));
    release(&operator);
    EXPECT(0, strcmp(calls, "vd"));
}

static void deinitialize_after_a_failing_initialize(void)
{
    struct operator operator = new_operator();
    initialize_status = VX_ERROR_INVALID_FORMAT;
    EXPECT(-14, vxVerifyGraph(operator.graph));
    release(&operator);
    EXPECT(0, strcmp(calls, "vid"));
}

static void a_node_that_was_never_verified(void)
{
    struct operator operator = new_operator();
    release(&operator);
    EXPECT(0, strcmp(calls, "d"));
}

static void a_second_verification(void)
{
    struct operator operator = new_operator();
    EXPECT(0, vxVerifyGraph(operator.graph));
    EXPECT(0, vxVerifyGraph(operator.graph));
    EXPECT(0, vxProcessGraph(operator.graph));
    EXPECT(0, strcmp(calls, "vip"));
    EXPECT(0, vxReleaseNode(&operator.node));
    add_node(&operator); /* the new node makes a second verification necessary */
    EXPECT(0, vxVerifyGraph(operator.graph));
    EXPECT(0, strcmp(calls, "vipddvvii"));
    release(&operator);
    EXPECT(0, strcmp(calls, "vipddvviidd"));
}

static void *local_data;

static void allocate_local_data(vx_node node)
{
    local_data = malloc(32);
    EXPECT(0, vxSetNodeAttribute(node, VX_NODE_LOCAL_DATA_PTR, &local_data, sizeof local_data));
}

static void free_local_data(vx_node node)
{
    (void)node;
    free(local_data);
}

static void free_and_clear_local_data(vx_node node)
{
    void *nothing = NULL;
    const vx_size none = 0;
    free(local_data);
    EXPECT(0, vxSetNodeAttribute(node, VX_NODE_LOCAL_DATA_PTR, &nothing, sizeof nothing));
    EXPECT(0, vxSetNodeAttribute(node, VX_NODE_LOCAL_DATA_SIZE, &none, sizeof none));
}

/* Verifies and releases a graph whose initializer allocates local data. */
static void run_with_local_data(void (*deinitializer)(vx_node node))
{
    struct operator operator = new_operator();

    in_initialize = allocate_local_data;
    in_deinitialize = deinitializer;
    guarded_memory_begin(&GUARDED, log_record);
    guarded_memory_set_active(true);
    EXPECT(0, vxVerifyGraph(operator.graph));
    release(&operator);
    guarded_memory_set_active(false);
    guarded_memory_end();
    EXPECT(false, has_entry(HOSTRT_LEAK, ""));
}

static void local_data_that_is_freed_and_cleared(void)
{
    run_with_local_data(free_and_clear_local_data);
    EXPECT(false, has_entry(HOSTRT_EVENT, ""));
}

static void local_data_that_the_driver_frees(void)
{
    run_with_local_data(NULL);
    EXPECT(false, has_entry(HOSTRT_EVENT, ""));
}

static void local_data_that_is_freed_and_left(void)
{
    run_with_local_data(free_local_data);
    EXPECT(true,
           has_entry(HOSTRT_EVENT, "vxReleaseGraph crashes the board's driver: it frees "
                                   "VX_NODE_LOCAL_DATA_PTR, which the deinitializer has freed"));
}

static void execution_parameters_cannot_be_queried(void)
{
    vx_kernel_execution_parameters_t given = {.workDim = 2, .globalWorkSize = {8, 4, 0}};
    vx_kernel_execution_parameters_t told = {0};
    struct operator operator = new_operator();

    EXPECT(0, vxSetNodeAttribute(operator.node, VX_NODE_ATTRIBUTE_KERNEL_EXECUTION_PARAMETERS,
                                 &given, sizeof given));
    EXPECT(-10, vxQueryNode(operator.node, VX_NODE_ATTRIBUTE_KERNEL_EXECUTION_PARAMETERS, &told,
                            sizeof told));
    EXPECT(0, told.workDim);
    /* The calling program can query them. */
    EXPECT(0, hostrt_launch(operator.node, &told));
    EXPECT(2, told.workDim);
    EXPECT(4, told.globalWorkSize[1]);
    release(&operator);
}

static void a_failing_kernel_is_silent(void)
{
    struct operator operator = new_operator();
    vx_status node_status = 99;

    process_status = VX_ERROR_INVALID_VALUE;
    EXPECT(0, vxProcessGraph(operator.graph));
    EXPECT(0, vxQueryNode(operator.node, VX_NODE_STATUS, &node_status, sizeof node_status));
    EXPECT(0, node_status);
    /* The status is recorded for a check. */
    EXPECT(-16, operator.graph->kernel_status);
    process_status = VX_SUCCESS;
    EXPECT(0, vxProcessGraph(operator.graph));
    EXPECT(0, operator.graph->kernel_status);
    release(&operator);
}

/* ---- Guards ---- */

static vx_uint8 *volatile memory;
static sigjmp_buf after_fault;
static char fault[512];

static void on_fault(int number, siginfo_t *information, void *context)
{
    (void)number;
    (void)context;
    guarded_memory_set_active(false);
    if (!guarded_memory_explain(information->si_addr, fault, sizeof fault)) {
        strcpy(fault, "somewhere");
    }
    siglongjmp(after_fault, 1);
}

/* Runs `body` as a kernel, between guards filled with a byte. */
static vx_status run_guarded(void (*body)(void))
{
    const struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    struct operator operator = new_operator();
    volatile vx_status status = VX_FAILURE;

    in_process = body;
    sigaction(SIGSEGV, &action, NULL);
    guarded_memory_begin(&GUARDED, log_record);
    if (sigsetjmp(after_fault, 1) == 0) {
        guarded_memory_set_active(true);
        status = vxProcessGraph(operator.graph);
        guarded_memory_set_active(false);
    }
    guarded_memory_end();
    return status;
}

static void write_within(void)
{
    memory = aligned_alloc(16, 5);
    memory[0] = 1;
    memory[4] = 1;
    free(memory);
}

static void write_one_byte_past_the_end(void)
{
    memory = aligned_alloc(16, 5);
    memory[5] = 1;
    free(memory);
}

static void write_one_byte_before_the_start(void)
{
    memory = aligned_alloc(16, 5);
    memory[-1] = 1;
    free(memory);
}

static void read_one_byte_past_the_end(void)
{
    memory = malloc(5);
    memory[0] = memory[5];
    free(memory);
}

static void one_byte_within(void)
{
    EXPECT(0, run_guarded(write_within));
    EXPECT(false, has_entry(HOSTRT_EVENT, ""));
}

static void one_byte_past_the_end(void)
{
    EXPECT(0, run_guarded(write_one_byte_past_the_end));
    EXPECT(true,
           has_entry(HOSTRT_EVENT,
                     "wrote up to 1 bytes past the end of a block of 5 bytes (allocation 1)"));
}

static void one_byte_before_the_start(void)
{
    EXPECT(0, run_guarded(write_one_byte_before_the_start));
    EXPECT(true,
           has_entry(HOSTRT_EVENT,
                     "wrote up to 1 bytes before the start of a block of 5 bytes (allocation 1)"));
}

static void a_read_past_the_end_faults(void)
{
    EXPECT(-1, run_guarded(read_one_byte_past_the_end));
    EXPECT(true, strstr(fault, "just past the end of a block of 5 bytes (allocation 1)") != NULL);
}

/* ---- Running ---- */

static const struct {
    const char *name;
    void (*run)(void);
} TESTS[] = {
#define TEST(name) {#name, name}
    TEST(a_stride_of_zero),
    TEST(unaligned_answers),
    TEST(entries_after_the_last_dimension),
    TEST(invalid_tensors),
    TEST(attributes_of_a_new_tensor),
    TEST(mapping_with_fewer_dimensions),
    TEST(strides_that_overlap_by_one_byte),
    TEST(the_outermost_strides_overlap_by_one_byte),
    TEST(arrays_of_structs),
    TEST(scalars_of_structs),
    TEST(a_name_of_colons),
    TEST(metas_of_inputs),
    TEST(metas_of_outputs),
    TEST(deinitialize_after_a_failing_validate),
    TEST(deinitialize_after_a_failing_initialize),
    TEST(a_node_that_was_never_verified),
    TEST(a_second_verification),
    TEST(local_data_that_is_freed_and_cleared),
    TEST(local_data_that_the_driver_frees),
    TEST(local_data_that_is_freed_and_left),
    TEST(execution_parameters_cannot_be_queried),
    TEST(a_failing_kernel_is_silent),
    TEST(one_byte_within),
    TEST(one_byte_past_the_end),
    TEST(one_byte_before_the_start),
    TEST(a_read_past_the_end_faults),
};

/* Runs the test of that name; without a name, lists the tests. */
int main(int count, char **arguments)
{
    for (size_t i = 0; i < dimof(TESTS); i++) {
        if (count < 2) {
            puts(TESTS[i].name);
        } else if (strcmp(TESTS[i].name, arguments[1]) == 0) {
            context = vxCreateContext();
            TESTS[i].run();
            EXPECT(0, vxReleaseContext(&context));
            return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
        }
    }
    return count < 2 ? EXIT_SUCCESS : 2;
}
