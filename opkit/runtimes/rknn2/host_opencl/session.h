/*
 * What the two libraries share that stand for libOpenCL while cases run on this PC: the emulator,
 * and the shim before another OpenCL. The host runtime calls the first two functions around each
 * run of an operator; between them the operator calls OpenCL.
 *
 * Attachments that come in:
 *
 *     opencl:program     the emulator's: the path of the compiled source, kernel.so
 *     opencl:local_size  the emulator's: up to three local sizes where a launch leaves them open
 *     opencl:reverse     the emulator's: 1: the last work item first
 *     opencl:fill        the emulator's: the byte of uninitialized memory
 *     opencl:real        the shim's: the path of the library behind it
 *     opencl:fail        "clImportMemoryARM 3 -6": the third call of this function fails with -6;
 *                        several of them in lines
 *     opencl:platform    the platform's name, and in a second line the device's extensions
 *
 * Records that go out, as lines of the log:
 *
 *     launch   kernel, global size, local size or "-": separated by tabs
 *     alive    kind of objects, count of those not released
 *     misuse   a call that OpenCL forbids or leaves undefined: a sentence
 */
#ifndef OPKIT_HOST_OPENCL_SESSION_H
#define OPKIT_HOST_OPENCL_SESSION_H

#include "opkit/check/harness/runtime.h"
#include "opkit/runtimes/rknn2/opencl.h"

enum cl_status {
    CL_SUCCESS = 0,
    CL_DEVICE_NOT_FOUND = -1,
    CL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
    CL_OUT_OF_RESOURCES = -5,
    CL_OUT_OF_HOST_MEMORY = -6,
    CL_BUILD_PROGRAM_FAILURE = -11,
    CL_MISALIGNED_SUB_BUFFER_OFFSET = -13,
    CL_INVALID_VALUE = -30,
    CL_INVALID_DEVICE_TYPE = -31,
    CL_INVALID_PLATFORM = -32,
    CL_INVALID_DEVICE = -33,
    CL_INVALID_CONTEXT = -34,
    CL_INVALID_QUEUE_PROPERTIES = -35,
    CL_INVALID_COMMAND_QUEUE = -36,
    CL_INVALID_HOST_PTR = -37,
    CL_INVALID_MEM_OBJECT = -38,
    CL_INVALID_PROGRAM = -44,
    CL_INVALID_PROGRAM_EXECUTABLE = -45,
    CL_INVALID_KERNEL_NAME = -46,
    CL_INVALID_KERNEL = -48,
    CL_INVALID_ARG_INDEX = -49,
    CL_INVALID_ARG_VALUE = -50,
    CL_INVALID_ARG_SIZE = -51,
    CL_INVALID_KERNEL_ARGS = -52,
    CL_INVALID_WORK_DIMENSION = -53,
    CL_INVALID_WORK_GROUP_SIZE = -54,
    CL_INVALID_WORK_ITEM_SIZE = -55,
    CL_INVALID_GLOBAL_OFFSET = -56,
    CL_INVALID_EVENT_WAIT_LIST = -57,
    CL_INVALID_OPERATION = -59,
    CL_INVALID_BUFFER_SIZE = -61,
    CL_INVALID_GLOBAL_WORK_SIZE = -63,
    CL_INVALID_PROPERTY = -64
};

enum object_kind {
    CONTEXT,
    QUEUE,
    PROGRAM,
    KERNEL,
    BUFFER,
    SUB_BUFFER,
    IMPORT,
    OBJECT_KINDS
};

#define EXPORTED __attribute__((visibility("default")))

/* The functions of OpenCL, as the operator has them. */
#define DECLARE(name, result, parameters) EXPORTED result cl##name parameters;
OPKIT_OPENCL_FUNCTIONS(DECLARE)
#undef DECLARE

EXPORTED opkit_cl_buffer clImportMemoryARM(opkit_cl_context context, uint64_t flags,
                                           const intptr_t *properties, void *memory, size_t size,
                                           int32_t *status);

EXPORTED void opkit_opencl_begin(const struct harness_invocation *invocation,
                                 harness_record_f *record);
/* Records what the operator did; also after a fault in it. Without a run it does nothing. */
EXPORTED void opkit_opencl_end(void);
/* Describes a signal while a kernel runs, or returns false: none runs. */
EXPORTED bool opkit_opencl_describe_fault(struct harness_fault *fault, char *text, size_t size);

#pragma GCC visibility push(hidden)

enum {
    MAX_VALUES = 128
};

extern const char *const object_names[OBJECT_KINDS];

/* session.c */
void begin_session(const struct harness_invocation *invocation, harness_record_f *record);
/* `counts`: records the objects that are alive, unless another node is. */
void end_session(bool counts);
struct session {
    harness_record_f *record; /* NULL: outside of a run */
    struct harness_value values[MAX_VALUES]; /* their bytes may be gone */
    unsigned value_count;
    char platform[256];
    char extensions[2048];
};
extern struct session session;
const char *attachment(const char *name); /* NULL: there is none */
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Counts a call; returns the status with which it is to fail, or 0. */
int32_t injected_failure(const char *function);
void count_object(enum object_kind kind, int change);
/* Stores a status where a caller wants one, and returns NULL. */
void *failed(int32_t *status, int32_t value);
void succeeded(int32_t *status);
/* Answers a query: the value, and its size. */
int32_t answer(const void *value, size_t size, size_t capacity, void *to, size_t *size_to);

/* An import's descriptor and the name of its memory. */
struct import {
    unsigned char *memory;
    size_t mapped; /* bytes */
    char name[HARNESS_MAX_NAME]; /* of the tensor; empty: unknown */
};

/* imports.c */
/* Maps the descriptor that clImportMemoryARM got; returns a status. */
int32_t map_import(const intptr_t *properties, const void *memory, size_t size,
                   struct import *import);
void unmap_import(const struct import *import);

#pragma GCC visibility pop

#endif
