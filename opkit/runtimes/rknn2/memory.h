/* Memory of a node, or of the calls of a node: blocks that are used in order, and kept. */
#ifndef OPKIT_MEMORY_H
#define OPKIT_MEMORY_H

#include <stddef.h>
#include <stdlib.h>

#include "../../compute/scratch.h"
#include "operator.h"

struct opkit_block {
    struct opkit_block *next;
    struct opkit_scratch scratch;
};

/* Initialize it with zeros. */
struct opkit_memory {
    struct opkit_memory *next; /* in a list of its owner */
    struct opkit_block *first;
    struct opkit_block *last_used; /* NULL: no block is in use */
};

/*
 * Returns memory that is valid until opkit_reuse or opkit_free, or NULL after a message if out of
 * memory.
 */
static inline void *opkit_allocate(const struct opkit_operator *op, struct opkit_memory *memory,
                                   size_t size)
{
    struct opkit_block **link =
        memory->last_used != NULL ? &memory->last_used->next : &memory->first;

    if (*link == NULL) {
        *link = (struct opkit_block *)calloc(1, sizeof **link);
    }
    void *bytes = *link != NULL ? opkit_reserve(&(*link)->scratch, size) : NULL;
    if (bytes == NULL) {
        opkit_fail(op, "not enough memory for %zu bytes", size);
        return NULL;
    }
    memory->last_used = *link;
    return bytes;
}

/* Makes all blocks available for other allocations, which need no malloc if they are as large. */
static inline void opkit_reuse(struct opkit_memory *memory)
{
    memory->last_used = NULL;
}

static inline void opkit_free(struct opkit_memory *memory)
{
    while (memory->first != NULL) {
        struct opkit_block *block = memory->first;
        memory->first = block->next;
        opkit_release_scratch(&block->scratch);
        free(block);
    }
    memory->last_used = NULL;
}

#endif
