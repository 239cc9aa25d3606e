/* Buffers, sub-buffers, and buffers on imported memory. */
#include "emulator.h"

enum {
    READ_WRITE = 1 << 0,
    WRITE_ONLY = 1 << 1,
    READ_ONLY = 1 << 2,
    USE_HOST_PTR = 1 << 3,
    ALLOC_HOST_PTR = 1 << 4,
    COPY_HOST_PTR = 1 << 5,
    ACCESS = READ_WRITE | WRITE_ONLY | READ_ONLY,
    HOST_PTR = USE_HOST_PTR | ALLOC_HOST_PTR | COPY_HOST_PTR,
    HOST_ACCESS = 7 << 7 /* hints about the host's accesses */
};

struct object *root_of(struct object *buffer)
{
    return buffer->buffer.parent != NULL ? buffer->buffer.parent : buffer;
}

static void free_details_of(struct object *object)
{
    struct buffer *buffer = &object->buffer;

    if (buffer->parent != NULL) {
        return;
    }
    if (buffer->is_import) {
        unmap_import(&buffer->import);
    } else if ((buffer->flags & USE_HOST_PTR) == 0) {
        free(buffer->memory);
    }
    free(buffer->defined);
}

/* Flags of accesses exclude each other; without one a kernel reads and writes. */
static bool are_valid(uint64_t flags)
{
    uint64_t access = flags & ACCESS;
    uint64_t both = USE_HOST_PTR | ALLOC_HOST_PTR;

    return (flags & ~(uint64_t)(ACCESS | HOST_PTR | HOST_ACCESS)) == 0 &&
           (access & (access - 1)) == 0 && (flags & both) != both &&
           (flags & (USE_HOST_PTR | COPY_HOST_PTR)) != (USE_HOST_PTR | COPY_HOST_PTR);
}

opkit_cl_buffer clCreateBuffer(opkit_cl_context context, uint64_t flags, size_t size, void *memory,
                               int32_t *status)
{
    int32_t failure = injected_failure("clCreateBuffer");
    struct object *owner = find_object(context, CONTEXT), *object;
    const char *fill = attachment("opencl:fill");
    struct buffer *buffer;

    if (failure != CL_SUCCESS) {
        return failed(status, failure);
    }
    if (owner == NULL) {
        return failed(status, CL_INVALID_CONTEXT);
    }
    if (!are_valid(flags)) {
        return failed(status, CL_INVALID_VALUE);
    }
    if (size == 0) {
        return failed(status, CL_INVALID_BUFFER_SIZE);
    }
    if ((memory != NULL) != ((flags & (USE_HOST_PTR | COPY_HOST_PTR)) != 0)) {
        return failed(status, CL_INVALID_HOST_PTR);
    }
    object = new_object(BUFFER, owner);
    if (object == NULL) {
        return failed(status, CL_OUT_OF_HOST_MEMORY);
    }
    buffer = &object->buffer;
    buffer->flags = flags;
    buffer->size = size;
    buffer->memory = (flags & USE_HOST_PTR) != 0 ? memory : malloc(size);
    buffer->defined = calloc(size, 1);
    if (buffer->memory == NULL || buffer->defined == NULL) {
        release_object(object, CL_SUCCESS);
        return failed(status, CL_MEM_OBJECT_ALLOCATION_FAILURE);
    }
    if (memory != NULL) {
        memmove(buffer->memory, memory, size);
        memset(buffer->defined, 1, size);
    } else {
        memset(buffer->memory, fill == NULL ? 0xff : atoi(fill), size);
    }
    succeeded(status);
    return handle_of(object);
}

opkit_cl_buffer clCreateSubBuffer(opkit_cl_buffer handle, uint64_t flags, uint32_t type,
                                  const void *information, int32_t *status)
{
    int32_t failure = injected_failure("clCreateSubBuffer");
    struct object *parent = find_buffer(handle), *object;
    struct opkit_cl_region region;

    if (failure != CL_SUCCESS) {
        return failed(status, failure);
    }
    if (parent == NULL || parent->kind == SUB_BUFFER) {
        return failed(status, CL_INVALID_MEM_OBJECT);
    }
    if (!are_valid(flags) || (flags & HOST_PTR) != 0 ||
        type != OPKIT_CL_BUFFER_CREATE_TYPE_REGION || information == NULL) {
        return failed(status, CL_INVALID_VALUE);
    }
    memcpy(&region, information, sizeof region);
    if (region.size == 0) {
        return failed(status, CL_INVALID_BUFFER_SIZE);
    }
    if (region.origin > parent->buffer.size || region.size > parent->buffer.size - region.origin) {
        return failed(status, CL_INVALID_VALUE);
    }
    if (region.origin % BASE_ALIGNMENT != 0) {
        return failed(status, CL_MISALIGNED_SUB_BUFFER_OFFSET);
    }
    object = new_object(SUB_BUFFER, parent);
    if (object == NULL) {
        return failed(status, CL_OUT_OF_HOST_MEMORY);
    }
    object->buffer = parent->buffer;
    object->buffer.parent = parent;
    object->buffer.origin = region.origin;
    object->buffer.size = region.size;
    if ((flags & ACCESS) != 0) {
        object->buffer.flags = flags;
    }
    succeeded(status);
    return handle_of(object);
}

opkit_cl_buffer clImportMemoryARM(opkit_cl_context context, uint64_t flags,
                                  const intptr_t *properties, void *memory, size_t size,
                                  int32_t *status)
{
    int32_t failure = injected_failure("clImportMemoryARM");
    struct object *owner = find_object(context, CONTEXT), *object;
    struct import import;

    if (failure != CL_SUCCESS) {
        return failed(status, failure);
    }
    if (owner == NULL) {
        return failed(status, CL_INVALID_CONTEXT);
    }
    if (!are_valid(flags) || (flags & (ALLOC_HOST_PTR | COPY_HOST_PTR)) != 0) {
        return failed(status, CL_INVALID_VALUE);
    }
    failure = map_import(properties, memory, size, &import);
    if (failure != CL_SUCCESS) {
        return failed(status, failure);
    }
    object = new_object(IMPORT, owner);
    if (object == NULL) {
        unmap_import(&import);
        return failed(status, CL_OUT_OF_HOST_MEMORY);
    }
    /* Its bytes are the runtime's, which has set them. */
    object->buffer = (struct buffer){
        .size = size, .flags = flags, .memory = import.memory, .is_import = true, .import = import};
    succeeded(status);
    return handle_of(object);
}

void *clGetExtensionFunctionAddressForPlatform(opkit_cl_platform platform, const char *name)
{
    opkit_cl_buffer (*import)(opkit_cl_context, uint64_t, const intptr_t *, void *, size_t,
                              int32_t *) = clImportMemoryARM;
    void *address;

    if (!is_platform(platform) || name == NULL || strcmp(name, "clImportMemoryARM") != 0 ||
        strstr(session.extensions, "cl_arm_import_memory") == NULL ||
        injected_failure("clGetExtensionFunctionAddressForPlatform") != CL_SUCCESS) {
        return NULL;
    }
    memcpy(&address, &import, sizeof address);
    return address;
}

int32_t clReleaseMemObject(opkit_cl_buffer buffer)
{
    return release_object(find_buffer(buffer), CL_INVALID_MEM_OBJECT);
}

__attribute__((constructor)) static void register_details(void)
{
    free_details[BUFFER] = free_details[SUB_BUFFER] = free_details[IMPORT] = free_details_of;
}
