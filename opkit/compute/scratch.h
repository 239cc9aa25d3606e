/*
 * Memory that stays allocated between calls of a kernel.
 *
 * A block from malloc of some hundred kilobytes or more returns to the system when it is freed, and
 * every page of the next one is cleared by the system at its first access. For large tensors that
 * takes longer than the math.
 *
 * Plain C11 and C++11.
 */
#ifndef OPKIT_SCRATCH_H
#define OPKIT_SCRATCH_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Initialize it with zeros. Only one call may use it at a time. */
struct opkit_scratch {
    void *memory; /* as malloc returned it */
    size_t size; /* bytes that opkit_reserve can return without allocation */
};

/* Frees the memory. The scratch can be used again. */
static inline void opkit_release_scratch(struct opkit_scratch *scratch)
{
    free(scratch->memory);
    scratch->memory = NULL;
    scratch->size = 0;
}

/*
 * Returns memory of `size` bytes, at the start of a cache line (a multiple of 64; not in checks),
 * or NULL if out of memory. The content is undefined. The memory is valid until the next call, or
 * until opkit_release_scratch; it grows, and never shrinks.
 */
static inline void *opkit_reserve(struct opkit_scratch *scratch, size_t size)
{
#if defined(OPKIT_GUARDED)
    /* In checks: new memory, without stale values, and with nothing past its last byte. */
    const size_t padding = 0;
    const int is_large_enough = 0;
#else
    const size_t padding = 63; /* up to the next cache line */
    const int is_large_enough = scratch->memory != NULL && size <= scratch->size;
#endif

    if (!is_large_enough) {
        opkit_release_scratch(scratch); /* first, so that both blocks never exist at once */
        if (size <= SIZE_MAX - padding) {
            scratch->memory = malloc(size + padding);
        }
        if (scratch->memory == NULL) {
            return NULL;
        }
        scratch->size = size;
    }
    return (char *)scratch->memory + (-(uintptr_t)scratch->memory & padding);
}

#endif
