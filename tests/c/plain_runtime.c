/* A minimal runtime: its kernels are functions of arrays. */
#include "opkit/check/harness/runtime.h"

typedef int kernel_f(unsigned count, struct harness_value *values);

static kernel_f *kernel;
static const struct harness_invocation *call;
static harness_record_f *add;
static const char *phase = "the function";

static int prepare(void *entry, const struct harness_invocation *invocation,
                   harness_record_f *record, struct harness_error *error)
{
    (void)error;
    *(void **)&kernel = entry;
    call = invocation;
    add = record;
    return 0;
}

static int nothing(void)
{
    return 0;
}

static int process(void)
{
    return kernel(call->count, call->values);
}

static void report(void)
{
    static const char LINE[] = "this is plain";
    add("log", LINE, sizeof LINE - 1);
}

__attribute__((visibility("default"))) const struct harness_runtime harness_runtime;
const struct harness_runtime harness_runtime = {
    .prepare = prepare,
    .stages = {nothing, process, nothing},
    .report = report,
    .stage_names = {"nothing", "the function", "nothing"},
    .phase = &phase,
};
