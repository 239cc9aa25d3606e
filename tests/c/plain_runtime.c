/* A minimal runtime: its kernels are functions of arrays. */
#include "opkit/check/harness/memory/guarded_memory.h"
#include "opkit/check/harness/memory/libc_memory.h"
#include "opkit/check/harness/runtime.h"

typedef int kernel_f(unsigned count, struct harness_value *values);

/* The harness may alternate between two of them. */
struct node {
    kernel_f *kernel;
    const struct harness_invocation *call;
    struct harness_value *values;
};

static harness_record_f *add;
static const char *phase = "the function";

static int prepare(void *entry, const struct harness_invocation *invocation,
                   harness_record_f *record, struct harness_error *error, void **object)
{
    struct node *node = __libc_calloc(1, sizeof *node);

    (void)error;
    if (node == NULL) {
        return 1;
    }
    *(void **)&node->kernel = entry;
    node->call = invocation;
    add = record;
    guarded_memory_begin(invocation, record);
    node->values = guarded_values_new(invocation);
    *object = node;
    return node->values != NULL ? 0 : 1;
}

static int set_up(void *object)
{
    (void)object;
    return 0;
}

static int process(void *object)
{
    const struct node *node = object;

    guarded_memory_set_active(true);
    const int status = node->kernel(node->call->count, node->values);
    guarded_memory_set_active(false);
    return status;
}

static int clean_up(void *object)
{
    struct node *node = object;

    guarded_values_delete(node->call, node->values);
    guarded_memory_end();
    __libc_free(node);
    return 0;
}

static void report(void)
{
    static const char LINE[] = "this is plain";
    add("log", LINE, sizeof LINE - 1);
}

__attribute__((visibility("default"))) const struct harness_runtime harness_runtime;
const struct harness_runtime harness_runtime = {
    .prepare = prepare,
    .stages = {set_up, process, clean_up},
    .report = report,
    .explain = guarded_memory_explain,
    .stage_names = {"nothing", "the function", "nothing"},
    .phase = &phase,
};
