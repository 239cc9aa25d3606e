/* The memory of a dma-buf, for which a memfd stands: mapped, with the name that it was made by. */
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session.h"

/* A memfd has the name of its tensor. */
static void find_name(int descriptor, char *name)
{
    static const char PREFIX[] = "/memfd:";
    char link[64], path[256] = "";

    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    name[0] = '\0';
    if (readlink(link, path, sizeof path - 1) > 0 && strncmp(path, PREFIX, strlen(PREFIX)) == 0) {
        char *end = strstr(path, " (deleted)");
        snprintf(name, HARNESS_MAX_NAME, "%.*s",
                 (int)(end == NULL ? strlen(path) - strlen(PREFIX)
                                   : (size_t)(end - path) - strlen(PREFIX)),
                 path + strlen(PREFIX));
    }
}

int32_t map_import(const intptr_t *properties, const void *memory, size_t size,
                   struct import *import)
{
    bool is_dma_buf = false;
    struct stat status;
    int descriptor;

    for (; properties != NULL && *properties != 0; properties += 2) {
        if (*properties != OPKIT_CL_IMPORT_TYPE_ARM) {
            return CL_INVALID_PROPERTY;
        }
        is_dma_buf = properties[1] == OPKIT_CL_IMPORT_TYPE_DMA_BUF_ARM;
    }
    if (!is_dma_buf) {
        return CL_INVALID_PROPERTY; /* memory of the host: not used here */
    }
    if (memory == NULL || size == 0) {
        return CL_INVALID_VALUE;
    }
    memcpy(&descriptor, memory, sizeof descriptor);
    if (fstat(descriptor, &status) != 0 || (size_t)status.st_size < size) {
        return CL_INVALID_OPERATION;
    }
    import->mapped = size;
    import->memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (import->memory == MAP_FAILED) {
        return CL_INVALID_OPERATION;
    }
    find_name(descriptor, import->name);
    return CL_SUCCESS;
}

void unmap_import(const struct import *import)
{
    munmap(import->memory, import->mapped);
}
