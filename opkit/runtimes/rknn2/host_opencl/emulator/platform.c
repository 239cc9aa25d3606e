/* Platform, device, contexts and command queues. */
#include "emulator.h"

static char the_platform[1], device[1];

opkit_cl_device the_device(void)
{
    return (opkit_cl_device)(void *)device;
}

bool is_platform(opkit_cl_platform platform)
{
    return platform == (opkit_cl_platform)(void *)the_platform;
}

int32_t clGetPlatformIDs(uint32_t count, opkit_cl_platform *platforms, uint32_t *found)
{
    int32_t status = injected_failure("clGetPlatformIDs");

    if (status != CL_SUCCESS) {
        return status;
    }
    if ((platforms != NULL && count == 0) || (platforms == NULL && found == NULL)) {
        return CL_INVALID_VALUE;
    }
    if (platforms != NULL) {
        platforms[0] = (opkit_cl_platform)(void *)the_platform;
    }
    if (found != NULL) {
        *found = 1;
    }
    return CL_SUCCESS;
}

static int32_t answer_text(const char *text, size_t capacity, void *value, size_t *size)
{
    return answer(text, strlen(text) + 1, capacity, value, size);
}

int32_t clGetPlatformInfo(opkit_cl_platform platform, uint32_t name, size_t capacity, void *value,
                          size_t *size)
{
    enum {
        PROFILE = 0x0900,
        VERSION,
        NAME,
        VENDOR,
        EXTENSIONS
    };
    int32_t status = injected_failure("clGetPlatformInfo");

    if (status != CL_SUCCESS) {
        return status;
    }
    if (!is_platform(platform)) {
        return CL_INVALID_PLATFORM;
    }
    switch (name) {
    case PROFILE:
        return answer_text("FULL_PROFILE", capacity, value, size);
    case VERSION:
        return answer_text("OpenCL 1.2 emulator", capacity, value, size);
    case NAME:
        return answer_text(session.platform, capacity, value, size);
    case VENDOR:
        return answer_text("ARM", capacity, value, size);
    case EXTENSIONS:
        return answer_text(session.extensions, capacity, value, size);
    default:
        return CL_INVALID_VALUE;
    }
}

int32_t clGetDeviceIDs(opkit_cl_platform platform, uint64_t type, uint32_t count,
                       opkit_cl_device *devices, uint32_t *found)
{
    enum {
        DEFAULT = 1 << 0,
        ANY = 1 << 5 /* the kinds of devices are the bits below */
    };
    int32_t status = injected_failure("clGetDeviceIDs");

    if (status != CL_SUCCESS) {
        return status;
    }
    if (!is_platform(platform)) {
        return CL_INVALID_PLATFORM;
    }
    if (type == 0 || (type >= ANY && type != UINT32_MAX)) {
        return CL_INVALID_DEVICE_TYPE;
    }
    if ((devices != NULL && count == 0) || (devices == NULL && found == NULL)) {
        return CL_INVALID_VALUE;
    }
    if ((type & (DEFAULT | OPKIT_CL_DEVICE_TYPE_GPU)) == 0) {
        return CL_DEVICE_NOT_FOUND;
    }
    if (devices != NULL) {
        devices[0] = the_device();
    }
    if (found != NULL) {
        *found = 1;
    }
    return CL_SUCCESS;
}

int32_t clGetDeviceInfo(opkit_cl_device asked, uint32_t name, size_t capacity, void *value,
                        size_t *size)
{
    enum {
        MAX_WORK_GROUP_SIZE = 0x1004,
        MEM_BASE_ADDR_ALIGN = 0x1019,
        LOCAL_MEM_SIZE = 0x1023,
        NAME = 0x102B,
        EXTENSIONS = 0x1030
    };
    const size_t group = MAX_GROUP_SIZE;
    const uint32_t alignment = BASE_ALIGNMENT * 8;
    const uint64_t local = LOCAL_MEMORY;
    int32_t status = injected_failure("clGetDeviceInfo");

    if (status != CL_SUCCESS) {
        return status;
    }
    if (asked != the_device()) {
        return CL_INVALID_DEVICE;
    }
    switch (name) {
    case MAX_WORK_GROUP_SIZE:
        return answer(&group, sizeof group, capacity, value, size);
    case MEM_BASE_ADDR_ALIGN:
        return answer(&alignment, sizeof alignment, capacity, value, size);
    case LOCAL_MEM_SIZE:
        return answer(&local, sizeof local, capacity, value, size);
    case NAME:
        return answer_text("emulated Mali", capacity, value, size);
    case EXTENSIONS:
        return answer_text(session.extensions, capacity, value, size);
    default:
        return CL_INVALID_VALUE;
    }
}

int32_t clGetContextInfo(opkit_cl_context context, uint32_t name, size_t capacity, void *value,
                         size_t *size)
{
    enum {
        NUM_DEVICES = 0x1083
    };
    const opkit_cl_device device = the_device();
    const uint32_t count = 1;
    int32_t status = injected_failure("clGetContextInfo");

    if (status != CL_SUCCESS) {
        return status;
    }
    if (find_object(context, CONTEXT) == NULL) {
        return CL_INVALID_CONTEXT;
    }
    switch (name) {
    case OPKIT_CL_CONTEXT_DEVICES:
        return answer(&device, sizeof device, capacity, value, size);
    case NUM_DEVICES:
        return answer(&count, sizeof count, capacity, value, size);
    default:
        return CL_INVALID_VALUE;
    }
}

opkit_cl_context clCreateContext(const intptr_t *properties, uint32_t count,
                                 const opkit_cl_device *devices,
                                 void (*notify)(const char *, const void *, size_t, void *),
                                 void *data, int32_t *status)
{
    enum {
        CONTEXT_PLATFORM = 0x1084
    };
    int32_t failure = injected_failure("clCreateContext");
    struct object *context;

    if (failure != CL_SUCCESS) {
        return failed(status, failure);
    }
    for (; properties != NULL && *properties != 0; properties += 2) {
        if (properties[0] != CONTEXT_PLATFORM) {
            return failed(status, CL_INVALID_PROPERTY);
        }
        if (!is_platform((opkit_cl_platform)properties[1])) {
            return failed(status, CL_INVALID_PLATFORM);
        }
    }
    if (count != 1 || devices == NULL || (notify == NULL && data != NULL)) {
        return failed(status, CL_INVALID_VALUE);
    }
    if (devices[0] != the_device()) {
        return failed(status, CL_INVALID_DEVICE);
    }
    context = new_object(CONTEXT, NULL);
    if (context == NULL) {
        return failed(status, CL_OUT_OF_HOST_MEMORY);
    }
    succeeded(status);
    return handle_of(context);
}

int32_t clReleaseContext(opkit_cl_context context)
{
    return release_object(find_object(context, CONTEXT), CL_INVALID_CONTEXT);
}
