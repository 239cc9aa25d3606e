/* A minimal runtime: its kernels are functions of arrays. */
#include "opkit/check/harness/memory/guarded_memory.h"
#include "opkit/check/harness/runtime.h"

typedef int kernel_f(unsigned count, struct harness_value *values);

static kernel_f *kernel;
static const struct harness_invocation *call;
static struct harness_value *values;
static harness_record_f *add;
static const char *phase = "the function";

static int prepare(void *entry, const struct harness_invocation *invocation,
                   harness_record_f *record, struct harness_error *error, void **node)
{
    (void)error;
    (void)node;
    *(void **)&kernel = entry;
    call = invocation;
    add = record;
    guarded_memory_begin(invocation, record);
    values = guarded_values_new(invocation);
    return values != NULL ? 0 : 1;
}

static int set_up(void *node)
{
    (void)node;
    return 0;
}

static int process(void *node)
{
    (void)node;
    guarded_memory_set_active(true);
    const int status = kernel(call->count, values);
    guarded_memory_set_active(false);
    return status;
}

static int clean_up(void *node)
{
    (void)node;
    guarded_values_delete(call, values);
    guarded_memory_end();
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
