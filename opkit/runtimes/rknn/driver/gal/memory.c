/* Memory of the NPU, which is the PC's, and of the driver. */
#define _POSIX_C_SOURCE 200809L /* posix_memalign */
#include "gal.h"

#include <stdlib.h>
#include <string.h>

enum {
    ALIGNMENT = 64,
    PADDING = 4096, /* the NPU reads and writes whole lines */
    FIRST_ADDRESS = 0x10000
};

/* A node of memory: the driver writes into the first part, of unknown layout. */
struct node {
    uint8_t fields[1024];
    void *memory;
};

static enum gal_status allocate(size_t size, void **logical, uint32_t *physical, void **node)
{
    static uint32_t next_address = FIRST_ADDRESS;
    const size_t padded = (size + PADDING) / ALIGNMENT * ALIGNMENT;
    struct node *new_node = calloc(1, sizeof *new_node);

    if (new_node == NULL || posix_memalign(&new_node->memory, ALIGNMENT, padded) != 0) {
        free(new_node);
        return GAL_NO_MEMORY;
    }
    memset(new_node->memory, 0, padded);
    if (logical != NULL) {
        *logical = new_node->memory;
    }
    if (physical != NULL) {
        *physical = next_address;
        next_address += (uint32_t)padded;
    }
    if (node != NULL) {
        *node = new_node;
    }
    return GAL_OK;
}

enum gal_status gcoVX_AllocateMemory(uint32_t size, void **logical, uint32_t *physical, void **node)
{
    return allocate(size, logical, physical, node);
}

enum gal_status gcoVX_AllocateMemoryEx(const uint32_t *size, uint32_t type, uint32_t pool,
                                       uint32_t alignment, uint32_t *physical, void **logical,
                                       void **node)
{
    (void)type;
    (void)pool;
    (void)alignment;
    return allocate(*size, logical, physical, node);
}

enum gal_status gcoVX_AllocateMemoryExAddAllocflag(const uint32_t *size, uint32_t type,
                                                   uint32_t alignment, uint32_t flag,
                                                   uint32_t *physical, void **logical,
                                                   uint32_t *cpu_address, void **node)
{
    (void)type;
    (void)alignment;
    (void)flag;
    if (cpu_address != NULL) {
        *cpu_address = 0;
    }
    return allocate(*size, logical, physical, node);
}

enum gal_status gcoVX_FreeMemory(void *node)
{
    struct node *old_node = node;

    if (old_node != NULL) {
        free(old_node->memory);
        free(old_node);
    }
    return GAL_OK;
}

enum gal_status gcoVX_FreeMemoryEx(void *node, uint32_t type)
{
    (void)type;
    return gcoVX_FreeMemory(node);
}

enum gal_status gcoOS_Allocate(void *os, size_t size, void **memory)
{
    (void)os;
    *memory = calloc(1, size > 0 ? size : 1);
    return *memory != NULL ? GAL_OK : GAL_NO_MEMORY;
}

enum gal_status gcoOS_Free(void *os, void *memory)
{
    (void)os;
    free(memory);
    return GAL_OK;
}

enum gal_status gcoOS_AllocateMemory(void *os, size_t size, void **memory)
{
    return gcoOS_Allocate(os, size, memory);
}

enum gal_status gcoOS_FreeMemory(void *os, void *memory)
{
    return gcoOS_Free(os, memory);
}
