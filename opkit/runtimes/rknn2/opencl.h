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
#include <stdio.h>
#include <stdlib.h>
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
    OPKIT_CL_PLATFORM_NAME = 0x0902,
    OPKIT_CL_DEVICE_EXTENSIONS = 0x1030,
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
#define OPKIT_OPENCL_FUNCTIONS(FUNCTION)                                                           \
    FUNCTION(GetPlatformIDs, int32_t, (uint32_t, opkit_cl_platform *, uint32_t *))                 \
    FUNCTION(GetPlatformInfo, int32_t, (opkit_cl_platform, uint32_t, size_t, void *, size_t *))    \
    FUNCTION(GetDeviceIDs, int32_t,                                                                \
             (opkit_cl_platform, uint64_t, uint32_t, opkit_cl_device *, uint32_t *))               \
    FUNCTION(GetDeviceInfo, int32_t, (opkit_cl_device, uint32_t, size_t, void *, size_t *))        \
    FUNCTION(GetExtensionFunctionAddressForPlatform, void *, (opkit_cl_platform, const char *))    \
    FUNCTION(CreateContext, opkit_cl_context,                                                      \
             (const intptr_t *, uint32_t, const opkit_cl_device *,                                 \
              void (*)(const char *, const void *, size_t, void *), void *, int32_t *))            \
    FUNCTION(ReleaseContext, int32_t, (opkit_cl_context))                                          \
    FUNCTION(CreateCommandQueue, opkit_cl_queue,                                                   \
             (opkit_cl_context, opkit_cl_device, uint64_t, int32_t *))                             \
    FUNCTION(ReleaseCommandQueue, int32_t, (opkit_cl_queue))                                       \
    FUNCTION(CreateProgramWithSource, opkit_cl_program,                                            \
             (opkit_cl_context, uint32_t, const char **, const size_t *, int32_t *))               \
    FUNCTION(BuildProgram, int32_t,                                                                \
             (opkit_cl_program, uint32_t, const opkit_cl_device *, const char *,                   \
              void (*)(opkit_cl_program, void *), void *))                                         \
    FUNCTION(GetProgramBuildInfo, int32_t,                                                         \
             (opkit_cl_program, opkit_cl_device, uint32_t, size_t, void *, size_t *))              \
    FUNCTION(ReleaseProgram, int32_t, (opkit_cl_program))                                          \
    FUNCTION(CreateKernel, opkit_cl_kernel, (opkit_cl_program, const char *, int32_t *))           \
    FUNCTION(ReleaseKernel, int32_t, (opkit_cl_kernel))                                            \
    FUNCTION(CreateBuffer, opkit_cl_buffer,                                                        \
             (opkit_cl_context, uint64_t, size_t, void *, int32_t *))                              \
    FUNCTION(CreateSubBuffer, opkit_cl_buffer,                                                     \
             (opkit_cl_buffer, uint64_t, uint32_t, const void *, int32_t *))                       \
    FUNCTION(ReleaseMemObject, int32_t, (opkit_cl_buffer))                                         \
    FUNCTION(SetKernelArg, int32_t, (opkit_cl_kernel, uint32_t, size_t, const void *))             \
    FUNCTION(EnqueueNDRangeKernel, int32_t,                                                        \
             (opkit_cl_queue, opkit_cl_kernel, uint32_t, const size_t *, const size_t *,           \
              const size_t *, uint32_t, const void *, void *))                                     \
    FUNCTION(EnqueueReadBuffer, int32_t,                                                           \
             (opkit_cl_queue, opkit_cl_buffer, uint32_t, size_t, size_t, void *, uint32_t,         \
              const void *, void *))                                                               \
    FUNCTION(Finish, int32_t, (opkit_cl_queue))

struct opkit_opencl {
#define OPKIT_OPENCL_MEMBER(name, result, parameters) result(*name) parameters;
    OPKIT_OPENCL_FUNCTIONS(OPKIT_OPENCL_MEMBER)
#undef OPKIT_OPENCL_MEMBER
    /* Of cl_arm_import_memory: a buffer on the memory of a dma-buf, `memory` points to its fd. */
    opkit_cl_buffer (*ImportMemoryARM)(opkit_cl_context context, uint64_t flags,
                                       const intptr_t *properties, void *memory, size_t size,
                                       int32_t *status);
};

#endif
