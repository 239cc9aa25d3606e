/* libc's own allocator: the runtime's library exports other functions named malloc and free. */
#ifndef OPKIT_LIBC_MEMORY_H
#define OPKIT_LIBC_MEMORY_H

#include <stddef.h>
#include <stdlib.h>

#ifdef HARNESS_STATIC /* in an executable, malloc is libc's */
#define __libc_malloc malloc
#define __libc_calloc calloc
#define __libc_realloc realloc
#define __libc_memalign aligned_alloc
#define __libc_free free
#else
#ifdef __cplusplus
extern "C" {
#endif
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);
#ifdef __cplusplus
}
#endif
#endif

#endif
