/*
 * Drives a graph of one node in the boards' own driver, for the harness.
 *
 * The program is linked with libOpenVX.so; the vendor's takes its place. On a PC, gal/ takes the
 * place of libGAL.so below it. The entry is the bytes of the operator's device library, which is
 * published as by librknn_runtime 1.7.5: written to a file, loaded, and the file removed. Of its
 * kernel list only the first kernel, the CPU kernel, runs. The driver owns the tensors' memory, so
 * accesses beside it are not detected.
 */
#define _GNU_SOURCE /* mkstemp, dlopen */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "opkit/check/harness/runtime.h"
#include "opkit/runtimes/rknn/driver/device_library.h"
#include "opkit/runtimes/rknn/host_runtime/harness_graph.h"

/* vxRegisterLogCallback of OpenVX 1.2, with its callback. Operators do not call it, so the stub of
 * libOpenVX.so at the link does not have it. */
typedef void log_callback_f(vx_context context, vx_reference reference, vx_status status,
                            const vx_char *message);
typedef void register_log_callback_f(vx_context context, log_callback_f *callback,
                                     vx_bool is_reentrant);

static struct run {
    const struct harness_invocation *invocation;
    harness_record_f *record;
    vx_context context;
    vx_kernel_description_t *description;
    vx_graph graph;
    vx_reference *references; /* of the node, in the order of its parameters */
    vx_status kernel_status; /* the first that is not VX_SUCCESS; the driver ignores it */
} *run; /* the one of the running stage */

/* ---- The device library ---- */

/* Writes the library to a new file. */
static bool write_library(const char *library, char *path)
{
    const size_t size = (size_t)(device_library_end - library);
    const int descriptor = mkstemp(path);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;

    if (file == NULL) {
        return false;
    }
    const bool is_written = fwrite(library, 1, size, file) == size;
    return fclose(file) == 0 && is_written;
}

/* Returns the kernel list of the library, which stays loaded; NULL: see the error. */
static vx_kernel_description_t **publish(const char *library, struct harness_error *error)
{
    static vx_kernel_description_t **kernels; /* of this process */
    char path[] = "/tmp/rknn-XXXXXX"; /* dlopen takes a file; a board has no other folder for it */
    char symbol[VX_MAX_KERNEL_NAME];

    if (kernels != NULL) {
        return kernels;
    }
    if (!write_library(library, path)) {
        unlink(path);
        snprintf(error->message, sizeof error->message, "cannot write the library to /tmp");
        return NULL;
    }
    void *handle = dlopen(path, RTLD_LAZY);
    unlink(path);
    if (handle == NULL) {
        snprintf(error->message, sizeof error->message, "the library cannot be loaded: %s",
                 dlerror());
        return NULL;
    }
    snprintf(symbol, sizeof symbol, "vx_kernel_%s_list", device_operator);
    kernels = dlsym(handle, symbol);
    if (kernels == NULL) {
        snprintf(error->message, sizeof error->message, "the library has no %s", symbol);
    }
    return kernels;
}

/* ---- The graph ---- */

static void log_message(vx_context context, vx_reference reference, vx_status status,
                        const vx_char *message)
{
    (void)context;
    (void)reference;
    (void)status;
    run->record("log", message, strlen(message));
}

static void register_log(vx_context context)
{
    void *address = dlsym(RTLD_DEFAULT, "vxRegisterLogCallback");
    register_log_callback_f *function;

    if (address != NULL) {
        memcpy(&function, &address, sizeof function); /* ISO C has no cast to a function */
        function(context, log_message, vx_true_e);
    }
}

static vx_status VX_CALLBACK call_kernel(vx_node node, const vx_reference *parameters,
                                         vx_uint32 count)
{
    const vx_status status = run->description->function(node, parameters, count);

    if (run->kernel_status == VX_SUCCESS) {
        run->kernel_status = status;
    }
    return status;
}

static vx_status create_reference(unsigned index, struct harness_error *error)
{
    const struct harness_value *value = &run->invocation->values[index];
    vx_reference *reference = &run->references[index];

    if (value->role == HARNESS_PARAM) {
        return create_param(run->context, value, reference, error);
    }
    const vx_tensor tensor = create_tensor(run->context, value, VX_TYPES[value->type], 0);
    *reference = (vx_reference)tensor;
    CALL(error, vxGetStatus, *reference);
    CALL(error, copy_tensor, tensor, value, VX_WRITE_ONLY);
    return VX_SUCCESS;
}

static vx_status create_kernel(vx_kernel *kernel, struct harness_error *error)
{
    const vx_kernel_description_t *description = run->description;

    /* The contexts of a process share their kernels. */
    *kernel = vxGetKernelByName(run->context, description->name);
    if (vxGetStatus((vx_reference)*kernel) == VX_SUCCESS) {
        return VX_SUCCESS;
    }
    *kernel = vxAddUserKernel(run->context, description->name, CUSTOM_KERNEL, call_kernel,
                              description->numParams, description->validate,
                              description->initialize, description->deinitialize);
    return finalize_kernel(*kernel, description, error);
}

/* ---- Calls of the harness ---- */

static int prepare(void *entry, const struct harness_invocation *invocation,
                   harness_record_f *record, struct harness_error *error, void **node)
{
    vx_kernel kernel;
    vx_node graph_node = NULL;

    run = *node = calloc(1, sizeof *run);
    if (run == NULL) {
        return VX_ERROR_NO_MEMORY;
    }
    run->invocation = invocation;
    run->record = record;
    run->references = calloc(invocation->count, sizeof(vx_reference));
    if (run->references == NULL) {
        return VX_ERROR_NO_MEMORY;
    }
    vx_kernel_description_t **kernels = publish(entry, error);
    run->description = kernels != NULL ? find_kernel(kernels, 0, invocation, error) : NULL;
    if (run->description == NULL) {
        return VX_FAILURE;
    }
    run->context = vxCreateContext();
    CALL(error, vxGetStatus, (vx_reference)run->context);
    register_log(run->context);
    for (unsigned i = 0; i < invocation->count; i++) {
        const vx_status status = create_reference(i, error);
        if (status != VX_SUCCESS) {
            return status;
        }
    }
    vx_status status = create_kernel(&kernel, error);
    if (status != VX_SUCCESS) {
        return status;
    }
    status = create_graph(run->context, kernel, invocation, run->references, &run->graph,
                          &graph_node, error);
    vxReleaseNode(&graph_node); /* the graph holds it */
    return status;
}

static int set_up(void *node)
{
    run = node;
    return vxVerifyGraph(run->graph);
}

static int process(void *node)
{
    run = node;
    const vx_status status = vxProcessGraph(run->graph);
    return status == VX_SUCCESS ? run->kernel_status : status;
}

static int clean_up(void *node)
{
    run = node;
    const vx_status status = vxReleaseGraph(&run->graph);
    for (unsigned i = 0; i < run->invocation->count; i++) {
        const struct harness_value *value = &run->invocation->values[i];
        if (value->role == HARNESS_OUTPUT) {
            copy_tensor((vx_tensor)run->references[i], value, VX_READ_ONLY);
        }
        if (value->role != HARNESS_PARAM) {
            vxReleaseReference(&run->references[i]);
        }
    }
    vxReleaseContext(&run->context);
    free(run->references);
    return status;
}

static void report(void)
{
    /* log_message records each line at once */
}

VX_API_ENTRY const struct harness_runtime harness_runtime;
const struct harness_runtime harness_runtime = {
    .prepare = prepare,
    .stages = {set_up, process, clean_up},
    .report = report,
    .stage_names = {"validate or initialize", "the kernel", "deinitialize"},
};
