/*
 * Runs the CPU kernel of one operator on what comes in on stdin, until stdin ends; opkit/kernels/remote.py is the other side.
 *
 * Together with the kernel and the host runtime this is one executable: a static one for an emulator or a board, and one
 * with sanitizers for the PC. RUNNER_KERNELS is the operator's list of kernels, vx_kernel_<Name>_list.
 *
 * A request, in which every <size> is followed by a newline and that many bytes:
 *
 *     run <fill, -1: none> <how often> <seconds per callback> <number of parameters>\n
 *     <input | output | scalar | array> <VX_TYPE_... as a number> <name> <size>      for each parameter, in order
 *
 * Tensors are .npy files, an output's with what it holds beforehand; scalars and items are plain bytes. The answer:
 *
 *     <status | stage | seconds | fault | log | event | leak | output> <size>        as many as there are
 *     end 0
 *
 * Outputs are .npy files again, in order, and come when the status is 0.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../runtimes/rknn/host_runtime/hostrt.h"

#define RUNTIME_ENUMERATION 0xFFF03080 /* what the board's runtime writes into every custom kernel */

extern vx_kernel_description_t *RUNNER_KERNELS[];

struct parameter {
    char kind[8];
    vx_enum type;
    char name[VX_MAX_REFERENCE_NAME];
    size_t size;
    char *bytes; /* and a zero behind them */
    vx_reference reference;
};

struct request {
    int fill;
    unsigned times;
    double limit;
    unsigned count;
    struct parameter *parameters;
};

struct result {
    vx_status status;
    const char *stage; /* which function or callback gave the status */
    double seconds;
    vx_char fault[512];
};

static FILE *answers;

/* ---- Reading ---- */

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL) {
        fprintf(stderr, "no memory for %zu times %zu bytes\n", count, size);
        exit(EXIT_FAILURE);
    }
    return memory;
}

/* False at the end of stdin, and when it holds no parameter. */
static bool read_parameter(struct parameter *parameter)
{
    char line[128];

    if (fgets(line, sizeof line, stdin) == NULL ||
        sscanf(line, "%7s %d %63s %zu", parameter->kind, &parameter->type, parameter->name, &parameter->size) != 4) {
        return false;
    }
    parameter->bytes = allocate(1, parameter->size + 1);
    return fread(parameter->bytes, 1, parameter->size, stdin) == parameter->size;
}

static bool read_request(struct request *request)
{
    char line[128];

    if (fgets(line, sizeof line, stdin) == NULL ||
        sscanf(line, "run %d %u %lf %u", &request->fill, &request->times, &request->limit, &request->count) != 4) {
        return false;
    }
    request->parameters = allocate(request->count, sizeof *request->parameters);
    for (unsigned i = 0; i < request->count; i++) {
        if (!read_parameter(&request->parameters[i])) {
            return false;
        }
    }
    return true;
}

static void forget_request(struct request *request)
{
    for (unsigned i = 0; i < request->count; i++) {
        free(request->parameters[i].bytes);
    }
    free(request->parameters);
}

/* ---- Writing ---- */

static void write_bytes(const char *what, const void *bytes, size_t size)
{
    fprintf(answers, "%s %zu\n", what, size);
    fwrite(bytes, 1, size, answers);
}

static __attribute__((format(printf, 2, 3))) void write_text(const char *what, const char *format, ...)
{
    char text[VX_MAX_LOG_MESSAGE_LEN];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    write_bytes(what, text, strlen(text));
}

static void write_journals(void)
{
    static const char *const NAMES[] = {[HOSTRT_LOG] = "log", [HOSTRT_EVENT] = "event", [HOSTRT_LEAK] = "leak"};
    const char *text;
    vx_status status;

    for (size_t i = 0; i < dimof(NAMES); i++) {
        for (vx_size entry = 0; (text = hostrt_entry((enum hostrt_journal)i, entry, &status)) != NULL; entry++) {
            write_text(NAMES[i], "%s", text);
        }
    }
}

/* ---- Tensors ---- */

/* Copies a tensor from (VX_WRITE_ONLY) or to (VX_READ_ONLY) the data of an .npy file of its shape. */
static vx_status copy_tensor(vx_tensor tensor, char *npy, vx_enum usage)
{
    static const vx_size START[HOSTRT_MAX_RANK];
    vx_size end[HOSTRT_MAX_RANK];
    vx_size strides[HOSTRT_MAX_RANK];
    const size_t header = 10 + ((vx_uint8)npy[8] | (size_t)(vx_uint8)npy[9] << 8);

    for (vx_uint32 i = 0; i < tensor->rank; i++) {
        end[i] = tensor->dims[i];
        strides[i] = tensor->strides[i];
    }
    return vxCopyTensorPatch(tensor, tensor->rank, START, end, strides, npy + header, usage, VX_MEMORY_TYPE_HOST);
}

/* The shape stands in the file's header, slowest dimension first: 'shape': (2, 3, 4), */
static vx_reference create_tensor(vx_context context, struct parameter *parameter)
{
    vx_size shape[HOSTRT_MAX_RANK];
    vx_size dims[HOSTRT_MAX_RANK];
    vx_size rank = 0;
    char *text = strchr(strstr(parameter->bytes + 10, "'shape'"), '(') + 1;

    while (*text != ')' && rank < HOSTRT_MAX_RANK) {
        shape[rank++] = strtoul(text, &text, 10);
        text += strspn(text, ", ");
    }
    for (vx_size i = 0; i < rank; i++) {
        dims[i] = shape[rank - 1 - i];
    }
    return (vx_reference)vxCreateTensor(context, rank, dims, parameter->type, 0);
}

/* ---- Running ---- */

/* Leaves the function when a call does not succeed. */
#define CALL(result, function, ...)               \
    do {                                          \
        (result)->stage = #function;              \
        (result)->status = function(__VA_ARGS__); \
        if ((result)->status != VX_SUCCESS) {     \
            return;                               \
        }                                         \
    } while (0)

static void create_parameter(vx_context context, struct parameter *parameter, struct result *result)
{
    const bool is_tensor = strcmp(parameter->kind, "input") == 0 || strcmp(parameter->kind, "output") == 0;
    const bool is_array = strcmp(parameter->kind, "array") == 0;
    const vx_size items = parameter->size / sizeof(vx_int32);

    if (is_tensor) {
        parameter->reference = create_tensor(context, parameter);
    } else if (is_array) {
        parameter->reference = (vx_reference)vxCreateArray(context, parameter->type, items);
    } else {
        parameter->reference = (vx_reference)vxCreateScalar(context, parameter->type, parameter->bytes);
    }
    CALL(result, vxGetStatus, parameter->reference);
    CALL(result, hostrt_set_name, parameter->reference, parameter->name);
    if (is_tensor) {
        CALL(result, copy_tensor, (vx_tensor)parameter->reference, parameter->bytes, VX_WRITE_ONLY);
    } else if (is_array) {
        CALL(result, vxAddArrayItems, (vx_array)parameter->reference, items, parameter->bytes, sizeof(vx_int32));
    }
}

static void create_kernel(vx_context context, vx_kernel *kernel, struct result *result)
{
    vx_kernel_description_t *description = RUNNER_KERNELS[0];

    description->enumeration = RUNTIME_ENUMERATION;
    *kernel = vxAddUserKernel(context, description->name, (vx_enum)description->enumeration, description->function,
                              description->numParams, description->validate, description->initialize, description->deinitialize);
    CALL(result, vxGetStatus, (vx_reference)*kernel);
    for (vx_uint32 i = 0; i < description->numParams; i++) {
        const vx_param_description_t *row = &description->parameters[i];
        CALL(result, vxAddParameterToKernel, *kernel, i, row->direction, row->data_type, row->state);
    }
    CALL(result, vxFinalizeKernel, *kernel);
}

static void create_graph(vx_context context, struct request *request, vx_graph *graph, struct result *result)
{
    vx_kernel kernel;

    for (unsigned i = 0; i < request->count; i++) {
        create_parameter(context, &request->parameters[i], result);
        if (result->status != VX_SUCCESS) {
            return;
        }
    }
    create_kernel(context, &kernel, result);
    if (result->status != VX_SUCCESS) {
        return;
    }
    *graph = vxCreateGraph(context);
    CALL(result, vxGetStatus, (vx_reference)*graph);
    vx_node node = vxCreateGenericNode(*graph, kernel);
    CALL(result, vxGetStatus, (vx_reference)node);
    for (unsigned i = 0; i < request->count; i++) {
        vx_reference reference = request->parameters[i].reference;
        CALL(result, vxSetParameterByIndex, node, i, reference);
        if (((struct vx_reference_s *)reference)->type != VX_TYPE_TENSOR) {
            CALL(result, vxReleaseReference, &reference); /* the node holds it */
        }
    }
    CALL(result, vxReleaseNode, &node);
}

static void run_stage(vx_graph graph, enum hostrt_stage stage, const struct request *request, struct result *result)
{
    static const char *const STAGES[] = {
        [HOSTRT_VERIFY] = "validate or initialize",
        [HOSTRT_PROCESS] = "the kernel",
        [HOSTRT_RELEASE] = "deinitialize",
    };
    struct hostrt_report report;

    hostrt_call(graph, stage, request->limit, &report);
    if (result->status == VX_SUCCESS && report.status != VX_SUCCESS) {
        result->status = report.status;
        result->stage = STAGES[stage];
        memcpy(result->fault, report.fault, sizeof result->fault);
    }
    if (stage == HOSTRT_PROCESS && (result->seconds == 0 || report.seconds < result->seconds)) {
        result->seconds = report.seconds;
    }
}

/* Verifies, processes and releases the graph, until something is wrong. */
static void run_graph(vx_graph graph, const struct request *request, struct result *result)
{
    hostrt_begin(request->fill >= 0, (vx_uint8)(request->fill >= 0 ? request->fill : 0));
    run_stage(graph, HOSTRT_VERIFY, request, result);
    for (unsigned i = 0; i < request->times && result->status == VX_SUCCESS; i++) {
        run_stage(graph, HOSTRT_PROCESS, request, result);
    }
    if (result->fault[0] == '\0') {
        run_stage(graph, HOSTRT_RELEASE, request, result);
    }
    hostrt_end();
}

static void write_outputs(struct request *request, struct result *result)
{
    for (unsigned i = 0; i < request->count; i++) {
        struct parameter *parameter = &request->parameters[i];
        if (strcmp(parameter->kind, "output") == 0) {
            CALL(result, copy_tensor, (vx_tensor)parameter->reference, parameter->bytes, VX_READ_ONLY);
            write_bytes("output", parameter->bytes, parameter->size);
        }
    }
}

static void answer(struct request *request)
{
    struct result result = {0};
    vx_graph graph = NULL;

    hostrt_forget();
    vx_context context = vxCreateContext();
    create_graph(context, request, &graph, &result);
    if (result.status == VX_SUCCESS) {
        run_graph(graph, request, &result);
    }
    write_journals();
    if (result.status == VX_SUCCESS) {
        write_outputs(request, &result);
    }
    write_text("status", "%d", result.status);
    write_text("stage", "%s", result.stage);
    write_text("seconds", "%.9f", result.seconds);
    write_text("fault", "%s", result.fault);
    write_bytes("end", "", 0);
    fflush(answers);
    vxReleaseContext(&context);
}

int main(void)
{
    struct request request;

    /* What the operator prints is no answer. */
    answers = fdopen(dup(STDOUT_FILENO), "wb");
    dup2(STDERR_FILENO, STDOUT_FILENO);
    setvbuf(stdout, NULL, _IONBF, 0);
    while (read_request(&request)) {
        answer(&request);
        forget_request(&request);
    }
    return EXIT_SUCCESS;
}
