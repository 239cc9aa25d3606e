/*
 * A small librknnrt for tests of applications. A model is a text, with a line for each node: its
 * operator type. The nodes are a chain; all tensors are float32, 1x2x3 and UNDEFINED.
 *
 * Prints each call to stderr: "call rknn_run". The environment variable STUB_FAILS names a function
 * that fails with RKNN_ERR_TIMEOUT instead. Model and inputs are copied, as by the real library.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rknn_api.h>

enum {
    CONTEXT = 7,
    COUNT = 6, /* elements of a tensor */
    MAX_NODES = 8
};

struct node {
    char op_type[RKNN_MAX_NAME_LEN];
    const rknn_custom_op *op;
    rknn_custom_op_context context;
};

static struct {
    struct node nodes[MAX_NODES];
    uint32_t node_count;
    uint32_t flags;
    bool is_registered;
    bool has_inputs;
    bool has_outputs;
    float values[COUNT];
} stub;

/* Prints a call; returns whether it is to fail. */
static bool fails(const char *call, const char *detail)
{
    const char *failing = getenv("STUB_FAILS");

    fprintf(stderr, "call %s%s\n", call, detail);
    return failing != NULL && strcmp(failing, call) == 0;
}

static void describe(rknn_tensor_attr *attr, const char *name)
{
    *attr = (rknn_tensor_attr){
        .index = attr->index,
        .n_dims = 3,
        .dims = {1, 2, 3},
        .n_elems = COUNT,
        .size = COUNT * sizeof(float),
        .fmt = RKNN_TENSOR_UNDEFINED,
        .type = RKNN_TENSOR_FLOAT16,
    };
    snprintf(attr->name, sizeof attr->name, "%s", name);
}

int rknn_init(rknn_context *context, void *model, uint32_t size, uint32_t flag,
              rknn_init_extend *extend)
{
    char text[1024];

    if (fails("rknn_init", flag & RKNN_FLAG_COLLECT_PERF_MASK ? " perf" : "")) {
        return RKNN_ERR_TIMEOUT;
    }
    if (size >= sizeof text || extend != NULL) {
        return RKNN_ERR_PARAM_INVALID;
    }
    memcpy(text, model, size);
    text[size] = '\0';
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        struct node *node = &stub.nodes[stub.node_count++];
        snprintf(node->op_type, sizeof node->op_type, "%s", line);
    }
    stub.flags = flag;
    *context = CONTEXT;
    return RKNN_SUCC;
}

/* Runs a callback of a node on the values. */
static int call_node(struct node *node,
                     int (*callback)(rknn_custom_op_context *, rknn_custom_op_tensor *, uint32_t,
                                     rknn_custom_op_tensor *, uint32_t))
{
    float result[COUNT] = {0};
    rknn_custom_op_tensor input = {0};
    rknn_custom_op_tensor output = {0};

    if (callback == NULL) {
        return RKNN_SUCC;
    }
    describe(&input.attr, "x");
    input.attr.type = RKNN_TENSOR_FLOAT32;
    input.mem = (rknn_tensor_mem){.virt_addr = stub.values, .size = sizeof stub.values};
    output.attr = input.attr;
    output.mem = (rknn_tensor_mem){.virt_addr = result, .size = sizeof result};
    const int status = callback(&node->context, &input, 1, &output, 1);
    memcpy(stub.values, result, sizeof result);
    return status;
}

int rknn_register_custom_ops(rknn_context ctx, rknn_custom_op *op, uint32_t custom_op_num)
{
    char types[1024] = "";

    for (uint32_t i = 0; i < custom_op_num; i++) {
        strncat(strncat(types, " ", 2), op[i].op_type, sizeof types / 8);
    }
    if (fails("rknn_register_custom_ops", types)) {
        return RKNN_ERR_TIMEOUT;
    }
    if (ctx != CONTEXT || stub.is_registered) {
        return RKNN_ERR_FAIL;
    }
    stub.is_registered = true;
    for (uint32_t n = 0; n < stub.node_count; n++) {
        struct node *node = &stub.nodes[n];
        for (uint32_t i = 0; i < custom_op_num; i++) {
            if (strcmp(op[i].op_type, node->op_type) == 0) {
                node->op = &op[i];
            }
        }
        node->context.internal_ctx = n + 1;
        if (node->op == NULL || call_node(node, node->op->init) != 0) {
            return RKNN_ERR_FAIL;
        }
    }
    return RKNN_SUCC;
}

void rknn_custom_op_get_op_attr(rknn_custom_op_context *op_ctx, const char *attr_name,
                                rknn_custom_op_attr *op_attr)
{
    (void)op_ctx;
    (void)attr_name;
    op_attr->n_elems = 0;
    op_attr->data = NULL;
}

int rknn_query(rknn_context context, rknn_query_cmd cmd, void *info, uint32_t size)
{
    static char layers[] = "1 cstTwice CPU 5 us";
    static const char *const NAMES[] = {" count",  " input", " output",
                                        " layers", " time",  " version"};

    if (fails("rknn_query", NAMES[cmd]) || context != CONTEXT) {
        return RKNN_ERR_TIMEOUT;
    }
    switch (cmd) {
    case RKNN_QUERY_IN_OUT_NUM:
        *(rknn_input_output_num *)info = (rknn_input_output_num){1, 1};
        break;
    case RKNN_QUERY_INPUT_ATTR:
    case RKNN_QUERY_OUTPUT_ATTR:
        describe(info, cmd == RKNN_QUERY_INPUT_ATTR ? "x" : "y");
        break;
    case RKNN_QUERY_PERF_DETAIL:
        *(rknn_perf_detail *)info = (rknn_perf_detail){layers, strlen(layers)};
        return stub.flags & RKNN_FLAG_COLLECT_PERF_MASK ? RKNN_SUCC : RKNN_ERR_FAIL;
    case RKNN_QUERY_PERF_RUN:
        *(rknn_perf_run *)info = (rknn_perf_run){stub.has_outputs ? 123 : -1};
        break;
    case RKNN_QUERY_SDK_VERSION:
        memset(info, 0, size);
        memcpy(((rknn_sdk_version *)info)->api_version, "stub", sizeof "stub");
        break;
    }
    return RKNN_SUCC;
}

int rknn_inputs_set(rknn_context context, uint32_t n_inputs, rknn_input inputs[])
{
    if (fails("rknn_inputs_set", "") || context != CONTEXT) {
        return RKNN_ERR_TIMEOUT;
    }
    if (n_inputs != 1 || inputs[0].size != sizeof stub.values || inputs[0].pass_through ||
        inputs[0].type != RKNN_TENSOR_FLOAT32 || inputs[0].fmt != RKNN_TENSOR_UNDEFINED) {
        return RKNN_ERR_INPUT_INVALID;
    }
    memcpy(stub.values, inputs[0].buf, sizeof stub.values);
    stub.has_inputs = true;
    return RKNN_SUCC;
}

int rknn_run(rknn_context context, rknn_run_extend *extend)
{
    if (fails("rknn_run", "") || context != CONTEXT || extend != NULL || !stub.has_inputs) {
        return RKNN_ERR_TIMEOUT;
    }
    for (uint32_t i = 0; i < stub.node_count; i++) {
        if (call_node(&stub.nodes[i], stub.nodes[i].op->compute) != 0) {
            return RKNN_ERR_FAIL;
        }
    }
    return RKNN_SUCC;
}

int rknn_outputs_get(rknn_context context, uint32_t n_outputs, rknn_output outputs[],
                     rknn_output_extend *extend)
{
    if (fails("rknn_outputs_get", "") || context != CONTEXT || extend != NULL) {
        return RKNN_ERR_TIMEOUT;
    }
    if (n_outputs != 1 || !outputs[0].want_float || outputs[0].is_prealloc) {
        return RKNN_ERR_OUTPUT_INVALID;
    }
    outputs[0].size = sizeof stub.values;
    outputs[0].buf = malloc(sizeof stub.values);
    memcpy(outputs[0].buf, stub.values, sizeof stub.values);
    stub.has_outputs = true;
    return RKNN_SUCC;
}

int rknn_outputs_release(rknn_context context, uint32_t n_outputs, rknn_output outputs[])
{
    if (fails("rknn_outputs_release", "") || context != CONTEXT || n_outputs != 1) {
        return RKNN_ERR_TIMEOUT;
    }
    free(outputs[0].buf);
    stub.has_outputs = false;
    return RKNN_SUCC;
}

int rknn_destroy(rknn_context context)
{
    if (fails("rknn_destroy", stub.has_outputs ? " before rknn_outputs_release" : "") ||
        context != CONTEXT) {
        return RKNN_ERR_TIMEOUT;
    }
    for (uint32_t i = 0; i < stub.node_count; i++) {
        struct node *node = &stub.nodes[i];
        if (node->op != NULL && node->op->destroy != NULL) {
            node->op->destroy(&node->context);
        }
    }
    return RKNN_SUCC;
}
