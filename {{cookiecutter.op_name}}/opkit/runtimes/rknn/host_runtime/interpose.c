/*
 * malloc, free and the like, as the operator calls them.
 *
 * An operator's library names this runtime first among the libraries that it needs; loaded with
 * RTLD_DEEPBIND it therefore takes these functions, while Python and everything else in the process
 * keeps libc's. In a static executable the kernel is compiled with -Dmalloc=hostrt_malloc and so
 * on.
 */
#include <errno.h>
#include <stdint.h>

#include "hostrt.h"
#include "libc.h"

VX_API_ENTRY void *hostrt_malloc(size_t size)
{
    return hostrt_memory_guards() ? hostrt_memory_new(size, 0) : __libc_malloc(size);
}

VX_API_ENTRY void *hostrt_calloc(size_t count, size_t size)
{
    if (!hostrt_memory_guards()) {
        return __libc_calloc(count, size);
    }
    if (size != 0 && count > SIZE_MAX / size) {
        errno = ENOMEM;
        return NULL;
    }
    void *memory = hostrt_memory_new(count * size, 0);
    if (memory != NULL) {
        memset(memory, 0, count * size);
    }
    return memory;
}

VX_API_ENTRY void hostrt_free(void *memory)
{
    if (memory != NULL && !hostrt_memory_free(memory)) {
        __libc_free(memory);
    }
}

VX_API_ENTRY void *hostrt_realloc(void *memory, size_t size)
{
    if (memory == NULL) {
        return hostrt_malloc(size);
    }
    void *moved = hostrt_memory_resize(memory, size);
    return moved == NULL && errno == 0 ? __libc_realloc(memory, size) : moved;
}

VX_API_ENTRY void *hostrt_aligned_alloc(size_t alignment, size_t size)
{
    void *memory = hostrt_memory_guards() ? hostrt_memory_new(size, alignment) : NULL;
    return memory != NULL ? memory : __libc_memalign(alignment, size);
}

VX_API_ENTRY int hostrt_posix_memalign(void **memory, size_t alignment, size_t size)
{
    if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0) {
        return EINVAL;
    }
    *memory = hostrt_aligned_alloc(alignment, size);
    return *memory != NULL ? 0 : ENOMEM;
}

#ifndef HOSTRT_STATIC
#define ALIAS_OF(function) __attribute__((alias(#function)))
VX_API_ENTRY void *malloc(size_t size) ALIAS_OF(hostrt_malloc);
VX_API_ENTRY void *calloc(size_t count, size_t size) ALIAS_OF(hostrt_calloc);
VX_API_ENTRY void free(void *memory) ALIAS_OF(hostrt_free);
VX_API_ENTRY void *realloc(void *memory, size_t size) ALIAS_OF(hostrt_realloc);
VX_API_ENTRY void *aligned_alloc(size_t alignment, size_t size) ALIAS_OF(hostrt_aligned_alloc);
VX_API_ENTRY void *memalign(size_t alignment, size_t size) ALIAS_OF(hostrt_aligned_alloc);
VX_API_ENTRY int posix_memalign(void **memory, size_t alignment, size_t size)
    ALIAS_OF(hostrt_posix_memalign);
#endif
