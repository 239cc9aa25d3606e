/*
 * Drives a graph of one node as the board's runtime does, for the harness.
 *
 * The entry of a kernel library is its list of kernels. Attachments that come in: kernel_index, 0
 * for the CPU kernel, anything else for a VX kernel, of which the callbacks run, but not the
 * program; uniform:NAME, the size of a _viv_uniform that the program declares; tensor:NAME, a line
 * of numbers: whether its elements are BFLOAT16, the format of its quantization (-1: as created),
 * fixed-point position, zero point, scale. Attachments that go out, of a VX kernel: kernel_name,
 * launch, border, and uniform:NAME, its value.
 */
#include <stdio.h>
#include <stdlib.h>

#include "opkit/check/harness/memory/guarded_memory.h"
#include "opkit/check/harness/memory/libc_memory.h"
#include "opkit/check/harness/memory/profile.h"
#include "opkit/check/harness/runtime.h"
#include "opkit/runtimes/rknn/host_runtime/harness_graph.h"

#include "hostrt.h"

static struct node {
    const struct harness_invocation *invocation;
    harness_record_f *record;
    vx_context context;
    vx_kernel_description_t *description;
    bool has_program;
    vx_graph graph;
    vx_node node; /* the graph's */
    vx_reference *references; /* of the node, in the order of its parameters */
} *run; /* the node of the running stage */

/* ---- Attachments ---- */

static const char UNIFORM[] = "uniform:";
static const char TENSOR[] = "tensor:";

static const struct harness_attachment *next_attachment(const char *prefix, unsigned *position)
{
    while (*position < run->invocation->attachment_count) {
        const struct harness_attachment *attachment = &run->invocation->attachments[(*position)++];
        if (strncmp(attachment->name, prefix, strlen(prefix)) == 0) {
            return attachment;
        }
    }
    return NULL;
}

static void attach(const char *name, const void *bytes, size_t size)
{
    char what[VX_MAX_KERNEL_NAME + 32];
    snprintf(what, sizeof what, "attachment %s", name);
    run->record(what, bytes, size);
}

static void attach_launch(void)
{
    const vx_kernel_execution_parameters_t *launch = &run->node->execution;
    const vx_size *const sizes[] = {launch->globalWorkOffset, launch->globalWorkScale,
                                    launch->localWorkSize, launch->globalWorkSize};
    char text[512];
    size_t length = (size_t)snprintf(text, sizeof text, "%u", launch->workDim);

    for (size_t i = 0; i < dimof(sizes); i++) {
        for (size_t j = 0; j < VX_MAX_WORK_ITEM_DIMENSIONS; j++) {
            length +=
                (size_t)snprintf(text + length, sizeof text - length, " %zu", (size_t)sizes[i][j]);
        }
    }
    attach("launch", text, length);
}

static void attach_uniforms(void)
{
    char name[VX_MAX_KERNEL_NAME + sizeof UNIFORM];
    const vx_char *uniform;
    const void *value;
    vx_size count;
    vx_size size;

    for (vx_size i = 0; hostrt_uniform(run->node, i, &uniform, &count, &value, &size); i++) {
        if (count > 0 && uniform[0] != '\0') {
            snprintf(name, sizeof name, "%s%s", UNIFORM, uniform);
            attach(name, value != NULL ? value : "", value != NULL ? size : 0);
        }
    }
}

/* ---- Objects ---- */

static vx_tensor create_formatted_tensor(vx_context context, const struct harness_value *value)
{
    char name[HARNESS_MAX_NAME + sizeof TENSOR];
    const struct harness_attachment *attachment;
    int is_bfloat16 = 0, format = -1, position = 0, zero_point = 0;
    float scale = 1;

    snprintf(name, sizeof name, "%s%s", TENSOR, value->name);
    for (unsigned i = 0; (attachment = next_attachment(name, &i)) != NULL;) {
        if (strcmp(attachment->name, name) == 0) {
            sscanf(attachment->bytes, "%d %d %d %d %f", &is_bfloat16, &format, &position,
                   &zero_point, &scale);
        }
    }
    const vx_enum type = is_bfloat16 ? VX_TYPE_BFLOAT16 : VX_TYPES[value->type];
    const vx_tensor tensor = create_tensor(context, value, type, (vx_int8)position);
    if (tensor != NULL && format >= 0) {
        tensor->quant_format = format;
        tensor->zero_point = zero_point;
        tensor->scale = scale;
    }
    return tensor;
}

static vx_status create_reference(vx_context context, unsigned index, struct harness_error *error)
{
    const struct harness_value *value = &run->invocation->values[index];
    vx_reference *reference = &run->references[index];

    if (value->role == HARNESS_PARAM) {
        const vx_status status = create_param(context, value, reference, error);
        return status == VX_SUCCESS ? hostrt_set_name(*reference, value->name) : status;
    }
    const vx_tensor tensor = create_formatted_tensor(context, value);
    *reference = (vx_reference)tensor;
    CALL(error, vxGetStatus, *reference);
    CALL(error, hostrt_set_name, *reference, value->name);
    CALL(error, copy_tensor, tensor, value, VX_WRITE_ONLY);
    return VX_SUCCESS;
}

static vx_kernel add_kernel(vx_context context)
{
    static const vx_uint8 PROGRAM[] = {'S', 'H', 'D', 'R'}; /* the driver's magic, and no more */
    vx_kernel_description_t *kernel = run->description;

    if (!run->has_program) {
        return vxAddUserKernel(context, kernel->name, CUSTOM_KERNEL, kernel->function,
                               kernel->numParams, kernel->validate, kernel->initialize,
                               kernel->deinitialize);
    }
    vx_program program = vxCreateProgramWithBinary(context, PROGRAM, sizeof PROGRAM);
    vxBuildProgram(program, "-cl-viv-vx-extension");
    return vxAddKernelInProgram(program, kernel->name, CUSTOM_KERNEL, kernel->numParams,
                                kernel->validate, kernel->initialize, kernel->deinitialize);
}

static vx_status create_node(vx_context context, struct harness_error *error)
{
    vx_kernel kernel = add_kernel(context);
    const struct harness_attachment *uniform;

    vx_status status = finalize_kernel(kernel, run->description, error);
    if (status == VX_SUCCESS) {
        status = create_graph(context, kernel, run->invocation, run->references, &run->graph,
                              &run->node, error);
    }
    if (status != VX_SUCCESS) {
        return status;
    }
    for (unsigned i = 0; (uniform = next_attachment(UNIFORM, &i)) != NULL;) {
        const vx_size size = strtoul(uniform->bytes, NULL, 10);
        CALL(error, hostrt_declare_uniform, run->node, uniform->name + strlen(UNIFORM), size);
    }
    CALL(error, vxReleaseNode, &(vx_node){run->node});
    return VX_SUCCESS;
}

/* ---- Calls of the harness ---- */

static bool choose_kernel(vx_kernel_description_t **kernels, struct harness_error *error)
{
    unsigned position = 0;
    const struct harness_attachment *chosen = next_attachment("kernel_index", &position);
    const unsigned long index = chosen != NULL ? strtoul(chosen->bytes, NULL, 10) : 0;

    run->description = find_kernel(kernels, index, run->invocation, error);
    if (run->description == NULL) {
        return false;
    }
    run->has_program = index > 0;
    return true;
}

static int prepare(void *entry, const struct harness_invocation *invocation,
                   harness_record_f *record, struct harness_error *error, void **node)
{
    run = *node = __libc_calloc(1, sizeof *run);
    if (run == NULL) {
        return VX_ERROR_NO_MEMORY;
    }
    run->invocation = invocation;
    run->record = record;
    if (!choose_kernel(entry, error)) {
        return VX_FAILURE;
    }
    run->references = __libc_calloc(invocation->count, sizeof(vx_reference));
    guarded_memory_begin(invocation, record);
    const vx_context context = run->context = vxCreateContext();
    for (unsigned i = 0; i < invocation->count; i++) {
        const vx_status status = create_reference(context, i, error);
        if (status != VX_SUCCESS) {
            return status;
        }
    }
    const vx_status status = create_node(context, error);
    hostrt_snapshot_references(context);
    return status;
}

static int set_up(void *node)
{
    run = node;
    guarded_memory_set_active(true);
    const vx_status status = vxVerifyGraph(run->graph);
    guarded_memory_set_active(false);
    if (status == VX_SUCCESS && run->has_program) {
        attach("kernel_name", run->description->name, strlen(run->description->name));
        attach("border", &run->node->border, sizeof run->node->border);
        attach_launch();
        attach_uniforms();
    }
    return status;
}

static int process(void *node)
{
    run = node;
    guarded_memory_set_active(true);
    const vx_status status = vxProcessGraph(run->graph);
    guarded_memory_set_active(false);
    /* vxProcessGraph does not report a failure of a CPU kernel, as on the board; a check does. */
    return status == VX_SUCCESS ? run->graph->kernel_status : status;
}

static int clean_up(void *node)
{
    run = node;
    guarded_memory_set_active(true);
    const vx_status status = vxReleaseGraph(&run->graph);
    guarded_memory_set_active(false);
    hostrt_compare_maps(run->context);
    guarded_memory_end();
    hostrt_compare_references(run->context);
    for (unsigned i = 0; i < run->invocation->count; i++) {
        const struct harness_value *value = &run->invocation->values[i];
        if (value->role == HARNESS_OUTPUT) {
            copy_tensor((vx_tensor)run->references[i], value, VX_READ_ONLY);
        }
    }
    vxReleaseContext(&run->context);
    return status;
}

static void report(void)
{
    static const char *const NAMES[] = {
        [HOSTRT_LOG] = "log",
        [HOSTRT_EVENT] = "event",
        [HOSTRT_LEAK] = "leak",
        [HOSTRT_REASON] = "log",
    };
    const char *text;
    vx_status status;

    for (size_t i = 0; i < dimof(NAMES); i++) {
        for (vx_size entry = 0;
             (text = hostrt_log_entry((enum hostrt_log)i, entry, &status)) != NULL; entry++) {
            run->record(NAMES[i], text, strlen(text));
        }
    }
    hostrt_log_clear();
}

VX_API_ENTRY const struct harness_runtime harness_runtime;
const struct harness_runtime harness_runtime = {
    .prepare = prepare,
    .stages = {set_up, process, clean_up},
    .report = report,
    .explain = guarded_memory_explain,
    .stage_names = {"validate or initialize", "the kernel", "deinitialize"},
    .phase = &hostrt_phase,
    .function = &hostrt_function,
    .begin_profile = profile_begin,
    .end_profile = profile_end,
};
