/*
 * Buffers. Imported memory is the host's, which the device uses; it stays until the end of the run,
 * since sub-buffers and commands may still use it after its release.
 */
#include "shim.h"

enum {
    MAX_BUFFERS = 1024,
    USE_HOST_PTR = 1 << 3,
    MAP_READ = 1 << 0,
    MAP_WRITE_INVALIDATE_REGION = 1 << 2
};

static struct {
    enum {
        FREE,
        ALIVE,
        RELEASED /* an import whose memory is still mapped */
    } state;
    opkit_cl_buffer buffer;
    enum object_kind kind;
    struct import import; /* of an import */
} buffers[MAX_BUFFERS];

static opkit_cl_buffer add(opkit_cl_buffer buffer, enum object_kind kind,
                           const struct import *import)
{
    for (int i = 0; buffer != NULL && i < MAX_BUFFERS; i++) {
        if (buffers[i].state == FREE) {
            buffers[i].state = ALIVE;
            buffers[i].buffer = buffer;
            buffers[i].kind = kind;
            if (import != NULL) {
                buffers[i].import = *import;
            }
            count_object(kind, 1);
            return buffer;
        }
    }
    return buffer;
}

opkit_cl_buffer clCreateBuffer(opkit_cl_context context, uint64_t flags, size_t size, void *memory,
                               int32_t *status)
{
    int32_t failure = injected_failure("clCreateBuffer");

    if (failure != CL_SUCCESS) {
        return failed(status, failure);
    }
    return add(real.CreateBuffer(context, flags, size, memory, status), BUFFER, NULL);
}

opkit_cl_buffer clCreateSubBuffer(opkit_cl_buffer buffer, uint64_t flags, uint32_t type,
                                  const void *region, int32_t *status)
{
    int32_t failure = injected_failure("clCreateSubBuffer");

    if (failure != CL_SUCCESS) {
        return failed(status, failure);
    }
    return add(real.CreateSubBuffer(buffer, flags, type, region, status), SUB_BUFFER, NULL);
}

opkit_cl_buffer clImportMemoryARM(opkit_cl_context context, uint64_t flags,
                                  const intptr_t *properties, void *memory, size_t size,
                                  int32_t *status)
{
    int32_t failure = injected_failure("clImportMemoryARM");
    opkit_cl_buffer buffer;
    struct import import;

    if (failure == CL_SUCCESS) {
        failure = map_import(properties, memory, size, &import);
    }
    if (failure != CL_SUCCESS) {
        return failed(status, failure);
    }
    buffer = real.CreateBuffer(context, flags | USE_HOST_PTR, size, import.memory, status);
    if (buffer == NULL) {
        unmap_import(&import);
    }
    return add(buffer, IMPORT, &import);
}

int32_t clReleaseMemObject(opkit_cl_buffer buffer)
{
    for (int i = 0; i < MAX_BUFFERS; i++) {
        if (buffers[i].state == ALIVE && buffers[i].buffer == buffer) {
            count_object(buffers[i].kind, -1);
            buffers[i].state = buffers[i].kind == IMPORT ? RELEASED : FREE;
            return real.ReleaseMemObject(buffer);
        }
    }
    return CL_INVALID_MEM_OBJECT;
}

void unmap_released(void)
{
    for (int i = 0; i < MAX_BUFFERS; i++) {
        if (buffers[i].state == RELEASED) {
            unmap_import(&buffers[i].import);
            buffers[i].state = FREE;
        }
    }
}

/* What a device may keep of the host's memory, OpenCL says for map and unmap only. */
static void synchronize(opkit_cl_queue queue, uint64_t flags)
{
    for (int i = 0; i < MAX_BUFFERS; i++) {
        int32_t status = CL_SUCCESS;
        void *mapped;

        if (buffers[i].state != ALIVE || buffers[i].kind != IMPORT) {
            continue;
        }
        mapped = map_buffer(queue, buffers[i].buffer, 1, flags, 0, buffers[i].import.mapped, 0,
                            NULL, NULL, &status);
        if (status == CL_SUCCESS) {
            unmap_object(queue, buffers[i].buffer, mapped, 0, NULL, NULL);
        }
    }
}

void send_imports(opkit_cl_queue queue)
{
    synchronize(queue, MAP_WRITE_INVALIDATE_REGION);
}

void fetch_imports(opkit_cl_queue queue)
{
    synchronize(queue, MAP_READ);
}
