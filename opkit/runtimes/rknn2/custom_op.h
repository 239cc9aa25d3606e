/*
 * Adapter between librknnrt's custom operator callbacks and the math: converts tensors and
 * attributes to the operator's structs, and back. All data of the runtime is checked before use.
 * With OPKIT_THREADS, include opkit/compute/parallel.h first; with OPKIT_GPU, gpu.h.
 */
#ifndef OPKIT_CUSTOM_OP_H
#define OPKIT_CUSTOM_OP_H

#include "params.h"
#include "tensors.h"

/* ---- Nodes ---- */

/* The params of a node, read once from its attributes, and the memory of its calls. */
struct opkit_node {
    struct opkit_node *next;
    uint64_t context; /* the runtime's identifier of the node */
    size_t users;
    struct opkit_memory memory; /* strings and lists of the params */
    /* Of past calls, for the next ones: one for each call that ran at the same time. */
    struct opkit_memory *unused;
#ifdef OPKIT_GPU
    struct opkit_gpu gpu;
#endif
    max_align_t params[]; /* the operator's struct */
};

/*
 * The list of initialized nodes.
 *
 * After rknn_dup_context (1.6.0), a node is initialized again, with the old pointer as its private
 * data. Both contexts then share the data, and destroy it twice. So nodes have a reference count,
 * and a pointer that is not in this list is never dereferenced.
 */
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
static inline struct opkit_node **opkit_find_node(const void *node)
{
    struct opkit_node **link = &opkit_nodes.first;

    while (*link != NULL && *link != node) {
        link = &(*link)->next;
    }
    return link;
}

/* Returns the node of a context, or NULL if it is not initialized. */
static inline struct opkit_node *opkit_node_of(const rknn_custom_op_context *context)
{
    opkit_lock_nodes();
    struct opkit_node *node = *opkit_find_node(context->priv_data);
    opkit_unlock_nodes();
    return node;
}

/* Adds a user to a context's node. Returns false if the context has no node yet. */
static inline bool opkit_share_node(const rknn_custom_op_context *context)
{
    opkit_lock_nodes();
    struct opkit_node *node = *opkit_find_node(context->priv_data);
    const bool is_shared = node != NULL && node->context == context->internal_ctx;
    if (is_shared) {
        node->users++;
    }
    opkit_unlock_nodes();
    return is_shared;
}

static inline void opkit_free_node(struct opkit_node *node)
{
    while (node->unused != NULL) {
        struct opkit_memory *memory = node->unused;
        node->unused = memory->next;
        opkit_free(memory);
        free(memory);
    }
#ifdef OPKIT_GPU
    opkit_close_gpu(&node->gpu);
#endif
    opkit_free(&node->memory);
    free(node);
}

/*
 * Returns memory for a call, which no other call uses, or NULL if out of memory. Contexts that
 * share a node may run at the same time.
 */
static inline struct opkit_memory *opkit_take_memory(struct opkit_node *node)
{
    opkit_lock_nodes();
    struct opkit_memory *memory = node->unused;
    if (memory != NULL) {
        node->unused = memory->next;
    }
    opkit_unlock_nodes();
    return memory != NULL ? memory : (struct opkit_memory *)calloc(1, sizeof *memory);
}

static inline void opkit_return_memory(struct opkit_node *node, struct opkit_memory *memory)
{
    opkit_reuse(memory);
    opkit_lock_nodes();
    memory->next = node->unused;
    node->unused = memory;
    opkit_unlock_nodes();
}

/* Creates a node: reads the attributes into params, and stores them as the private data. */
static inline int opkit_init(const struct opkit_operator *op, rknn_custom_op_context *context,
                             uint32_t input_count)
{
    if (opkit_share_node(context)) {
        return 0;
    }
    /* Round up to whole units: malloc may align a block of an odd size too weakly for a node. */
    const size_t units = (op->params_size + sizeof(max_align_t) - 1) / sizeof(max_align_t);
    struct opkit_node *node =
        (struct opkit_node *)calloc(1, sizeof *node + units * sizeof(max_align_t));
    if (node == NULL) {
        return opkit_fail(op, "not enough memory for its params");
    }
    node->context = context->internal_ctx;
    node->users = 1;
    for (size_t i = 0; i < op->param_count; i++) {
        const struct opkit_target target = {node->params, &node->memory};
        if (!opkit_is_input(&op->params[i], input_count) &&
            opkit_read_attribute(op, &op->params[i], context, target) != 0) {
            opkit_free_node(node);
            return OPKIT_FAILED;
        }
    }
#ifdef OPKIT_THREADS
    opkit_retain_threads();
#endif
    opkit_lock_nodes();
    node->next = opkit_nodes.first;
    opkit_nodes.first = node;
    opkit_unlock_nodes();
    context->priv_data = node;
    return 0;
}

/* Removes a user of a node, and frees the node with the last user. */
static inline int opkit_destroy(rknn_custom_op_context *context)
{
    opkit_lock_nodes();
    struct opkit_node **link = opkit_find_node(context->priv_data);
    struct opkit_node *node = *link;
    if (node != NULL && --node->users == 0) {
        *link = node->next;
    } else {
        node = NULL;
    }
    opkit_unlock_nodes();
    if (node != NULL) {
        opkit_free_node(node);
#ifdef OPKIT_THREADS
        opkit_release_threads();
#endif
    }
    context->priv_data = NULL;
    return 0;
}

/* ---- A call ---- */

/* One call of compute: the runtime's arguments, and the operator's structs. */
struct opkit_call {
    const struct opkit_operator *op;
    const rknn_custom_op_context *context;
    const rknn_custom_op_tensor *input_tensors;
    uint32_t input_count;
    const rknn_custom_op_tensor *output_tensors;
    uint32_t output_count;
    void *inputs;
    void *params;
    void *outputs;
    struct opkit_node *node; /* NULL: not initialized */
    struct opkit_memory *memory; /* the node's, or `own` */
    struct opkit_memory own; /* freed after the call */
};

static inline struct opkit_tensor *opkit_tensor_in(void *tensors,
                                                   const struct opkit_tensor_row *row)
{
    return (struct opkit_tensor *)(void *)((char *)tensors + row->offset);
}

/* Returns the maximum number of inputs of a node: tensors, then params. */
static inline size_t opkit_max_inputs(const struct opkit_operator *op)
{
    size_t count = op->input_count;

    for (size_t i = 0; i < op->param_count; i++) {
        count += op->params[i].input != OPKIT_ATTRIBUTE;
    }
    return count;
}

/*
 * Sets the call's params from the node and from constant inputs. The call has its own copy, because
 * contexts that share a node may run at the same time.
 */
static inline int opkit_read_params(struct opkit_call *call)
{
    const struct opkit_operator *op = call->op;
    const struct opkit_node *node = call->node;

    memset(call->params, 0, op->params_size);
    if (op->param_count > 0 && node == NULL) {
        return opkit_fail(op, "the node is not initialized, or already destroyed");
    }
    if (node != NULL) {
        memcpy(call->params, node->params, op->params_size);
    }
    for (size_t i = 0; i < op->param_count; i++) {
        const struct opkit_param *param = &op->params[i];
        if (opkit_is_input(param, call->input_count)) {
            const rknn_custom_op_tensor *input = &call->input_tensors[param->input];
            const struct opkit_tensor_row row = {param->name, OPKIT_DTYPE_ANY, 0};
            const struct opkit_target target = {call->params, call->memory};
            struct opkit_tensor tensor;
            OPKIT_TRY(opkit_open_tensor(op, &row, input, call->memory, &tensor));
            const struct opkit_values values = {"input", true, input->attr.type, tensor.size,
                                                tensor.data};
            OPKIT_TRY(opkit_store(op, param, &values, target));
        }
    }
    return 0;
}

/* Begins a call: checks the counts of tensors, and sets the params. */
static inline int opkit_begin_call(struct opkit_call *call)
{
    const struct opkit_operator *op = call->op;

    call->node = opkit_node_of(call->context);
    call->memory = call->node != NULL ? opkit_take_memory(call->node) : NULL;
    if (call->memory == NULL) {
        call->memory = &call->own;
    }
    OPKIT_TRY(
        opkit_check_count(op, "inputs", call->input_count, op->input_count, opkit_max_inputs(op)));
    OPKIT_TRY(
        opkit_check_count(op, "outputs", call->output_count, op->output_count, op->output_count));
    return opkit_read_params(call);
}

/* Sets the operator's inputs, params and outputs. Close the call, even after an error. */
static inline int opkit_open_call(struct opkit_call *call)
{
    const struct opkit_operator *op = call->op;

    OPKIT_TRY(opkit_begin_call(call));
    for (size_t i = 0; i < op->input_count; i++) {
        const struct opkit_tensor_row *row = &op->inputs[i];
        struct opkit_tensor *tensor = opkit_tensor_in(call->inputs, row);
        const rknn_custom_op_tensor *source = &call->input_tensors[i];
        OPKIT_TRY(opkit_open_tensor(op, row, source, call->memory, tensor));
        OPKIT_TRY(opkit_read_tensor(op, row, source, tensor));
    }
    for (size_t i = 0; i < op->output_count; i++) {
        const struct opkit_tensor_row *row = &op->outputs[i];
        OPKIT_TRY(opkit_open_tensor(op, row, &call->output_tensors[i], call->memory,
                                    opkit_tensor_in(call->outputs, row)));
    }
    return 0;
}

/* Passes the outputs to the runtime. Fails if `problem`, the math's error message, is not NULL. */
static inline int opkit_finish_call(struct opkit_call *call, const char *problem)
{
    if (problem != NULL) {
        return opkit_fail(call->op, "%s", problem);
    }
    for (size_t i = 0; i < call->op->output_count; i++) {
        const struct opkit_tensor_row *row = &call->op->outputs[i];
        OPKIT_TRY(opkit_write_tensor(call->op, row, opkit_tensor_in(call->outputs, row),
                                     &call->output_tensors[i]));
    }
    return 0;
}

static inline void opkit_close_call(struct opkit_call *call)
{
    if (call->memory == &call->own) {
        opkit_free(&call->own);
    } else {
        opkit_return_memory(call->node, call->memory);
    }
}

#ifdef OPKIT_GPU

/* ---- The GPU ---- */

/* Initializes a node as opkit_init does, and its kernel if librknnrt computes it on the GPU. */
static inline int opkit_init_with_gpu(const struct opkit_operator *op,
                                      rknn_custom_op_context *context, uint32_t input_count,
                                      const struct opkit_gpu_kernel *kernel)
{
    OPKIT_TRY(opkit_init(op, context, input_count));
    struct opkit_node *node = opkit_node_of(context);
    if (context->target != RKNN_TARGET_TYPE_GPU || node == NULL || node->gpu.is_open) {
        return 0;
    }
    return opkit_open_gpu(op, kernel, &context->gpu_ctx, &node->gpu);
}

/* Sets the shape of a tensor; its elements are the GPU's. */
static inline int opkit_describe_tensor(const struct opkit_operator *op,
                                        const struct opkit_tensor_row *row,
                                        const rknn_custom_op_tensor *source,
                                        struct opkit_tensor *tensor)
{
    if (source->attr.type != RKNN_TENSOR_FLOAT32) {
        return opkit_fail(op, "tensor '%s' is %s (expected float32 on the GPU)" OPKIT_CPU,
                          row->name, opkit_type_name(source->attr.type));
    }
    OPKIT_TRY(opkit_set_shape(op, row->name, &source->attr, tensor));
    tensor->type = OPKIT_FLOAT32;
    tensor->data = NULL;
    return 0;
}

/*
 * Sets the params, and the shapes of inputs and outputs. Close the call, even after an error. Fails
 * without a message if the CPU computes the node.
 */
static inline int opkit_open_gpu_call(struct opkit_call *call)
{
    const struct opkit_operator *op = call->op;
    const struct opkit_node *node = opkit_node_of(call->context);

    if (call->context->target != RKNN_TARGET_TYPE_GPU || node == NULL ||
        __atomic_load_n(&node->gpu.has_failed, __ATOMIC_RELAXED)) {
        call->memory = &call->own;
        return OPKIT_FAILED;
    }
    OPKIT_TRY(opkit_begin_call(call));
    for (size_t i = 0; i < op->input_count; i++) {
        OPKIT_TRY(opkit_describe_tensor(op, &op->inputs[i], &call->input_tensors[i],
                                        opkit_tensor_in(call->inputs, &op->inputs[i])));
    }
    for (size_t i = 0; i < op->output_count; i++) {
        OPKIT_TRY(opkit_describe_tensor(op, &op->outputs[i], &call->output_tensors[i],
                                        opkit_tensor_in(call->outputs, &op->outputs[i])));
    }
    return 0;
}

/* Runs the kernel, and frees the launch. Fails if `problem`, the reason against it, is not NULL. */
static inline int opkit_launch_call(struct opkit_call *call, struct opkit_launch *launch,
                                    const char *problem)
{
    struct opkit_gpu *gpu = &call->node->gpu;
    int status = OPKIT_FAILED;

    if (problem != NULL) {
        (void)opkit_fail(call->op, "%s" OPKIT_CPU, problem);
    } else {
        pthread_mutex_lock(&gpu->mutex);
        status = opkit_run_on_gpu(call->op, gpu, &call->context->gpu_ctx, call->input_tensors,
                                  call->output_tensors, launch);
        pthread_mutex_unlock(&gpu->mutex);
    }
    opkit_release_launch(launch);
    return status;
}

/*
 * Lets the CPU compute a node, after a call on the GPU that failed. Waits for the queue, in which
 * librknnrt may still convert the inputs.
 */
static inline void opkit_leave_gpu(const rknn_custom_op_context *context)
{
    struct opkit_node *node = opkit_node_of(context);

    if (node != NULL) {
        __atomic_store_n(&node->gpu.has_failed, true, __ATOMIC_RELAXED);
    }
    if (context->target == RKNN_TARGET_TYPE_GPU && context->gpu_ctx.cl_command_queue != NULL) {
        opkit_cl.Finish((opkit_cl_queue)context->gpu_ctx.cl_command_queue);
    }
}

#endif

#endif
