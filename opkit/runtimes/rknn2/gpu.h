/*
 * The GPU kernel of a custom operator of librknnrt.
 *
 * librknnrt hands over a context and a queue of OpenCL, and tensors as descriptors of dma-bufs, on
 * which the kernel works in place. Whatever fails, the CPU kernel computes instead, and one line on
 * stderr says why: before registration for all nodes, later for one node.
 *
 * The kernel is compiled here. librknnrt would compile it with -cl-fast-relaxed-math, and crashes
 * in rknn_destroy after an error of the compiler (1.6.0). So it gets another, empty kernel.
 */
#ifndef OPKIT_GPU_H
#define OPKIT_GPU_H

#include <pthread.h>
#include <sys/stat.h>

#include <rknn_custom_op.h>

#include "launch.h"
#include "opencl.h"
#include "operator.h"

#define OPKIT_GPU_OPTIONS "-cl-std=CL1.2"
#define OPKIT_CPU "; the CPU computes"

/* A kernel in OpenCL C. */
struct opkit_gpu_kernel {
    const char *name;
    const char *const *lines; /* the source */
    uint32_t line_count;
};

/* The functions of OpenCL; open after opkit_choose_gpu. */
static struct opkit_opencl opkit_cl;

/* Prints that a function of OpenCL failed. */
static inline int opkit_fail_cl(const struct opkit_operator *op, const char *function,
                                int32_t status)
{
    return opkit_fail(op, "%s: %s (%d)" OPKIT_CPU, function, opkit_cl_error(status), (int)status);
}

/*
 * Compiles a kernel. Sets program and kernel, which the caller releases, also after an error.
 * Returns NULL, or the function that failed, and sets `status`; `log` gets the compiler's errors.
 */
static inline const char *opkit_compile_kernel(const struct opkit_gpu_kernel *kernel,
                                               opkit_cl_context context, opkit_cl_device device,
                                               opkit_cl_program *program, opkit_cl_kernel *made,
                                               int32_t *status, char *log, size_t log_size)
{
    *program =
        opkit_cl.CreateProgramWithSource(context, kernel->line_count, kernel->lines, NULL, status);
    if (*program == NULL) {
        return "clCreateProgramWithSource";
    }
    *status = opkit_cl.BuildProgram(*program, 1, &device, OPKIT_GPU_OPTIONS, NULL, NULL);
    if (*status != OPKIT_CL_SUCCESS) {
        opkit_cl.GetProgramBuildInfo(*program, device, OPKIT_CL_PROGRAM_BUILD_LOG, log_size - 1,
                                     log, NULL);
        log[strcspn(log, "\n")] = '\0';
        return "clBuildProgram";
    }
    *made = opkit_cl.CreateKernel(*program, kernel->name, status);
    return *made != NULL ? NULL : "clCreateKernel";
}

/* ---- Before registration ---- */

/* What the trial of a device holds; release it after an error, too. */
struct opkit_trial {
    opkit_cl_context context;
    opkit_cl_queue queue;
    opkit_cl_program programs[2]; /* the operator's, and a small one that runs */
    opkit_cl_kernel kernels[2];
    opkit_cl_buffer buffer;
};

static inline void opkit_release_trial(struct opkit_trial *trial)
{
    if (trial->buffer != NULL) {
        opkit_cl.ReleaseMemObject(trial->buffer);
    }
    for (size_t i = 0; i < 2; i++) {
        if (trial->kernels[i] != NULL) {
            opkit_cl.ReleaseKernel(trial->kernels[i]);
        }
        if (trial->programs[i] != NULL) {
            opkit_cl.ReleaseProgram(trial->programs[i]);
        }
    }
    if (trial->queue != NULL) {
        opkit_cl.ReleaseCommandQueue(trial->queue);
    }
    if (trial->context != NULL) {
        opkit_cl.ReleaseContext(trial->context);
    }
}

/* Finds the device that librknnrt takes. Returns NULL, or the reason against it. */
static inline const char *opkit_find_gpu(opkit_cl_device *device)
{
    char extensions[8192] = "", name[128] = "";
    opkit_cl_platform platform;
    uint32_t count = 0;

    if (opkit_cl.GetPlatformIDs(1, &platform, &count) != OPKIT_CL_SUCCESS || count == 0) {
        return "OpenCL has no platform";
    }
    opkit_cl.GetPlatformInfo(platform, OPKIT_CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
    if (strstr(name, "ARM") == NULL) {
        return "OpenCL's first platform is not ARM's";
    }
    if (opkit_cl.GetDeviceIDs(platform, OPKIT_CL_DEVICE_TYPE_GPU, 1, device, NULL) !=
        OPKIT_CL_SUCCESS) {
        return "OpenCL has no GPU";
    }
    opkit_cl.GetDeviceInfo(*device, OPKIT_CL_DEVICE_EXTENSIONS, sizeof extensions - 1, extensions,
                           NULL);
    return strstr(extensions, "cl_arm_import_memory") != NULL
               ? NULL
               : "OpenCL lacks the extension cl_arm_import_memory";
}

/*
 * Compiles the kernel on a device, and runs a small one, whose result is the same number in all
 * elements. Returns NULL, or what failed; `status` and `text` have details.
 */
static inline const char *opkit_try_gpu(opkit_cl_device device,
                                        const struct opkit_gpu_kernel *kernel,
                                        struct opkit_trial *trial, int32_t *status, char *text,
                                        size_t size)
{
    static const char *const LINES[] = {
        "__kernel void opkit_trial(__global float *data)\n",
        "{ data[get_global_id(0)] += (float)get_global_id(0); }\n",
    };
    static const struct opkit_gpu_kernel SMALL = {"opkit_trial", LINES, 2};
    float data[16];
    const size_t items = sizeof data / sizeof *data;
    const char *problem = NULL;

    for (size_t i = 0; i < items; i++) {
        data[i] = (float)(items - i);
    }
    trial->context = opkit_cl.CreateContext(NULL, 1, &device, NULL, NULL, status);
    if (trial->context == NULL) {
        return "clCreateContext";
    }
    trial->queue = opkit_cl.CreateCommandQueue(trial->context, device, 0, status);
    if (trial->queue == NULL) {
        return "clCreateCommandQueue";
    }
    for (size_t i = 0; problem == NULL && i < 2; i++) {
        problem = opkit_compile_kernel(i == 0 ? kernel : &SMALL, trial->context, device,
                                       &trial->programs[i], &trial->kernels[i], status, text, size);
    }
    if (problem != NULL) {
        return problem;
    }
    trial->buffer =
        opkit_cl.CreateBuffer(trial->context, OPKIT_CL_MEM_READ_WRITE | OPKIT_CL_MEM_COPY_HOST_PTR,
                              sizeof data, data, status);
    if (trial->buffer == NULL) {
        return "clCreateBuffer";
    }
    *status = opkit_cl.SetKernelArg(trial->kernels[1], 0, sizeof trial->buffer, &trial->buffer);
    if (*status != OPKIT_CL_SUCCESS) {
        return "clSetKernelArg";
    }
    *status = opkit_cl.EnqueueNDRangeKernel(trial->queue, trial->kernels[1], 1, NULL, &items, NULL,
                                            0, NULL, NULL);
    if (*status != OPKIT_CL_SUCCESS) {
        return "clEnqueueNDRangeKernel";
    }
    *status = opkit_cl.EnqueueReadBuffer(trial->queue, trial->buffer, 1, 0, sizeof data, data, 0,
                                         NULL, NULL);
    if (*status != OPKIT_CL_SUCCESS) {
        return "clEnqueueReadBuffer";
    }
    for (size_t i = 0; i < items; i++) {
        if (data[i] != (float)items) {
            snprintf(text, size, "the sum %g instead of %zu", (double)data[i], items);
            return "a trial kernel";
        }
    }
    return NULL;
}

/* Returns whether the device has a GPU that compiles the kernel and computes; prints why not. */
static inline bool opkit_has_gpu(const struct opkit_operator *op,
                                 const struct opkit_gpu_kernel *kernel)
{
    const char *chosen = getenv("RKNN_OP_DEVICE");
    opkit_cl_device device;
    struct opkit_trial trial;
    char text[256] = "";
    int32_t status = OPKIT_CL_SUCCESS;

    if (chosen != NULL && strcmp(chosen, "cpu") == 0) {
        return false;
    }
    const bool is_forced = chosen != NULL && strcmp(chosen, "gpu") == 0;
    if (chosen != NULL && !is_forced && chosen[0] != '\0') {
        (void)opkit_fail(op, "RKNN_OP_DEVICE=%s (expected cpu or gpu)", chosen);
    }
    const char *problem = opkit_open_opencl(&opkit_cl);
    if (problem == NULL && is_forced) {
        return true;
    }
    if (problem == NULL) {
        problem = opkit_find_gpu(&device);
    }
    if (problem == NULL) {
        memset(&trial, 0, sizeof trial);
        problem = opkit_try_gpu(device, kernel, &trial, &status, text, sizeof text);
        opkit_release_trial(&trial);
    }
    if (problem == NULL) {
        return true;
    }
    if (status != OPKIT_CL_SUCCESS) {
        (void)opkit_fail(op, "%s: %s (%d)%s%s" OPKIT_CPU, problem, opkit_cl_error(status),
                         (int)status, text[0] != '\0' ? ": " : "", text);
    } else {
        (void)opkit_fail(op, "%s%s%s" OPKIT_CPU, problem, text[0] != '\0' ? " gives " : "", text);
    }
    return false;
}

/*
 * Returns whether to register the operator for the GPU; the answer stays the same. RKNN_OP_DEVICE
 * in the environment is the choice: cpu, or gpu, without a trial of the device.
 */
static inline bool opkit_choose_gpu(const struct opkit_operator *op,
                                    const struct opkit_gpu_kernel *kernel)
{
    static bool is_chosen, has_gpu;

    if (!is_chosen) {
        has_gpu = opkit_has_gpu(op, kernel);
        is_chosen = true;
    }
    return has_gpu;
}

/* Makes an operator of the CPU one of the GPU, with an empty kernel for librknnrt. */
static inline void opkit_target_gpu(rknn_custom_op *op)
{
    static char source[] = "__kernel void opkit_empty(void)\n{\n}\n";

    op->target = RKNN_TARGET_TYPE_GPU;
    snprintf(op->cl_kernel_name, sizeof op->cl_kernel_name, "opkit_empty");
    op->cl_kernel_source = source;
    op->cl_source_size = sizeof source - 1;
}

/* Makes an operator of the GPU one of the CPU. */
static inline void opkit_target_cpu(rknn_custom_op *op)
{
    op->target = RKNN_TARGET_TYPE_CPU;
    op->cl_kernel_name[0] = '\0';
    op->cl_kernel_source = NULL;
    op->cl_source_size = 0;
}

/* ---- A node ---- */

/* The buffer of a tensor, on the runtime's memory. It stays while that memory is the same. */
struct opkit_import {
    int32_t fd;
    int32_t offset;
    uint32_t size;
    uint64_t inode; /* a new dma-buf may get the descriptor of an old one */
    opkit_cl_buffer whole; /* from the beginning of the memory */
    opkit_cl_buffer part; /* the tensor's, if it begins at an offset */
};

/* Memory of the GPU that stays between calls. */
struct opkit_gpu_scratch {
    opkit_cl_buffer buffer;
    size_t size;
};

/* The GPU's part of a node; initialize it with zeros. */
struct opkit_gpu {
    bool is_open;
    bool has_failed; /* the CPU computes */
    pthread_mutex_t mutex; /* contexts that share a node have one kernel */
    const struct opkit_gpu_kernel *source;
    opkit_cl_context context; /* of all objects */
    opkit_cl_program program;
    opkit_cl_kernel kernel;
    struct opkit_import *imports; /* of the inputs, then of the outputs */
    size_t import_count;
    struct opkit_gpu_scratch scratch[OPKIT_MAX_LAUNCH_ARGUMENTS];
};

static inline void opkit_release_import(struct opkit_import *import)
{
    if (import->part != NULL) {
        opkit_cl.ReleaseMemObject(import->part);
    }
    if (import->whole != NULL) {
        opkit_cl.ReleaseMemObject(import->whole);
    }
    memset(import, 0, sizeof *import);
}

/* Releases the buffers of a node. */
static inline void opkit_release_buffers(struct opkit_gpu *gpu)
{
    for (size_t i = 0; i < gpu->import_count; i++) {
        opkit_release_import(&gpu->imports[i]);
    }
    for (size_t i = 0; i < OPKIT_MAX_LAUNCH_ARGUMENTS; i++) {
        if (gpu->scratch[i].buffer != NULL) {
            opkit_cl.ReleaseMemObject(gpu->scratch[i].buffer);
        }
    }
    memset(gpu->scratch, 0, sizeof gpu->scratch);
}

/* Releases all that a node has in a context. */
static inline void opkit_leave_context(struct opkit_gpu *gpu)
{
    opkit_release_buffers(gpu);
    if (gpu->kernel != NULL) {
        opkit_cl.ReleaseKernel(gpu->kernel);
    }
    if (gpu->program != NULL) {
        opkit_cl.ReleaseProgram(gpu->program);
    }
    gpu->kernel = NULL;
    gpu->program = NULL;
    gpu->context = NULL;
}

/* Compiles the kernel of a node in a context, unless it is there. */
static inline int opkit_enter_context(const struct opkit_operator *op, struct opkit_gpu *gpu,
                                      opkit_cl_context context)
{
    char log[256] = "";
    opkit_cl_device device;
    int32_t status;

    if (gpu->context == context && gpu->kernel != NULL) {
        return 0;
    }
    opkit_leave_context(gpu);
    status =
        opkit_cl.GetContextInfo(context, OPKIT_CL_CONTEXT_DEVICES, sizeof device, &device, NULL);
    if (status != OPKIT_CL_SUCCESS) {
        return opkit_fail_cl(op, "clGetContextInfo", status);
    }
    const char *problem = opkit_compile_kernel(gpu->source, context, device, &gpu->program,
                                               &gpu->kernel, &status, log, sizeof log);
    gpu->context = context;
    return problem == NULL ? 0 : opkit_fail_cl(op, problem, status);
}

static inline void opkit_close_gpu(struct opkit_gpu *gpu)
{
    if (gpu->is_open) {
        opkit_leave_context(gpu);
        pthread_mutex_destroy(&gpu->mutex);
        free(gpu->imports);
        gpu->is_open = false;
    }
}

/*
 * Initializes the GPU's part of a node that librknnrt computes on the GPU. If the kernel does not
 * compile, the CPU computes.
 */
static inline int opkit_open_gpu(const struct opkit_operator *op,
                                 const struct opkit_gpu_kernel *kernel,
                                 const rknn_gpu_op_context *context, struct opkit_gpu *gpu)
{
    gpu->source = kernel;
    gpu->import_count = op->input_count + op->output_count;
    gpu->imports = (struct opkit_import *)calloc(gpu->import_count, sizeof *gpu->imports);
    if (gpu->imports == NULL || pthread_mutex_init(&gpu->mutex, NULL) != 0) {
        free(gpu->imports);
        return opkit_fail(op, "not enough memory for its buffers");
    }
    gpu->is_open = true;
    gpu->has_failed = opkit_enter_context(op, gpu, (opkit_cl_context)context->cl_context) != 0;
    return 0;
}

/* Sets `buffer` to the buffer of a tensor; NULL for one without elements. */
static inline int opkit_import_tensor(const struct opkit_operator *op, struct opkit_gpu *gpu,
                                      struct opkit_import *import,
                                      const rknn_custom_op_tensor *tensor, bool is_input,
                                      opkit_cl_buffer *buffer)
{
    static const intptr_t PROPERTIES[] = {OPKIT_CL_IMPORT_TYPE_ARM,
                                          OPKIT_CL_IMPORT_TYPE_DMA_BUF_ARM, 0};
    const rknn_tensor_mem *mem = &tensor->mem;
    int32_t status = OPKIT_CL_SUCCESS;
    int fd = mem->fd;
    struct stat file;

    *buffer = NULL;
    if (tensor->attr.n_elems == 0) {
        return 0;
    }
    if (fstat(fd, &file) != 0) {
        return opkit_fail(op, "tensor '%s' has no dma-buf (descriptor %d)" OPKIT_CPU,
                          tensor->attr.name, fd);
    }
    const struct opkit_import now = {fd,          mem->offset,   mem->size,
                                     file.st_ino, import->whole, import->part};
    const bool is_kept = import->whole != NULL && import->fd == now.fd &&
                         import->offset == now.offset && import->size == now.size &&
                         import->inode == now.inode;
    if (!is_kept) {
        opkit_release_import(import);
        *import = now;
        import->part = NULL;
        import->whole = opkit_cl.ImportMemoryARM(gpu->context, OPKIT_CL_MEM_READ_WRITE, PROPERTIES,
                                                 &fd, (size_t)mem->offset + mem->size, &status);
        if (import->whole == NULL) {
            return opkit_fail_cl(op, "clImportMemoryARM", status);
        }
    }
    if (!is_kept && mem->offset != 0) {
        const struct opkit_cl_region region = {(size_t)mem->offset, mem->size};
        import->part =
            opkit_cl.CreateSubBuffer(import->whole, OPKIT_CL_MEM_READ_WRITE,
                                     OPKIT_CL_BUFFER_CREATE_TYPE_REGION, &region, &status);
        /* Constants of the model are at any multiple of 64 bytes. They never change: a copy does.
         */
        if (status == OPKIT_CL_MISALIGNED && is_input && mem->virt_addr != NULL) {
            void *elements = (char *)mem->virt_addr + mem->offset;
            import->part = opkit_cl.CreateBuffer(
                gpu->context, OPKIT_CL_MEM_READ_ONLY | OPKIT_CL_MEM_COPY_HOST_PTR, mem->size,
                elements, &status);
        }
        if (import->part == NULL) {
            opkit_release_import(import);
            return opkit_fail_cl(op, "clCreateSubBuffer", status);
        }
    }
    *buffer = import->part != NULL ? import->part : import->whole;
    return 0;
}

/* Sets `buffer` to memory of at least `size` bytes, the node's. */
static inline int opkit_reserve_on_gpu(const struct opkit_operator *op, struct opkit_gpu *gpu,
                                       size_t index, size_t size, opkit_cl_buffer *buffer)
{
    struct opkit_gpu_scratch *scratch = &gpu->scratch[index];
    int32_t status = OPKIT_CL_SUCCESS;

    if (size > scratch->size) {
        if (scratch->buffer != NULL) {
            opkit_cl.ReleaseMemObject(scratch->buffer);
        }
        scratch->buffer =
            opkit_cl.CreateBuffer(gpu->context, OPKIT_CL_MEM_READ_WRITE, size, NULL, &status);
        scratch->size = scratch->buffer != NULL ? size : 0;
        if (scratch->buffer == NULL) {
            return opkit_fail_cl(op, "clCreateBuffer", status);
        }
    }
    *buffer = scratch->buffer;
    return 0;
}

/*
 * Sets an argument of the kernel behind its tensors. `array` gets the buffer that the caller
 * releases after the launch.
 */
static inline int opkit_set_argument(const struct opkit_operator *op, struct opkit_gpu *gpu,
                                     size_t index, const struct opkit_launch *launch,
                                     opkit_cl_buffer *array)
{
    const struct opkit_argument *argument = &launch->arguments[index];
    const uint32_t place = (uint32_t)(gpu->import_count + index);
    const void *value = argument->value;
    size_t size = argument->size;
    opkit_cl_buffer buffer = NULL;
    int32_t status = OPKIT_CL_SUCCESS;

    if (argument->kind == OPKIT_ARGUMENT_LOCAL) {
        value = NULL;
    } else if (argument->kind != OPKIT_ARGUMENT_VALUE) {
        if (argument->kind == OPKIT_ARGUMENT_SCRATCH) {
            if (opkit_reserve_on_gpu(op, gpu, index, size, &buffer) != 0) {
                return OPKIT_FAILED;
            }
        } else if (size > 0) {
            if (argument->data == NULL) {
                return opkit_fail(op, "not enough memory for the launch" OPKIT_CPU);
            }
            buffer = opkit_cl.CreateBuffer(gpu->context,
                                           OPKIT_CL_MEM_READ_ONLY | OPKIT_CL_MEM_COPY_HOST_PTR,
                                           size, argument->data, &status);
            if (buffer == NULL) {
                return opkit_fail_cl(op, "clCreateBuffer", status);
            }
            *array = buffer;
        }
        value = &buffer;
        size = sizeof buffer;
    }
    status = opkit_cl.SetKernelArg(gpu->kernel, place, size, value);
    if (status != OPKIT_CL_SUCCESS) {
        return opkit_fail(op, "clSetKernelArg: argument %u of the kernel: %s (%d)" OPKIT_CPU,
                          (unsigned)place, opkit_cl_error(status), (int)status);
    }
    return 0;
}

/* Enqueues the kernel, and waits for its end. */
static inline int opkit_enqueue(const struct opkit_operator *op, opkit_cl_queue queue,
                                opkit_cl_kernel kernel, const struct opkit_launch *launch)
{
    const bool has_groups = launch->local_size[0] > 0;
    size_t global[3], local[3];

    for (size_t i = 0; i < 3; i++) {
        global[i] = launch->global_size[i] > 0 ? launch->global_size[i] : 1;
        local[i] = launch->local_size[i] > 0 ? launch->local_size[i] : 1;
        if (has_groups) {
            global[i] = (global[i] + local[i] - 1) / local[i] * local[i];
        }
    }
    int32_t status = opkit_cl.EnqueueNDRangeKernel(queue, kernel, 3, NULL, global,
                                                   has_groups ? local : NULL, 0, NULL, NULL);
    if (status != OPKIT_CL_SUCCESS) {
        return opkit_fail_cl(op, "clEnqueueNDRangeKernel", status);
    }
    status = opkit_cl.Finish(queue);
    return status == OPKIT_CL_SUCCESS ? 0 : opkit_fail_cl(op, "clFinish", status);
}

/* Frees the copies of a launch. */
static inline void opkit_release_launch(struct opkit_launch *launch)
{
    for (size_t i = 0; i < OPKIT_MAX_LAUNCH_ARGUMENTS; i++) {
        free(launch->arguments[i].data);
    }
}

/*
 * Runs the kernel of a node on librknnrt's tensors, whose elements are float32.
 *
 *   context           librknnrt's context and queue, those of the thread; in the queue it also
 *                     converts the tensors
 *   inputs, outputs   the tensors
 *   launch            the choice of <op>_launch
 */
static inline int opkit_run_on_gpu(const struct opkit_operator *op, struct opkit_gpu *gpu,
                                   const rknn_gpu_op_context *context,
                                   const rknn_custom_op_tensor *inputs,
                                   const rknn_custom_op_tensor *outputs,
                                   const struct opkit_launch *launch)
{
    opkit_cl_buffer arrays[OPKIT_MAX_LAUNCH_ARGUMENTS] = {NULL};
    int status;

    if (launch->argument_count > OPKIT_MAX_LAUNCH_ARGUMENTS) {
        return opkit_fail(op, "the launch adds %zu arguments (expected %d at most)" OPKIT_CPU,
                          launch->argument_count, OPKIT_MAX_LAUNCH_ARGUMENTS);
    }
    status = opkit_enter_context(op, gpu, (opkit_cl_context)context->cl_context);
    for (size_t i = 0; status == 0 && i < gpu->import_count; i++) {
        const bool is_input = i < op->input_count;
        const rknn_custom_op_tensor *tensor = is_input ? &inputs[i] : &outputs[i - op->input_count];
        opkit_cl_buffer buffer;

        status = opkit_import_tensor(op, gpu, &gpu->imports[i], tensor, is_input, &buffer);
        if (status == 0) {
            const int32_t set =
                opkit_cl.SetKernelArg(gpu->kernel, (uint32_t)i, sizeof buffer, &buffer);
            status = set == OPKIT_CL_SUCCESS ? 0 : opkit_fail_cl(op, "clSetKernelArg", set);
        }
    }
    for (size_t i = 0; status == 0 && i < launch->argument_count; i++) {
        status = opkit_set_argument(op, gpu, i, launch, &arrays[i]);
    }
    if (status == 0) {
        status = opkit_enqueue(op, (opkit_cl_queue)context->cl_command_queue, gpu->kernel, launch);
    }
    for (size_t i = 0; i < launch->argument_count; i++) {
        if (arrays[i] != NULL) {
            opkit_cl.ReleaseMemObject(arrays[i]);
        }
    }
    return status;
}

#endif
