/* Platform, device, contexts, programs and kernels. */
#include "shim.h"

enum {
    PLATFORM_EXTENSIONS = 0x0904
};

int32_t clGetPlatformIDs(uint32_t count, opkit_cl_platform *platforms, uint32_t *found)
{
    int32_t status = injected_failure("clGetPlatformIDs");

    if (status != CL_SUCCESS) {
        return status;
    }
    keep_process();
    status = open_real() ? real.GetPlatformIDs(count, platforms, found) : CL_DEVICE_NOT_FOUND;
    restore_process();
    return status;
}

static int32_t answer_text(const char *text, size_t capacity, void *value, size_t *size)
{
    return answer(text, strlen(text) + 1, capacity, value, size);
}

int32_t clGetPlatformInfo(opkit_cl_platform platform, uint32_t name, size_t capacity, void *value,
                          size_t *size)
{
    int32_t status = injected_failure("clGetPlatformInfo");

    if (status != CL_SUCCESS) {
        return status;
    }
    if (name == OPKIT_CL_PLATFORM_NAME) {
        return answer_text(session.platform, capacity, value, size);
    }
    if (name == PLATFORM_EXTENSIONS) {
        return answer_text(session.extensions, capacity, value, size);
    }
    return real.GetPlatformInfo(platform, name, capacity, value, size);
}

int32_t clGetDeviceIDs(opkit_cl_platform platform, uint64_t type, uint32_t count,
                       opkit_cl_device *devices, uint32_t *found)
{
    int32_t status = injected_failure("clGetDeviceIDs");

    if (status != CL_SUCCESS) {
        return status;
    }
    /* Its processor stands for a GPU. */
    type = type == OPKIT_CL_DEVICE_TYPE_GPU ? UINT32_MAX : type;
    keep_process();
    status = real.GetDeviceIDs(platform, type, count, devices, found);
    restore_process();
    return status;
}

int32_t clGetDeviceInfo(opkit_cl_device device, uint32_t name, size_t capacity, void *value,
                        size_t *size)
{
    int32_t status = injected_failure("clGetDeviceInfo");

    if (status != CL_SUCCESS) {
        return status;
    }
    return name == OPKIT_CL_DEVICE_EXTENSIONS
               ? answer_text(session.extensions, capacity, value, size)
               : real.GetDeviceInfo(device, name, capacity, value, size);
}

static void *counted(void *object, enum object_kind kind)
{
    if (object != NULL) {
        count_object(kind, 1);
    }
    return object;
}

static int32_t released(int32_t status, enum object_kind kind)
{
    if (status == CL_SUCCESS) {
        count_object(kind, -1);
    }
    return status;
}

opkit_cl_context clCreateContext(const intptr_t *properties, uint32_t count,
                                 const opkit_cl_device *devices,
                                 void (*notify)(const char *, const void *, size_t, void *),
                                 void *data, int32_t *status)
{
    int32_t failure = injected_failure("clCreateContext");
    opkit_cl_context context;

    if (failure != CL_SUCCESS) {
        return failed(status, failure);
    }
    keep_process();
    context = real.CreateContext(properties, count, devices, notify, data, status);
    restore_process();
    return counted(context, CONTEXT);
}

int32_t clGetContextInfo(opkit_cl_context context, uint32_t name, size_t capacity, void *value,
                         size_t *size)
{
    int32_t status = injected_failure("clGetContextInfo");

    return status != CL_SUCCESS ? status
                                : real.GetContextInfo(context, name, capacity, value, size);
}

int32_t clReleaseContext(opkit_cl_context context)
{
    return released(real.ReleaseContext(context), CONTEXT);
}

opkit_cl_program clCreateProgramWithSource(opkit_cl_context context, uint32_t count,
                                           const char *const *texts, const size_t *lengths,
                                           int32_t *status)
{
    int32_t failure = injected_failure("clCreateProgramWithSource");

    return failure != CL_SUCCESS
               ? failed(status, failure)
               : counted(real.CreateProgramWithSource(context, count, texts, lengths, status),
                         PROGRAM);
}

int32_t clBuildProgram(opkit_cl_program program, uint32_t count, const opkit_cl_device *devices,
                       const char *options, void (*notify)(opkit_cl_program, void *), void *data)
{
    int32_t status = injected_failure("clBuildProgram");

    if (status != CL_SUCCESS) {
        return status;
    }
    keep_process();
    status = real.BuildProgram(program, count, devices, options, notify, data);
    restore_process();
    return status;
}

int32_t clGetProgramBuildInfo(opkit_cl_program program, opkit_cl_device device, uint32_t name,
                              size_t capacity, void *value, size_t *size)
{
    return real.GetProgramBuildInfo(program, device, name, capacity, value, size);
}

int32_t clReleaseProgram(opkit_cl_program program)
{
    return released(real.ReleaseProgram(program), PROGRAM);
}

opkit_cl_kernel clCreateKernel(opkit_cl_program program, const char *name, int32_t *status)
{
    int32_t failure = injected_failure("clCreateKernel");

    return failure != CL_SUCCESS ? failed(status, failure)
                                 : counted(real.CreateKernel(program, name, status), KERNEL);
}

int32_t clReleaseKernel(opkit_cl_kernel kernel)
{
    return released(real.ReleaseKernel(kernel), KERNEL);
}

int32_t clSetKernelArg(opkit_cl_kernel kernel, uint32_t index, size_t size, const void *value)
{
    int32_t status = injected_failure("clSetKernelArg");

    return status != CL_SUCCESS ? status : real.SetKernelArg(kernel, index, size, value);
}
