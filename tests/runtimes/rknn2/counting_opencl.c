/*
 * A libOpenCL for tests of the choice between GPU and CPU. It computes nothing but the trial
 * kernel, counts the objects that are alive, and fails as FAIL in the environment says: the name of
 * a function and the number of the failing call, such as "clCreateKernel 2". PLATFORM and
 * EXTENSIONS are what it reports; WRONG makes the trial's results wrong.
 */
#define _GNU_SOURCE
#include "opkit/runtimes/rknn2/opencl.h"

#define EXPORT __attribute__((visibility("default")))
#define DECLARE(name, result, parameters) EXPORT result cl##name parameters;
OPKIT_OPENCL_FUNCTIONS(DECLARE)
EXPORT opkit_cl_buffer clImportMemoryARM(opkit_cl_context context, uint64_t flags,
                                         const intptr_t *properties, void *memory, size_t size,
                                         int32_t *status);
EXPORT int alive_objects(void);

static int alive;
static float *trial;

int alive_objects(void)
{
    return alive;
}

static bool fails(const char *function)
{
    static long calls;
    const char *fail = getenv("FAIL");
    char name[64] = "";
    long call = 0;

    if (fail == NULL || sscanf(fail, "%63s %ld", name, &call) != 2 || strcmp(name, function) != 0) {
        return false;
    }
    return ++calls == call;
}

static const char *setting(const char *name, const char *usual)
{
    const char *value = getenv(name);
    return value != NULL ? value : usual;
}

static int32_t copy_text(const char *text, size_t size, void *to)
{
    snprintf(to, size, "%s", text);
    return OPKIT_CL_SUCCESS;
}

/* Returns a handle, or NULL. */
static void *made(const char *function, int32_t *status)
{
    static char object;

    *status = fails(function) ? -6 : OPKIT_CL_SUCCESS;
    alive += *status == OPKIT_CL_SUCCESS;
    return *status == OPKIT_CL_SUCCESS ? &object : NULL;
}

static int32_t released(void)
{
    alive--;
    return OPKIT_CL_SUCCESS;
}

static int32_t status_of(const char *function)
{
    return fails(function) ? -5 : OPKIT_CL_SUCCESS;
}

int32_t clGetPlatformIDs(uint32_t count, opkit_cl_platform *platforms, uint32_t *found)
{
    (void)count;
    *platforms = NULL;
    *found = fails("clGetPlatformIDs") ? 0 : 1;
    return OPKIT_CL_SUCCESS;
}

int32_t clGetPlatformInfo(opkit_cl_platform platform, uint32_t what, size_t size, void *to,
                          size_t *length)
{
    (void)platform, (void)what, (void)length;
    return copy_text(setting("PLATFORM", "ARM Platform"), size, to);
}

int32_t clGetDeviceIDs(opkit_cl_platform platform, uint64_t type, uint32_t count,
                       opkit_cl_device *devices, uint32_t *found)
{
    (void)platform, (void)type, (void)count, (void)found;
    *devices = NULL;
    return fails("clGetDeviceIDs") ? -1 : OPKIT_CL_SUCCESS;
}

int32_t clGetDeviceInfo(opkit_cl_device device, uint32_t what, size_t size, void *to,
                        size_t *length)
{
    (void)device, (void)what, (void)length;
    return copy_text(setting("EXTENSIONS", "cl_khr_fp16 cl_arm_import_memory"), size, to);
}

opkit_cl_context clCreateContext(const intptr_t *properties, uint32_t count,
                                 const opkit_cl_device *devices,
                                 void (*notify)(const char *, const void *, size_t, void *),
                                 void *data, int32_t *status)
{
    (void)properties, (void)count, (void)devices, (void)notify, (void)data;
    return made("clCreateContext", status);
}

int32_t clGetContextInfo(opkit_cl_context context, uint32_t what, size_t size, void *to,
                         size_t *length)
{
    (void)context, (void)what, (void)size, (void)to, (void)length;
    return status_of("clGetContextInfo");
}

int32_t clReleaseContext(opkit_cl_context context)
{
    (void)context;
    return released();
}

opkit_cl_queue clCreateCommandQueue(opkit_cl_context context, opkit_cl_device device,
                                    uint64_t properties, int32_t *status)
{
    (void)context, (void)device, (void)properties;
    return made("clCreateCommandQueue", status);
}

int32_t clReleaseCommandQueue(opkit_cl_queue queue)
{
    (void)queue;
    return released();
}

opkit_cl_program clCreateProgramWithSource(opkit_cl_context context, uint32_t count,
                                           const char *const *texts, const size_t *lengths,
                                           int32_t *status)
{
    (void)context, (void)count, (void)texts, (void)lengths;
    return made("clCreateProgramWithSource", status);
}

int32_t clBuildProgram(opkit_cl_program program, uint32_t count, const opkit_cl_device *devices,
                       const char *options, void (*notify)(opkit_cl_program, void *), void *data)
{
    (void)program, (void)count, (void)devices, (void)notify, (void)data;
    if (strcmp(options, "-cl-std=CL1.2") != 0) {
        return -43; /* CL_INVALID_BUILD_OPTIONS */
    }
    return fails("clBuildProgram") ? -11 : OPKIT_CL_SUCCESS;
}

int32_t clGetProgramBuildInfo(opkit_cl_program program, opkit_cl_device device, uint32_t what,
                              size_t size, void *to, size_t *length)
{
    (void)program, (void)device, (void)what, (void)length;
    return copy_text("<source>:3: unknown name 'z'\nmore\n", size, to);
}

int32_t clReleaseProgram(opkit_cl_program program)
{
    (void)program;
    return released();
}

opkit_cl_kernel clCreateKernel(opkit_cl_program program, const char *name, int32_t *status)
{
    (void)program, (void)name;
    return made("clCreateKernel", status);
}

int32_t clReleaseKernel(opkit_cl_kernel kernel)
{
    (void)kernel;
    return released();
}

opkit_cl_buffer clCreateBuffer(opkit_cl_context context, uint64_t flags, size_t size, void *data,
                               int32_t *status)
{
    (void)context, (void)flags, (void)size;
    trial = data;
    return made("clCreateBuffer", status);
}

opkit_cl_buffer clCreateSubBuffer(opkit_cl_buffer buffer, uint64_t flags, uint32_t type,
                                  const void *region, int32_t *status)
{
    (void)buffer, (void)flags, (void)type, (void)region;
    return made("clCreateSubBuffer", status);
}

opkit_cl_buffer clImportMemoryARM(opkit_cl_context context, uint64_t flags,
                                  const intptr_t *properties, void *memory, size_t size,
                                  int32_t *status)
{
    (void)context, (void)flags, (void)properties, (void)memory, (void)size;
    return made("clImportMemoryARM", status);
}

int32_t clReleaseMemObject(opkit_cl_buffer buffer)
{
    (void)buffer;
    return released();
}

int32_t clSetKernelArg(opkit_cl_kernel kernel, uint32_t index, size_t size, const void *value)
{
    (void)kernel, (void)index, (void)size, (void)value;
    return status_of("clSetKernelArg");
}

int32_t clEnqueueNDRangeKernel(opkit_cl_queue queue, opkit_cl_kernel kernel, uint32_t dimensions,
                               const size_t *offset, const size_t *global, const size_t *local,
                               uint32_t count, const void *events, void *event)
{
    (void)queue, (void)kernel, (void)dimensions, (void)offset, (void)local, (void)count;
    (void)events, (void)event;
    for (size_t i = 0; i < *global; i++) {
        trial[i] += (float)i + (getenv("WRONG") != NULL);
    }
    return status_of("clEnqueueNDRangeKernel");
}

int32_t clEnqueueReadBuffer(opkit_cl_queue queue, opkit_cl_buffer buffer, uint32_t waits,
                            size_t offset, size_t size, void *to, uint32_t count,
                            const void *events, void *event)
{
    (void)queue, (void)buffer, (void)waits, (void)offset, (void)size, (void)to, (void)count;
    (void)events, (void)event;
    return status_of("clEnqueueReadBuffer");
}

int32_t clFinish(opkit_cl_queue queue)
{
    (void)queue;
    return status_of("clFinish");
}
