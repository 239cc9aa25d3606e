/*
 * Compile opkit/runtimes/rknn/openvx.h with an OpenVX that can fail at any call, and a counting
 * allocator.
 *
 * The OpenVX here is the minimum for openvx.h, and as strict as a board: exact sizes, exact ranks,
 * dense strides.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

/* Count of live allocations; the code under test allocates only through the functions here. */
static int live_allocations;
static int all_allocations; /* also those freed again */
static int allocations_until_failure;

static void *counted_calloc(size_t count, size_t size)
{
    void *memory;
    if (allocations_until_failure > 0 && --allocations_until_failure == 0) {
        return NULL;
    }
    memory = calloc(count, size);
    __atomic_fetch_add(&live_allocations, memory != NULL, __ATOMIC_RELAXED);
    __atomic_fetch_add(&all_allocations, memory != NULL, __ATOMIC_RELAXED);
    return memory;
}

static void *counted_malloc(size_t size)
{
    return counted_calloc(1, size);
}

static void counted_free(void *memory)
{
    __atomic_fetch_sub(&live_allocations, memory != NULL, __ATOMIC_RELAXED);
    free(memory);
}

#define malloc counted_malloc
#define calloc counted_calloc
#define free counted_free
#include <opkit/runtimes/rknn/openvx.h>
#undef malloc
#undef calloc
#undef free

enum {
    PARAMETERS = 8,
    NODES = 3
};

/* A tensor, scalar or array. */
struct object {
    vx_enum kind;
    vx_enum type;
    vx_size element_size;
    vx_uint32 rank;
    vx_uint32 dims[6];
    vx_size count;
    void *data;
};

static struct object objects[PARAMETERS];
static vx_reference references[PARAMETERS];
static struct object nodes[NODES];
static char log_text[4096];
static int calls_until_failure;
static vx_status injected_status;

static bool fails_now(void)
{
    return calls_until_failure > 0 && --calls_until_failure == 0;
}

static vx_status answer(void *value, vx_size size, const void *result, vx_size exact_size)
{
    if (size != exact_size) {
        return VX_ERROR_INVALID_PARAMETERS;
    }
    memcpy(value, result, size);
    return VX_SUCCESS;
}

vx_status vxQueryTensor(vx_tensor tensor, vx_enum attribute, void *value, vx_size size)
{
    const struct object *object = (const struct object *)(void *)tensor;
    if (fails_now()) {
        return injected_status;
    }
    if (object->kind != VX_TYPE_TENSOR) {
        return VX_ERROR_INVALID_REFERENCE;
    }
    switch (attribute) {
    case VX_TENSOR_NUMBER_OF_DIMS:
        return answer(value, size, &object->rank, sizeof object->rank);
    case VX_TENSOR_DIMS:
        return answer(value, size, object->dims, object->rank * sizeof object->dims[0]);
    case VX_TENSOR_DATA_TYPE:
        return answer(value, size, &object->type, sizeof object->type);
    default:
        return VX_ERROR_INVALID_PARAMETERS;
    }
}

vx_status vxCopyTensorPatch(vx_tensor tensor, vx_size number_of_dims, const vx_size *view_start,
                            const vx_size *view_end, const vx_size *user_stride, void *user_memory,
                            vx_enum usage, vx_enum user_memory_type)
{
    const struct object *object = (const struct object *)(void *)tensor;
    vx_size bytes = object->element_size;
    if (fails_now()) {
        return injected_status;
    }
    if (number_of_dims != object->rank || user_memory_type != VX_MEMORY_TYPE_HOST) {
        return VX_ERROR_INVALID_REFERENCE;
    }
    for (vx_size i = 0; i < number_of_dims; i++) {
        if (view_start[i] != 0 || view_end[i] != object->dims[i] || user_stride[i] != bytes) {
            return VX_ERROR_NOT_SUPPORTED;
        }
        bytes *= object->dims[i];
    }
    if (usage == VX_READ_ONLY) {
        memcpy(user_memory, object->data, bytes);
    } else if (usage == VX_WRITE_ONLY) {
        memcpy(object->data, user_memory, bytes);
    } else {
        return VX_ERROR_NOT_SUPPORTED;
    }
    return VX_SUCCESS;
}

vx_status vxQueryScalar(vx_scalar scalar, vx_enum attribute, void *value, vx_size size)
{
    const struct object *object = (const struct object *)(void *)scalar;
    if (fails_now()) {
        return injected_status;
    }
    return attribute == VX_SCALAR_TYPE ? answer(value, size, &object->type, sizeof object->type)
                                       : VX_ERROR_NOT_SUPPORTED;
}

vx_status vxCopyScalar(vx_scalar scalar, void *user_memory, vx_enum usage, vx_enum user_memory_type)
{
    const struct object *object = (const struct object *)(void *)scalar;
    if (fails_now()) {
        return injected_status;
    }
    if (usage != VX_READ_ONLY || user_memory_type != VX_MEMORY_TYPE_HOST ||
        (uintptr_t)user_memory % 4 != 0) {
        return VX_ERROR_INVALID_PARAMETERS;
    }
    memcpy(user_memory, object->data, object->element_size);
    return VX_SUCCESS;
}

vx_status vxQueryArray(vx_array array, vx_enum attribute, void *value, vx_size size)
{
    const struct object *object = (const struct object *)(void *)array;
    if (fails_now()) {
        return injected_status;
    }
    switch (attribute) {
    case VX_ARRAY_ITEMTYPE:
        return answer(value, size, &object->type, sizeof object->type);
    case VX_ARRAY_NUMITEMS:
        return answer(value, size, &object->count, sizeof object->count);
    default:
        return VX_ERROR_NOT_SUPPORTED;
    }
}

vx_status vxCopyArrayRange(vx_array array, vx_size start, vx_size end, vx_size stride,
                           void *user_memory, vx_enum usage, vx_enum user_memory_type)
{
    const struct object *object = (const struct object *)(void *)array;
    if (fails_now()) {
        return injected_status;
    }
    if (start >= end || end > object->count || stride != sizeof(vx_int32) ||
        usage != VX_READ_ONLY || user_memory_type != VX_MEMORY_TYPE_HOST) {
        return VX_ERROR_INVALID_PARAMETERS;
    }
    memcpy(user_memory, (const char *)object->data + start * stride, (end - start) * stride);
    return VX_SUCCESS;
}

void vxAddLogEntry(vx_reference reference, vx_status status, const char *message, ...)
{
    const size_t used = strlen(log_text);
    va_list arguments;
    (void)status;
    if (reference != (vx_reference)(void *)nodes) {
        abort();
    }
    va_start(arguments, message);
    vsnprintf(log_text + used, sizeof log_text - used, message, arguments);
    va_end(arguments);
}

/* ---- The interface of the tests ---- */

#define TEST_FUNCTION __attribute__((visibility("default")))

/* The operator's call in all tests; the node stays NULL in some. */
static struct opkit_call the_call = {"ResizeArea", NULL, references, PARAMETERS};

TEST_FUNCTION void reset(int with_node);
TEST_FUNCTION void set_object(vx_uint32 index, vx_enum kind, vx_enum type, vx_size element_size,
                              vx_uint32 rank, const vx_uint32 *dims, vx_size count, void *data);
TEST_FUNCTION void fail_call(int number, vx_status status);
TEST_FUNCTION void fail_allocation(int number);
TEST_FUNCTION int allocations(void);
TEST_FUNCTION int allocations_ever(void);
TEST_FUNCTION void select_node(int number);
TEST_FUNCTION void add_node(void);
TEST_FUNCTION void remove_node(void);
TEST_FUNCTION int run_nodes_in_threads(void);
TEST_FUNCTION vx_status open_halves(vx_uint32 index, struct opkit_tensor *tensor);
TEST_FUNCTION const char *logged(void);
TEST_FUNCTION vx_status open_tensor(vx_uint32 index, struct opkit_tensor *tensor);
TEST_FUNCTION vx_status read_tensor(vx_uint32 index, struct opkit_tensor *tensor);
TEST_FUNCTION vx_status open_all(vx_uint32 count, struct opkit_tensor *tensors, size_t *places);
TEST_FUNCTION vx_status write_tensor(vx_uint32 index, struct opkit_tensor *tensor);
TEST_FUNCTION vx_status invalidate_tensor(vx_uint32 index);
TEST_FUNCTION void close_tensor(struct opkit_tensor *tensor);
TEST_FUNCTION vx_status read_scalar(vx_uint32 index, vx_enum type, void *value, size_t size);
TEST_FUNCTION vx_status read_array(vx_uint32 index, size_t length, int32_t *items,
                                   struct opkit_int32_array *array);
TEST_FUNCTION vx_status fail(const char *parameter, const char *text);
TEST_FUNCTION vx_status run_operator(void);

void reset(int with_node)
{
    memset(objects, 0, sizeof objects);
    memset(references, 0, sizeof references);
    log_text[0] = '\0';
    live_allocations = 0;
    all_allocations = 0;
    allocations_until_failure = 0;
    calls_until_failure = 0;
    the_call.node = with_node ? (vx_node)(void *)nodes : NULL;
}

void select_node(int number)
{
    the_call.node = (vx_node)(void *)&nodes[number];
}

void add_node(void)
{
    opkit_add_node(the_call.node);
}

void remove_node(void)
{
    opkit_remove_node(the_call.node);
}

void set_object(vx_uint32 index, vx_enum kind, vx_enum type, vx_size element_size, vx_uint32 rank,
                const vx_uint32 *dims, vx_size count, void *data)
{
    struct object *object = &objects[index];
    object->kind = kind;
    object->type = type;
    object->element_size = element_size;
    object->rank = rank;
    memcpy(object->dims, dims, sizeof object->dims);
    object->count = count;
    object->data = data;
    references[index] = (vx_reference)(void *)object;
}

void fail_call(int number, vx_status status)
{
    calls_until_failure = number;
    injected_status = status;
}

void fail_allocation(int number)
{
    allocations_until_failure = number;
}

int allocations(void)
{
    return live_allocations;
}

int allocations_ever(void)
{
    return all_allocations;
}

const char *logged(void)
{
    return log_text;
}

enum {
    THREADS = 4
};

/* Adds and removes a node repeatedly; returns NULL if its memory has always been its own. */
static void *live(void *handle)
{
    for (int i = 0; i < 2000; i++) {
        opkit_add_node((vx_node)handle);
        for (size_t size = 8; size < 1000; size *= 3) {
            struct opkit_node *node = opkit_find_node((vx_node)handle);
            void **memory = node != NULL ? (void **)opkit_reserve(&node->tensors, size) : NULL;
            if (memory == NULL) {
                return handle;
            }
            *memory = handle;
            if (opkit_find_node((vx_node)handle) != node || *memory != handle) {
                return handle;
            }
        }
        opkit_remove_node((vx_node)handle);
    }
    return NULL;
}

/* Runs a node in each thread; returns the number of nodes that used the memory of others. */
int run_nodes_in_threads(void)
{
    static char handles[THREADS];
    pthread_t threads[THREADS];
    int failed = 0;

    for (size_t i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, live, &handles[i]);
    }
    for (size_t i = 0; i < THREADS; i++) {
        void *problem;
        pthread_join(threads[i], &problem);
        failed += problem != NULL;
    }
    return failed;
}

/* The memory of an open tensor, unless its node keeps it. */
static struct opkit_scratch opened;

/* Opens one tensor. */
static vx_status open_alone(vx_uint32 index, vx_enum usage, enum opkit_type half,
                            struct opkit_tensor *tensor)
{
    const struct opkit_tensor_parameter alone = {index, usage, "tensor", tensor};
    const vx_status status = opkit_open_tensors(&the_call, &alone, 1, half, &opened);
    if (status != VX_SUCCESS) {
        opkit_release_scratch(&opened);
    }
    return status;
}

vx_status open_tensor(vx_uint32 index, struct opkit_tensor *tensor)
{
    return open_alone(index, VX_WRITE_ONLY, OPKIT_FLOAT32, tensor);
}

vx_status open_halves(vx_uint32 index, struct opkit_tensor *tensor)
{
    return open_alone(index, VX_READ_ONLY, OPKIT_FLOAT16, tensor);
}

vx_status read_tensor(vx_uint32 index, struct opkit_tensor *tensor)
{
    return open_alone(index, VX_READ_ONLY, OPKIT_FLOAT32, tensor);
}

/* Opens the first parameters; stores the address of each one's elements. */
vx_status open_all(vx_uint32 count, struct opkit_tensor *tensors, size_t *places)
{
    struct opkit_tensor_parameter rows[PARAMETERS];

    for (vx_uint32 i = 0; i < count; i++) {
        rows[i] = (struct opkit_tensor_parameter){i, VX_WRITE_ONLY, "tensor", &tensors[i]};
    }
    OPKIT_TRY(opkit_open_tensors(&the_call, rows, count, OPKIT_FLOAT32, &opened));
    for (vx_uint32 i = 0; i < count; i++) {
        places[i] = (size_t)tensors[i].data;
    }
    opkit_release_scratch(&opened);
    return VX_SUCCESS;
}

vx_status write_tensor(vx_uint32 index, struct opkit_tensor *tensor)
{
    return opkit_write_tensor(&the_call, index, "tensor", tensor);
}

vx_status invalidate_tensor(vx_uint32 index)
{
    return opkit_invalidate_tensor(&the_call, index, "tensor");
}

void close_tensor(struct opkit_tensor *tensor)
{
    tensor->data = NULL;
    opkit_release_scratch(&opened);
}

vx_status read_scalar(vx_uint32 index, vx_enum type, void *value, size_t size)
{
    return opkit_read_scalar(&the_call, index, "scalar", type, value, size);
}

vx_status read_array(vx_uint32 index, size_t length, int32_t *items,
                     struct opkit_int32_array *array)
{
    return opkit_read_int32_array(&the_call, index, "array", length, items, array);
}

vx_status fail(const char *parameter, const char *text)
{
    return opkit_fail(&the_call, VX_FAILURE, parameter, "%s", text);
}

/* A complete operator: negates its input if the flag is set; adds the first item of an array. */
struct arguments {
    struct opkit_tensor input;
    struct opkit_tensor output;
    int32_t items_items[OPKIT_RKNN_MAX_ITEMS];
    struct opkit_int32_array items;
    bool flag;
    struct opkit_scratch memory;
};

static vx_status read_arguments(struct arguments *arguments)
{
    const struct opkit_tensor_parameter tensors[] = {
        {0, VX_READ_ONLY, "input", &arguments->input},
        {1, VX_WRITE_ONLY, "output", &arguments->output},
    };
    OPKIT_TRY(opkit_open_tensors(&the_call, tensors, 2, OPKIT_FLOAT32, &arguments->memory));
    OPKIT_TRY(opkit_read_int32_array(&the_call, 2, "items", 2, arguments->items_items,
                                     &arguments->items));
    OPKIT_TRY(opkit_read_scalar(&the_call, 3, "flag", VX_TYPE_UINT8, &arguments->flag,
                                sizeof arguments->flag));
    return VX_SUCCESS;
}

vx_status run_operator(void)
{
    struct arguments arguments = {0};
    vx_status status = read_arguments(&arguments);
    if (status == VX_SUCCESS) {
        for (size_t i = 0; i < arguments.input.size; i++) {
            const float value = arguments.input.float32[i];
            arguments.output.float32[i] =
                (arguments.flag ? -value : value) + (float)arguments.items.items[0];
        }
        status = opkit_write_tensor(&the_call, 1, "output", &arguments.output);
    }
    opkit_release_scratch(&arguments.memory);
    return status;
}
