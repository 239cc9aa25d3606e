/* Arena: memory blocks of a node or of a call, freed together. */
#ifndef OPKIT_MEMORY_H
#define OPKIT_MEMORY_H

#include <stddef.h>
#include <stdlib.h>

#include "operator.h"

struct opkit_block {
    struct opkit_block *next;
    max_align_t data[];
};

/* Initialize it with NULL. */
typedef struct opkit_block *opkit_memory;

/* Returns a new block, or NULL after a message if out of memory. */
static inline void *opkit_allocate(const struct opkit_operator *op, opkit_memory *memory,
                                   size_t size)
{
    struct opkit_block *block = (struct opkit_block *)malloc(sizeof *block + size);

    if (block == NULL) {
        opkit_fail(op, "not enough memory for %zu bytes", size);
        return NULL;
    }
    block->next = *memory;
    *memory = block;
    return block->data;
}

static inline void opkit_free(opkit_memory *memory)
{
    while (*memory != NULL) {
        struct opkit_block *block = *memory;
        *memory = block->next;
        free(block);
    }
}

#endif
