/*
 * The host runtime in place of librknnrt: runs one node for the harness.
 *
 * The entry of a plugin is get_rknn_custom_op. Order and arguments of the calls are as the vendor
 * documents: init once, without elements of tensors; prepare and compute for every inference, on
 * buffers that begin at an offset in larger memory; destroy once, but not after init has failed.
 * Integers of a model are attributes of type int64, floats float32, texts uint8. Tensors keep the
 * type of the incoming values; calling_convention.py has the types of each version.
 *
 * Values come in as inputs, outputs and params. A param "const:NAME" is a constant input, after
 * the others; any other one is an attribute. The attachment "attribute:NAME" replaces a param: it
 * has rknn_tensor_type and count of the elements, 32 bits each, and then the bytes; it is empty for
 * a node without the param. Of operators of the GPU, "gpu:offset" is that of the inputs in their
 * memory, in decimal, and with "gpu:thread" compute gets the context of another thread than init.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rknn_custom_op.h>

#include "opkit/check/harness/memory/guarded_memory.h"
#include "opkit/check/harness/memory/libc_memory.h"
#include "opkit/check/harness/memory/profile.h"
#include "opkit/check/harness/runtime.h"
#include "gpu.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

enum {
    OFFSET = 192, /* of the elements in a tensor's memory */
    FAILED = -1
};

static const char CONSTANT[] = "const:";
static const char ATTRIBUTE[] = "attribute:";
static const char OF_GPU[] = "gpu:";

/* The inputs or the outputs of the node. */
struct tensors {
    rknn_custom_op_tensor *items; /* for the operator */
    rknn_custom_op_tensor *before; /* a copy, for comparison */
    const struct harness_value **values;
    uint32_t count;
};

static struct node {
    const struct harness_invocation *invocation;
    harness_record_f *record;
    struct harness_value *values; /* in guarded memory */
    const rknn_custom_op *op;
    rknn_custom_op_context context;
    struct tensors inputs;
    struct tensors outputs;
    bool is_initialized;
    bool has_gpu; /* from gpu_open to gpu_close */
} *run; /* the node of the running stage */

static const char *phase;

/* Whether librknnrt hands over values of a type. */
static bool find_type(enum harness_type type, rknn_tensor_type *found)
{
    static const struct {
        enum harness_type type;
        rknn_tensor_type found;
    } TYPES[] = {
        {HARNESS_FLOAT32, RKNN_TENSOR_FLOAT32}, {HARNESS_CHAR, RKNN_TENSOR_UINT8},
        {HARNESS_INT32, RKNN_TENSOR_INT32},     {HARNESS_INT64, RKNN_TENSOR_INT64},
        {HARNESS_BOOL, RKNN_TENSOR_BOOL},
    };

    for (size_t i = 0; i < LENGTH(TYPES); i++) {
        if (TYPES[i].type == type) {
            *found = TYPES[i].found;
            return true;
        }
    }
    return false;
}

static uint32_t count_of(const struct harness_value *value)
{
    size_t count = 1;
    for (unsigned i = 0; i < value->rank; i++) {
        count *= value->shape[i];
    }
    return (uint32_t)count;
}

/* ---- librknnrt's functions for operators ---- */

RKNN_CUSTOM_OP_EXPORT void rknn_custom_op_get_op_attr(rknn_custom_op_context *op_ctx,
                                                      const char *attr_name,
                                                      rknn_custom_op_attr *op_attr);
RKNN_CUSTOM_OP_EXPORT int rknn_register_custom_ops(rknn_context ctx, rknn_custom_op *op,
                                                   uint32_t custom_op_num);

static void describe_attribute(const void *owner, char *text, size_t size)
{
    snprintf(text, size, "attribute '%s'", (const char *)owner);
}

/* Hands over an attribute; its data is valid until the calling function returns. */
static void set_attribute(rknn_custom_op_attr *attr, const char *name, uint32_t type,
                          uint32_t count, const void *data, size_t size)
{
    snprintf(attr->name, sizeof attr->name, "%s", name);
    attr->dtype = (rknn_tensor_type)type;
    attr->n_elems = count;
    attr->data = guarded_block_new_for_stage(describe_attribute, name, size);
    if (attr->data != NULL) {
        memcpy(attr->data, data, size);
    }
}

static const struct harness_attachment *find_attachment(const char *prefix, const char *name)
{
    for (unsigned i = 0; i < run->invocation->attachment_count; i++) {
        const struct harness_attachment *attachment = &run->invocation->attachments[i];
        if (strncmp(attachment->name, prefix, strlen(prefix)) == 0 &&
            strcmp(attachment->name + strlen(prefix), name) == 0) {
            return attachment;
        }
    }
    return NULL;
}

/* Whether a value is a constant input of the node. */
static bool is_constant(const struct harness_value *value)
{
    return value->role == HARNESS_PARAM && strncmp(value->name, CONSTANT, strlen(CONSTANT)) == 0 &&
           find_attachment(ATTRIBUTE, value->name + strlen(CONSTANT)) == NULL;
}

void rknn_custom_op_get_op_attr(rknn_custom_op_context *op_ctx, const char *attr_name,
                                rknn_custom_op_attr *op_attr)
{
    const struct harness_attachment *attachment = find_attachment(ATTRIBUTE, attr_name);
    uint32_t head[2]; /* type and count */
    rknn_tensor_type type;

    if (op_ctx != &run->context) {
        static const char EVENT[] = "the operator asks for an attribute of another node";
        run->record("event", EVENT, strlen(EVENT));
        return;
    }
    if (attachment != NULL) {
        if (attachment->size >= sizeof head) {
            memcpy(head, attachment->bytes, sizeof head);
            set_attribute(op_attr, attachment->name + strlen(ATTRIBUTE), head[0], head[1],
                          attachment->bytes + sizeof head, attachment->size - sizeof head);
        }
        return;
    }
    for (unsigned i = 0; i < run->invocation->count; i++) {
        const struct harness_value *value = &run->invocation->values[i];
        if (value->role == HARNESS_PARAM &&
            strncmp(value->name, attr_name, HARNESS_MAX_NAME - 1) == 0 &&
            find_type(value->type, &type)) { /* a long name is truncated */
            set_attribute(op_attr, value->name, type, count_of(value), value->bytes, value->size);
        }
    }
}

/* For applications, which register operators themselves; unused here. */
int rknn_register_custom_ops(rknn_context ctx, rknn_custom_op *op, uint32_t custom_op_num)
{
    (void)ctx;
    (void)op;
    (void)custom_op_num;
    return FAILED;
}

/* ---- Preparation ---- */

/* Returns the reason why the board would refuse an operator, or NULL. */
static const char *find_problem(const rknn_custom_op *op)
{
    if (op == NULL) {
        return "get_rknn_custom_op returns NULL";
    }
    if (op->target != RKNN_TARGET_TYPE_CPU && op->target != RKNN_TARGET_TYPE_GPU) {
        return "target is neither RKNN_TARGET_TYPE_CPU nor RKNN_TARGET_TYPE_GPU";
    }
    if (op->target == RKNN_TARGET_TYPE_GPU &&
        (op->cl_kernel_name[0] == '\0' || op->cl_kernel_source == NULL)) {
        return "cl_kernel_name is empty, or cl_kernel_source is NULL";
    }
    if (op->op_type[0] == '\0' || memchr(op->op_type, '\0', sizeof op->op_type) == NULL) {
        return "op_type is empty, or not terminated";
    }
    if (op->compute == NULL) {
        return "compute is NULL";
    }
    return op->compute_native != NULL ? "compute_native is not NULL" : NULL;
}

static bool add_tensor(struct tensors *tensors, const struct harness_value *value,
                       struct harness_error *error)
{
    rknn_custom_op_tensor *tensor = &tensors->items[tensors->count];
    rknn_tensor_attr *attr = &tensor->attr;

    if (!find_type(value->type, &attr->type) || attr->type == RKNN_TENSOR_UINT8) {
        snprintf(error->message, sizeof error->message, "'%s' is not float32, int32, int64 or bool",
                 value->name);
        return false;
    }
    attr->index = tensors->count;
    attr->n_dims = value->rank > 0 ? value->rank : 1;
    attr->dims[0] = 1;
    for (unsigned i = 0; i < value->rank; i++) {
        attr->dims[i] = (uint32_t)value->shape[i];
    }
    snprintf(attr->name, sizeof attr->name, "%s", value->name);
    attr->n_elems = count_of(value);
    attr->size = (uint32_t)value->size;
    attr->size_with_stride = attr->size;
    attr->fmt = attr->n_dims == 4 ? RKNN_TENSOR_NCHW : RKNN_TENSOR_UNDEFINED;
    attr->scale = 1;
    tensor->mem.fd = -1;
    tensors->values[tensors->count++] = value;
    return true;
}

/* Fills the inputs or the outputs of the node, without memory for their elements. */
static bool add_tensors(struct tensors *tensors, bool is_output, struct harness_error *error)
{
    const unsigned count = run->invocation->count;

    tensors->items = __libc_calloc(count, sizeof *tensors->items);
    tensors->before = __libc_calloc(count, sizeof *tensors->before);
    tensors->values = __libc_calloc(count, sizeof *tensors->values);
    for (unsigned i = 0; i < count; i++) {
        const struct harness_value *value = &run->values[i];
        const bool is_input = value->role == HARNESS_INPUT || is_constant(value);
        if ((is_output ? value->role == HARNESS_OUTPUT : is_input) &&
            !add_tensor(tensors, value, error)) {
            return false;
        }
    }
    memcpy(tensors->before, tensors->items, tensors->count * sizeof *tensors->items);
    return true;
}

__attribute__((format(printf, 1, 0))) static void record_event(const char *format, const char *name)
{
    char text[HARNESS_MAX_NAME + 64];
    snprintf(text, sizeof text, format, name);
    run->record("event", text, strlen(text));
}

static bool is_on_gpu(void)
{
    return run->op->target == RKNN_TARGET_TYPE_GPU;
}

/* Sets the offset of the tensors in their memory; on the GPU, they have had it since init. */
static void add_memory(struct tensors *tensors)
{
    for (uint32_t i = 0; i < tensors->count && !is_on_gpu(); i++) {
        rknn_tensor_mem *mem = &tensors->items[i].mem;
        mem->virt_addr = (void *)((uintptr_t)tensors->values[i]->bytes - OFFSET);
        mem->offset = OFFSET;
        mem->size = (uint32_t)tensors->values[i]->size + OFFSET;
    }
    memcpy(tensors->before, tensors->items, tensors->count * sizeof *tensors->items);
}

/* Gives the tensors memory of the GPU. */
static bool add_gpu_memory(struct tensors *tensors, bool is_output)
{
    const struct harness_attachment *asked = is_output ? NULL : find_attachment(OF_GPU, "offset");
    const size_t offset = asked != NULL ? strtoul(asked->bytes, NULL, 10) : 0;

    for (uint32_t i = 0; i < tensors->count; i++) {
        const struct harness_value *value = tensors->values[i];
        if (!gpu_allocate(&tensors->items[i].mem, value->name, value->bytes, value->size, offset)) {
            return false;
        }
    }
    memcpy(tensors->before, tensors->items, tensors->count * sizeof *tensors->items);
    return true;
}

/* Takes the outputs from memory of the GPU, and reports changed inputs. */
static void take_gpu_memory(struct tensors *tensors, bool is_output)
{
    for (uint32_t i = 0; i < tensors->count; i++) {
        const struct harness_value *value = tensors->values[i];
        rknn_tensor_mem *mem = &tensors->before[i].mem;
        if (mem->virt_addr != NULL && is_output) {
            memcpy(value->bytes, mem->virt_addr, value->size);
        } else if (mem->virt_addr != NULL &&
                   memcmp(value->bytes, (char *)mem->virt_addr + mem->offset, value->size) != 0) {
            record_event("the GPU kernel changes the input '%s'", value->name);
        }
        gpu_free(mem);
    }
}

static int prepare(void *entry, const struct harness_invocation *invocation,
                   harness_record_f *record, struct harness_error *error, void **node)
{
    rknn_custom_op *(*get_custom_op)(void);

    run = *node = __libc_calloc(1, sizeof *run);
    if (run == NULL) {
        return FAILED;
    }
    run->invocation = invocation;
    run->record = record;
    memcpy(&get_custom_op, &entry, sizeof entry);
    run->op = get_custom_op();
    const char *problem = find_problem(run->op);
    if (problem != NULL) {
        snprintf(error->message, sizeof error->message, "the custom operator: %s", problem);
        return FAILED;
    }
    guarded_memory_begin(invocation, record);
    run->values = guarded_values_new(invocation);
    if (run->values == NULL) {
        snprintf(error->message, sizeof error->message, "not enough memory for the tensors");
        return FAILED;
    }
    run->context.target = run->op->target;
    if (!add_tensors(&run->inputs, false, error) || !add_tensors(&run->outputs, true, error)) {
        return FAILED;
    }
    if (is_on_gpu()) {
        problem = gpu_open(invocation, record, &run->context.gpu_ctx);
        run->has_gpu = true;
        if (problem == NULL &&
            (!add_gpu_memory(&run->inputs, false) || !add_gpu_memory(&run->outputs, true))) {
            problem = "not enough memory for the tensors";
        }
        if (problem != NULL) {
            snprintf(error->message, sizeof error->message, "the GPU: %s", problem);
            return FAILED;
        }
    }
    return 0;
}

/* ---- The stages ---- */

typedef int function_f(rknn_custom_op_context *context, rknn_custom_op_tensor *inputs,
                       uint32_t input_count, rknn_custom_op_tensor *outputs, uint32_t output_count);

/* Calls one of the operator's functions, unless it is NULL. */
static int call(const char *name, function_f *function)
{
    phase = name;
    return function == NULL ? 0
                            : function(&run->context, run->inputs.items, run->inputs.count,
                                       run->outputs.items, run->outputs.count);
}

static int set_up(void *node)
{
    run = node;
    guarded_memory_set_active(true);
    const int status = call("init", run->op->init);
    guarded_memory_set_active(false);
    run->is_initialized = status == 0;
    add_memory(&run->inputs);
    add_memory(&run->outputs);
    return status;
}

static int process(void *node)
{
    run = node;
    if (is_on_gpu() && find_attachment(OF_GPU, "thread") != NULL &&
        !gpu_open_another(&run->context.gpu_ctx)) {
        return FAILED;
    }
    guarded_memory_set_active(true);
    int status = call("prepare", run->op->prepare);
    if (status == 0) {
        status = call("compute", run->op->compute);
    }
    guarded_memory_set_active(false);
    return status;
}

/* Reports the operator's changes to the runtime's own data. */
static void compare(const struct tensors *tensors)
{
    for (uint32_t i = 0; i < tensors->count; i++) {
        const struct harness_value *value = tensors->values[i];
        if (memcmp(&tensors->items[i], &tensors->before[i], sizeof *tensors->items) != 0) {
            record_event("the operator changes the description of '%s'", value->name);
        }
    }
}

static int clean_up(void *node)
{
    run = node;
    phase = "destroy";
    guarded_memory_set_active(true);
    const bool is_destroyed = run->is_initialized && run->op->destroy != NULL;
    const int status = is_destroyed ? run->op->destroy(&run->context) : 0;
    guarded_memory_set_active(false);
    compare(&run->inputs);
    compare(&run->outputs);
    if (run->has_gpu) {
        take_gpu_memory(&run->inputs, false);
        take_gpu_memory(&run->outputs, true);
        gpu_close();
        run->has_gpu = false;
    }
    guarded_values_delete(run->invocation, run->values);
    guarded_memory_end();
    return status;
}

static void report(void)
{
    if (run != NULL && run->has_gpu) { /* clean_up did not run */
        gpu_abandon();
    }
}

RKNN_CUSTOM_OP_EXPORT extern const struct harness_runtime harness_runtime;
const struct harness_runtime harness_runtime = {
    .prepare = prepare,
    .stages = {set_up, process, clean_up},
    .report = report,
    .explain = guarded_memory_explain,
    .describe_fault = gpu_describe_fault,
    .stage_names = {"init", "compute", "destroy"},
    .phase = &phase,
    .begin_profile = profile_begin,
    .end_profile = profile_end,
};
