/*
 * malloc, free and related functions for the operator.
 *
 * The runtime's library is the first dependency of an operator's library. Loaded with
 * RTLD_DEEPBIND, the operator calls these functions; the rest of the process calls libc's. In a
 * static program the operator's objects call them by the names in guarded_malloc.h.
 */
#include <errno.h>
#include <stdint.h>

#include "guarded_memory.h"
#include "libc_memory.h"

void *guarded_malloc(size_t size)
{
    return guarded_memory_is_guarding() ? guarded_memory_new(size, 0) : __libc_malloc(size);
}

void *guarded_calloc(size_t count, size_t size)
{
    if (!guarded_memory_is_guarding()) {
        return __libc_calloc(count, size);
    }
    if (size != 0 && count > SIZE_MAX / size) {
        errno = ENOMEM;
        return NULL;
    }
    void *memory = guarded_memory_new(count * size, 0);
    if (memory != NULL) {
        guarded_memory_set(memory, 0, count * size);
    }
    return memory;
}

void guarded_free(void *memory)
{
    if (memory != NULL && !guarded_memory_free(memory)) {
        __libc_free(memory);
    }
}

void *guarded_realloc(void *memory, size_t size)
{
    if (memory == NULL) {
        return guarded_malloc(size);
    }
    void *moved = guarded_memory_resize(memory, size);
    return moved == NULL && errno == 0 ? __libc_realloc(memory, size) : moved;
}

void *guarded_aligned_alloc(size_t alignment, size_t size)
{
    void *memory = guarded_memory_is_guarding() ? guarded_memory_new(size, alignment) : NULL;
    return memory != NULL ? memory : __libc_memalign(alignment, size);
}

int guarded_posix_memalign(void **memory, size_t alignment, size_t size)
{
    if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0) {
        return EINVAL;
    }
    *memory = guarded_aligned_alloc(alignment, size);
    return *memory != NULL ? 0 : ENOMEM;
}

#ifndef HARNESS_STATIC
#define EXPORTED_ALIAS_OF(function) __attribute__((visibility("default"), alias(#function)))
EXPORTED_ALIAS_OF(guarded_malloc) void *malloc(size_t size);
EXPORTED_ALIAS_OF(guarded_calloc) void *calloc(size_t count, size_t size);
EXPORTED_ALIAS_OF(guarded_free) void free(void *memory);
EXPORTED_ALIAS_OF(guarded_realloc) void *realloc(void *memory, size_t size);
EXPORTED_ALIAS_OF(guarded_aligned_alloc) void *aligned_alloc(size_t alignment, size_t size);
EXPORTED_ALIAS_OF(guarded_aligned_alloc) void *memalign(size_t alignment, size_t size);
EXPORTED_ALIAS_OF(guarded_posix_memalign)
int posix_memalign(void **memory, size_t alignment, size_t size);
#endif
