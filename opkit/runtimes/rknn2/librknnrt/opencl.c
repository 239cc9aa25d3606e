/*
 * A stand-in for the libOpenCL.so of a Mali, for running librknnrt without a board: PoCL's OpenCL.
 *
 * librknnrt looks its functions up in this library and in the one that it is linked to, PoCL's
 * loader libOpenCL.so.1. So only the functions are here whose answers differ on a Mali. Names and
 * numbers are those of OpenCL 1.2 and of its extension cl_arm_import_memory.
 */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "opkit/runtimes/rknn2/opencl.h"

#define EXPORT __attribute__((visibility("default")))

/* Sets `function` to the definition of PoCL's loader. */
#define POCL(function, name)                               \
    do {                                                   \
        if ((function) == NULL) {                          \
            void *address = dlsym(RTLD_NEXT, name);        \
            memcpy(&(function), &address, sizeof address); \
        }                                                  \
    } while (0)

enum {
    ALL_DEVICES = -1, /* CL_DEVICE_TYPE_ALL, of 32 bits */
    USE_MEMORY = 1 << 3, /* CL_MEM_USE_HOST_PTR */
    INVALID_VALUE = -30
};

/* The loader's, as which this library needs it. */
opkit_cl_buffer clCreateBuffer(opkit_cl_context context, uint64_t flags, size_t size, void *memory,
                               int32_t *status);
int32_t clSetMemObjectDestructorCallback(opkit_cl_buffer buffer,
                                         void (*function)(opkit_cl_buffer, void *), void *data);

/* Stores a text as the functions for information do. */
static int32_t store(const char *text, size_t size, void *value, size_t *needed)
{
    const size_t length = strlen(text) + 1;

    if (needed != NULL) {
        *needed = length;
    }
    if (value != NULL && size < length) {
        return INVALID_VALUE;
    }
    if (value != NULL) {
        memcpy(value, text, length);
    }
    return OPKIT_CL_SUCCESS;
}

EXPORT int32_t clGetPlatformInfo(opkit_cl_platform platform, uint32_t name, size_t size,
                                 void *value, size_t *needed);
int32_t clGetPlatformInfo(opkit_cl_platform platform, uint32_t name, size_t size, void *value,
                          size_t *needed)
{
    static int32_t (*pocl)(opkit_cl_platform, uint32_t, size_t, void *, size_t *);

    if (name == OPKIT_CL_PLATFORM_NAME) {
        return store("ARM Platform", size, value, needed);
    }
    POCL(pocl, "clGetPlatformInfo");
    return pocl(platform, name, size, value, needed);
}

/* The GPU is PoCL's device, a CPU. */
EXPORT int32_t clGetDeviceIDs(opkit_cl_platform platform, uint64_t type, uint32_t count,
                              opkit_cl_device *devices, uint32_t *found);
int32_t clGetDeviceIDs(opkit_cl_platform platform, uint64_t type, uint32_t count,
                       opkit_cl_device *devices, uint32_t *found)
{
    static int32_t (*pocl)(opkit_cl_platform, uint64_t, uint32_t, opkit_cl_device *, uint32_t *);
    const uint64_t all = (uint32_t)ALL_DEVICES;

    POCL(pocl, "clGetDeviceIDs");
    return pocl(platform, type == OPKIT_CL_DEVICE_TYPE_GPU ? all : type, count, devices, found);
}

EXPORT int32_t clGetDeviceInfo(opkit_cl_device device, uint32_t name, size_t size, void *value,
                               size_t *needed);
int32_t clGetDeviceInfo(opkit_cl_device device, uint32_t name, size_t size, void *value,
                        size_t *needed)
{
    static int32_t (*pocl)(opkit_cl_device, uint32_t, size_t, void *, size_t *);
    char text[4096] = "";

    POCL(pocl, "clGetDeviceInfo");
    if (name != OPKIT_CL_DEVICE_EXTENSIONS) {
        return pocl(device, name, size, value, needed);
    }
    const char own[] = " cl_arm_import_memory cl_arm_import_memory_dma_buf";
    const int32_t status = pocl(device, name, sizeof text - sizeof own, text, NULL);
    return status != OPKIT_CL_SUCCESS ? status : store(strcat(text, own), size, value, needed);
}

/* librknnrt's properties are those of a Mali's printf, which PoCL refuses. */
EXPORT opkit_cl_context clCreateContext(const intptr_t *properties, uint32_t count,
                                        const opkit_cl_device *devices,
                                        void (*notify)(const char *, const void *, size_t, void *),
                                        void *data, int32_t *status);
opkit_cl_context clCreateContext(const intptr_t *properties, uint32_t count,
                                 const opkit_cl_device *devices,
                                 void (*notify)(const char *, const void *, size_t, void *),
                                 void *data, int32_t *status)
{
    static opkit_cl_context (*pocl)(const intptr_t *, uint32_t, const opkit_cl_device *,
                                    void (*)(const char *, const void *, size_t, void *), void *,
                                    int32_t *);

    (void)properties;
    POCL(pocl, "clCreateContext");
    return pocl(NULL, count, devices, notify, data, status);
}

/* The kernels enqueued so far, for driver.c. */
extern unsigned opkit_launch_count;
EXPORT unsigned opkit_launch_count;

EXPORT int32_t clEnqueueNDRangeKernel(opkit_cl_queue queue, opkit_cl_kernel kernel, uint32_t rank,
                                      const size_t *offset, const size_t *global,
                                      const size_t *local, uint32_t count, const void *events,
                                      void *event);
int32_t clEnqueueNDRangeKernel(opkit_cl_queue queue, opkit_cl_kernel kernel, uint32_t rank,
                               const size_t *offset, const size_t *global, const size_t *local,
                               uint32_t count, const void *events, void *event)
{
    static int32_t (*pocl)(opkit_cl_queue, opkit_cl_kernel, uint32_t, const size_t *,
                           const size_t *, const size_t *, uint32_t, const void *, void *);

    POCL(pocl, "clEnqueueNDRangeKernel");
    const int32_t status = pocl(queue, kernel, rank, offset, global, local, count, events, event);
    opkit_launch_count += status == OPKIT_CL_SUCCESS;
    return status;
}

struct mapping {
    void *address;
    size_t size;
};

static void unmap(opkit_cl_buffer buffer, void *data)
{
    struct mapping *mapping = data;

    (void)buffer;
    munmap(mapping->address, mapping->size);
    free(mapping);
}

/* Maps the memory of a dma-buf; returns NULL if it cannot be mapped. */
static struct mapping *map(const intptr_t *properties, const int *file, size_t size)
{
    struct mapping *mapping = malloc(sizeof *mapping);
    struct stat found;

    if (mapping == NULL || size == 0 || fstat(*file, &found) != 0 ||
        (uint64_t)found.st_size < size || properties[0] != OPKIT_CL_IMPORT_TYPE_ARM ||
        properties[1] != OPKIT_CL_IMPORT_TYPE_DMA_BUF_ARM || properties[2] != 0) {
        free(mapping);
        return NULL;
    }
    mapping->size = size;
    mapping->address = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *file, 0);
    if (mapping->address == MAP_FAILED) {
        free(mapping);
        return NULL;
    }
    return mapping;
}

EXPORT opkit_cl_buffer clImportMemoryARM(opkit_cl_context context, uint64_t flags,
                                         const intptr_t *properties, void *memory, size_t size,
                                         int32_t *status);
opkit_cl_buffer clImportMemoryARM(opkit_cl_context context, uint64_t flags,
                                  const intptr_t *properties, void *memory, size_t size,
                                  int32_t *status)
{
    struct mapping *mapping = map(properties, memory, size);
    opkit_cl_buffer buffer = NULL;

    if (mapping == NULL) {
        *status = INVALID_VALUE;
        return NULL;
    }
    buffer = clCreateBuffer(context, flags | USE_MEMORY, size, mapping->address, status);
    if (buffer == NULL) {
        unmap(NULL, mapping);
    } else {
        clSetMemObjectDestructorCallback(buffer, unmap, mapping);
    }
    return buffer;
}
