/*
 * An application with an operator of librknnrt for the GPU, y = a + b, whose calls it prints.
 *
 * gpu_application MODEL OUTPUT [WORD]: the first input of the model is 0, 1, 2, ..., the second
 * half of it. The output goes to a file. A word changes a part:
 *
 *     failing     compute fails on the GPU
 *     wrong       the kernel does not compile; after it, the operator is registered for the CPU
 *     thread      the model runs in another thread
 */
#define _GNU_SOURCE

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opkit/runtimes/rknn2/librknnrt/application.h"
#include "opkit/runtimes/rknn2/opencl.h"

int rknn_init(rknn_context *context, void *model, uint32_t size, uint32_t flags, void *more);
int rknn_query(rknn_context context, int what, void *answer, uint32_t size);
int rknn_inputs_set(rknn_context context, uint32_t count, struct rknn_input *inputs);
int rknn_run(rknn_context context, void *more);
int rknn_outputs_get(rknn_context context, uint32_t count, struct rknn_output *outputs, void *more);
int rknn_destroy(rknn_context context);

enum {
    MAX_TENSORS = 3,
    MAX_MODEL = 1 << 20,
    COUNT = 60
};

static char source[] = "__kernel void add(__global const float *a, int a_offset,\n"
                       "                  __global const float *b, int b_offset,\n"
                       "                  __global float *y, int y_offset)\n"
                       "{\n"
                       "    const size_t i = get_global_id(0);\n"
                       "    y[y_offset + i] = a[a_offset + i] + b[b_offset + i];\n"
                       "}\n";
static char wrong_source[] = "__kernel void add(undeclared *a) {}\n";

static const char *word = "";
static rknn_context model;
static rknn_gpu_op_context of_init;
static int32_t files_of_init[MAX_TENSORS];

static bool is_word(const char *expected)
{
    return strcmp(word, expected) == 0;
}

static float *elements(const rknn_custom_op_tensor *tensor)
{
    return (float *)(void *)((char *)tensor->mem.virt_addr + tensor->mem.offset);
}

/* ---- The operator ---- */

static int init(rknn_custom_op_context *context, rknn_custom_op_tensor *inputs,
                uint32_t input_count, rknn_custom_op_tensor *outputs, uint32_t output_count)
{
    (void)output_count;
    printf("init on %s\n", context->target == RKNN_TARGET_TYPE_GPU ? "GPU" : "CPU");
    of_init = context->gpu_ctx;
    for (uint32_t i = 0; i < input_count; i++) {
        files_of_init[i] = inputs[i].mem.fd;
    }
    files_of_init[input_count] = outputs[0].mem.fd;
    return 0;
}

static int prepare(rknn_custom_op_context *context, rknn_custom_op_tensor *inputs,
                   uint32_t input_count, rknn_custom_op_tensor *outputs, uint32_t output_count)
{
    (void)context;
    (void)inputs;
    (void)input_count;
    (void)outputs;
    (void)output_count;
    printf("prepare\n");
    return 0;
}

/* Returns a function of OpenCL, the library that librknnrt has opened. */
#define CL(name, type)                                                       \
    type name;                                                               \
    do {                                                                     \
        void *address = dlsym(dlopen("libOpenCL.so", RTLD_NOW), "cl" #name); \
        memcpy(&name, &address, sizeof name);                                \
    } while (0)

typedef opkit_cl_buffer import_f(void *, uint64_t, const intptr_t *, void *, size_t, int32_t *);
typedef int32_t set_f(void *, uint32_t, size_t, const void *);
typedef int32_t enqueue_f(void *, void *, uint32_t, const size_t *, const size_t *, const size_t *,
                          uint32_t, const void *, void *);
typedef int32_t object_f(void *);

static int32_t run_kernel(const rknn_gpu_op_context *gpu,
                          const rknn_custom_op_tensor *const *tensors)
{
    static const intptr_t PROPERTIES[] = {OPKIT_CL_IMPORT_TYPE_ARM,
                                          OPKIT_CL_IMPORT_TYPE_DMA_BUF_ARM, 0};
    const size_t count = COUNT;
    opkit_cl_buffer buffers[MAX_TENSORS];
    int32_t status = OPKIT_CL_SUCCESS;
    CL(ImportMemoryARM, import_f *);
    CL(SetKernelArg, set_f *);
    CL(EnqueueNDRangeKernel, enqueue_f *);
    CL(Finish, object_f *);
    CL(ReleaseMemObject, object_f *);

    for (uint32_t i = 0; i < MAX_TENSORS && status == OPKIT_CL_SUCCESS; i++) {
        rknn_tensor_mem mem = tensors[i]->mem;
        const int32_t offset = mem.offset / (int32_t)sizeof(float);

        buffers[i] = ImportMemoryARM(gpu->cl_context, OPKIT_CL_MEM_READ_WRITE, PROPERTIES, &mem.fd,
                                     (size_t)mem.offset + mem.size, &status);
        SetKernelArg(gpu->cl_kernel, 2 * i, sizeof buffers[i], &buffers[i]);
        SetKernelArg(gpu->cl_kernel, 2 * i + 1, sizeof offset, &offset);
    }
    if (status == OPKIT_CL_SUCCESS) {
        status = EnqueueNDRangeKernel(gpu->cl_command_queue, gpu->cl_kernel, 1, NULL, &count, NULL,
                                      0, NULL, NULL);
        Finish(gpu->cl_command_queue);
        for (uint32_t i = 0; i < MAX_TENSORS; i++) {
            ReleaseMemObject(buffers[i]);
        }
    }
    return status;
}

static int compute(rknn_custom_op_context *context, rknn_custom_op_tensor *inputs,
                   uint32_t input_count, rknn_custom_op_tensor *outputs, uint32_t output_count)
{
    const rknn_gpu_op_context *gpu = &context->gpu_ctx;
    const rknn_custom_op_tensor *tensors[] = {&inputs[0], &inputs[1], &outputs[0]};

    if (input_count != 2 || output_count != 1 || outputs[0].attr.n_elems != COUNT) {
        return -1;
    }
    if (context->target != RKNN_TARGET_TYPE_GPU) {
        printf("compute on CPU, %s\n", inputs[1].attr.name);
        for (uint32_t i = 0; i < COUNT; i++) {
            elements(&outputs[0])[i] = elements(&inputs[0])[i] + elements(&inputs[1])[i];
        }
        return 0;
    }
    printf("compute on GPU");
    for (uint32_t i = 0; i < MAX_TENSORS; i++) {
        printf(", %s %d", tensors[i]->mem.fd == files_of_init[i] ? "same file at" : "other file at",
               tensors[i]->mem.offset);
    }
    printf(", %s context, %s queue, %s kernel\n",
           gpu->cl_context == of_init.cl_context ? "same" : "other",
           gpu->cl_command_queue == of_init.cl_command_queue ? "same" : "other",
           gpu->cl_kernel == of_init.cl_kernel ? "same" : "other");
    if (is_word("failing")) {
        return -14;
    }
    const int32_t status = run_kernel(gpu, tensors);
    printf("OpenCL returns %d\n", (int)status);
    return status;
}

static int destroy(rknn_custom_op_context *context)
{
    printf("destroy on %s\n", context->target == RKNN_TARGET_TYPE_GPU ? "GPU" : "CPU");
    return 0;
}

/* ---- The application ---- */

static int register_for(rknn_target_type target, char *kernel)
{
    rknn_custom_op op = {
        .version = 1,
        .target = target,
        .op_type = "cstAdd",
        .cl_kernel_name = "add",
        .cl_kernel_source = kernel,
        .cl_source_size = strlen(kernel),
        .init = init,
        .prepare = prepare,
        .compute = compute,
        .destroy = destroy,
    };
    const int status = rknn_register_custom_ops(model, &op, 1);
    printf("registered: %d\n", status);
    return status;
}

static void *run(void *unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++) {
        printf("run: %d\n", rknn_run(model, NULL));
    }
    return NULL;
}

int main(int argument_count, char **arguments)
{
    static char bytes[MAX_MODEL];
    static float values[2][COUNT];
    struct rknn_input inputs[2];
    struct rknn_counts count;
    struct rknn_output output = {.wants_float = 1};
    pthread_t thread;

    setvbuf(stdout, NULL, _IONBF, 0);
    if (argument_count < 3) {
        return 2;
    }
    word = argument_count > 3 ? arguments[3] : "";
    FILE *file = fopen(arguments[1], "rb");
    const size_t size = file == NULL ? 0 : fread(bytes, 1, sizeof bytes, file);
    if (rknn_init(&model, bytes, (uint32_t)size, 0, NULL) != 0) {
        return 1;
    }
    if (register_for(RKNN_TARGET_TYPE_GPU, is_word("wrong") ? wrong_source : source) != 0 &&
        register_for(RKNN_TARGET_TYPE_CPU, source) != 0) {
        return 1;
    }
    rknn_query(model, RKNN_QUERY_IN_OUT_NUM, &count, sizeof count);
    memset(inputs, 0, sizeof inputs);
    for (uint32_t i = 0; i < count.inputs; i++) {
        for (uint32_t k = 0; k < COUNT; k++) {
            values[i][k] = (float)k / (float)(i + 1);
        }
        inputs[i].index = i;
        inputs[i].elements = values[i];
        inputs[i].size = sizeof values[i];
        inputs[i].type = RKNN_TENSOR_FLOAT32;
        inputs[i].format = RKNN_TENSOR_UNDEFINED;
    }
    rknn_inputs_set(model, count.inputs, inputs);
    if (is_word("thread")) {
        pthread_create(&thread, NULL, run, NULL);
        pthread_join(thread, NULL);
    } else {
        run(NULL);
    }
    if (rknn_outputs_get(model, 1, &output, NULL) != 0) {
        return 1;
    }
    file = fopen(arguments[2], "wb");
    if (file == NULL || fwrite(output.elements, 1, output.size, file) != output.size) {
        return 1;
    }
    fclose(file);
    return rknn_destroy(model);
}
