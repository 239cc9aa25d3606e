/*
 * The part of OpenCL 1.2 that GPU kernels need, from the library that the board has.
 *
 * Programs are not linked to it: opkit_open_opencl loads it at run time, so that boards without it
 * run the same files. Values and types are those of the Khronos specification of OpenCL 1.2, and of
 * the extension cl_arm_import_memory.
 */
#ifndef OPKIT_OPENCL_H
#define OPKIT_OPENCL_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

typedef struct opkit_cl_platform *opkit_cl_platform;
typedef struct opkit_cl_device *opkit_cl_device;
typedef struct opkit_cl_context *opkit_cl_context;
typedef struct opkit_cl_queue *opkit_cl_queue;
typedef struct opkit_cl_program *opkit_cl_program;
typedef struct opkit_cl_kernel *opkit_cl_kernel;
typedef struct opkit_cl_buffer *opkit_cl_buffer;

/* A region of a buffer, in bytes: cl_buffer_region. */
struct opkit_cl_region {
    size_t origin;
    size_t size;
};

enum {
    OPKIT_CL_SUCCESS = 0,
    OPKIT_CL_MISALIGNED = -13, /* of a sub-buffer */
    OPKIT_CL_PLATFORM_NAME = 0x0902,
    OPKIT_CL_DEVICE_EXTENSIONS = 0x1030,
    OPKIT_CL_CONTEXT_DEVICES = 0x1081,
    OPKIT_CL_DEVICE_TYPE_GPU = 1 << 2,
    OPKIT_CL_MEM_READ_WRITE = 1 << 0,
    OPKIT_CL_MEM_READ_ONLY = 1 << 2,
    OPKIT_CL_MEM_COPY_HOST_PTR = 1 << 5,
    OPKIT_CL_BUFFER_CREATE_TYPE_REGION = 0x1220,
    OPKIT_CL_PROGRAM_BUILD_LOG = 0x1183,
    OPKIT_CL_IMPORT_TYPE_ARM = 0x40B2,
    OPKIT_CL_IMPORT_TYPE_DMA_BUF_ARM = 0x40B4
};

/* name, result, parameters */
#define OPKIT_OPENCL_FUNCTIONS(FUNCTION)                                                        \
    FUNCTION(GetPlatformIDs, int32_t, (uint32_t, opkit_cl_platform *, uint32_t *))              \
    FUNCTION(GetPlatformInfo, int32_t, (opkit_cl_platform, uint32_t, size_t, void *, size_t *)) \
    FUNCTION(GetDeviceIDs, int32_t,                                                             \
             (opkit_cl_platform, uint64_t, uint32_t, opkit_cl_device *, uint32_t *))            \
    FUNCTION(GetDeviceInfo, int32_t, (opkit_cl_device, uint32_t, size_t, void *, size_t *))     \
    FUNCTION(CreateContext, opkit_cl_context,                                                   \
             (const intptr_t *, uint32_t, const opkit_cl_device *,                              \
              void (*)(const char *, const void *, size_t, void *), void *, int32_t *))         \
    FUNCTION(GetContextInfo, int32_t, (opkit_cl_context, uint32_t, size_t, void *, size_t *))   \
    FUNCTION(ReleaseContext, int32_t, (opkit_cl_context))                                       \
    FUNCTION(CreateCommandQueue, opkit_cl_queue,                                                \
             (opkit_cl_context, opkit_cl_device, uint64_t, int32_t *))                          \
    FUNCTION(ReleaseCommandQueue, int32_t, (opkit_cl_queue))                                    \
    FUNCTION(CreateProgramWithSource, opkit_cl_program,                                         \
             (opkit_cl_context, uint32_t, const char *const *, const size_t *, int32_t *))      \
    FUNCTION(BuildProgram, int32_t,                                                             \
             (opkit_cl_program, uint32_t, const opkit_cl_device *, const char *,                \
              void (*)(opkit_cl_program, void *), void *))                                      \
    FUNCTION(GetProgramBuildInfo, int32_t,                                                      \
             (opkit_cl_program, opkit_cl_device, uint32_t, size_t, void *, size_t *))           \
    FUNCTION(ReleaseProgram, int32_t, (opkit_cl_program))                                       \
    FUNCTION(CreateKernel, opkit_cl_kernel, (opkit_cl_program, const char *, int32_t *))        \
    FUNCTION(ReleaseKernel, int32_t, (opkit_cl_kernel))                                         \
    FUNCTION(CreateBuffer, opkit_cl_buffer,                                                     \
             (opkit_cl_context, uint64_t, size_t, void *, int32_t *))                           \
    FUNCTION(CreateSubBuffer, opkit_cl_buffer,                                                  \
             (opkit_cl_buffer, uint64_t, uint32_t, const void *, int32_t *))                    \
    FUNCTION(ReleaseMemObject, int32_t, (opkit_cl_buffer))                                      \
    FUNCTION(SetKernelArg, int32_t, (opkit_cl_kernel, uint32_t, size_t, const void *))          \
    FUNCTION(EnqueueNDRangeKernel, int32_t,                                                     \
             (opkit_cl_queue, opkit_cl_kernel, uint32_t, const size_t *, const size_t *,        \
              const size_t *, uint32_t, const void *, void *))                                  \
    FUNCTION(EnqueueReadBuffer, int32_t,                                                        \
             (opkit_cl_queue, opkit_cl_buffer, uint32_t, size_t, size_t, void *, uint32_t,      \
              const void *, void *))                                                            \
    FUNCTION(Finish, int32_t, (opkit_cl_queue))

/* The functions; NULL as long as the library is not open. */
struct opkit_opencl {
#define OPKIT_OPENCL_MEMBER(name, result, parameters) result(*name) parameters;
    OPKIT_OPENCL_FUNCTIONS(OPKIT_OPENCL_MEMBER)
#undef OPKIT_OPENCL_MEMBER
    /* Of cl_arm_import_memory: a buffer on a dma-buf; `memory` is the address of its descriptor. */
    opkit_cl_buffer (*ImportMemoryARM)(opkit_cl_context context, uint64_t flags,
                                       const intptr_t *properties, void *memory, size_t size,
                                       int32_t *status);
};

/*
 * Opens the board's library: RKNN_OP_OPENCL in the environment is its name or path. It stays open,
 * because drivers keep threads. Returns NULL, or what is missing.
 */
static inline const char *opkit_open_opencl(struct opkit_opencl *cl)
{
    /* As librknnrt 1.6.0, in this order. */
    static const char *const NAMES[] = {"libOpenCL.so", "/usr/lib/aarch64-linux-gnu/libOpenCL.so",
                                        "/usr/lib/arm-linux-gnueabihf/libOpenCL.so"};
    const char *chosen = getenv("RKNN_OP_OPENCL");
    void *library = chosen != NULL ? dlopen(chosen, RTLD_NOW | RTLD_LOCAL) : NULL;
    void *symbol;

    for (size_t i = 0; chosen == NULL && library == NULL && i < sizeof NAMES / sizeof *NAMES; i++) {
        library = dlopen(NAMES[i], RTLD_NOW | RTLD_LOCAL);
    }
    if (library == NULL) {
        return chosen != NULL ? "RKNN_OP_OPENCL names no library" : "there is no libOpenCL.so";
    }
#define OPKIT_OPENCL_LOAD(name, result, parameters)     \
    symbol = dlsym(library, "cl" #name);                \
    if (symbol == NULL) {                               \
        return "libOpenCL.so has no function cl" #name; \
    }                                                   \
    memcpy(&cl->name, &symbol, sizeof symbol);
    OPKIT_OPENCL_FUNCTIONS(OPKIT_OPENCL_LOAD)
#undef OPKIT_OPENCL_LOAD
    symbol = dlsym(library, "clImportMemoryARM");
    memcpy(&cl->ImportMemoryARM, &symbol, sizeof symbol);
    return symbol != NULL ? NULL : "libOpenCL.so has no function clImportMemoryARM";
}

/* Returns the name of an error code. */
static inline const char *opkit_cl_error(int32_t status)
{
    static const struct {
        int32_t status;
        const char *name;
    } ERRORS[] = {
        {-1, "CL_DEVICE_NOT_FOUND"},
        {-3, "CL_COMPILER_NOT_AVAILABLE"},
        {-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
        {-5, "CL_OUT_OF_RESOURCES"},
        {-6, "CL_OUT_OF_HOST_MEMORY"},
        {-11, "CL_BUILD_PROGRAM_FAILURE"},
        {-13, "CL_MISALIGNED_SUB_BUFFER_OFFSET"},
        {-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
        {-30, "CL_INVALID_VALUE"},
        {-33, "CL_INVALID_DEVICE"},
        {-34, "CL_INVALID_CONTEXT"},
        {-36, "CL_INVALID_COMMAND_QUEUE"},
        {-38, "CL_INVALID_MEM_OBJECT"},
        {-46, "CL_INVALID_KERNEL_NAME"},
        {-48, "CL_INVALID_KERNEL"},
        {-49, "CL_INVALID_ARG_INDEX"},
        {-50, "CL_INVALID_ARG_VALUE"},
        {-51, "CL_INVALID_ARG_SIZE"},
        {-52, "CL_INVALID_KERNEL_ARGS"},
        {-54, "CL_INVALID_WORK_GROUP_SIZE"},
        {-55, "CL_INVALID_WORK_ITEM_SIZE"},
        {-59, "CL_INVALID_OPERATION"},
        {-61, "CL_INVALID_BUFFER_SIZE"},
        {-63, "CL_INVALID_GLOBAL_WORK_SIZE"},
    };

    for (size_t i = 0; i < sizeof ERRORS / sizeof *ERRORS; i++) {
        if (ERRORS[i].status == status) {
            return ERRORS[i].name;
        }
    }
    return "an error";
}

#endif
