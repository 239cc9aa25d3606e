/*
 * Memory between inaccessible pages, for runtimes: an access beside a kernel's tensors, or beside
 * what it gets from malloc, is a fault, which guarded_memory_explain names.
 *
 *     guarded_memory.c  the blocks
 *     guarded_values.c  the values of an invocation, each in such a block
 *     guarded_malloc.c  malloc, free and the like for the operator, which allocate such blocks
 *
 * The files are part of the runtime's library, or of the static program that has it linked in: a
 * process has them once. runtime.h shows what a runtime does to have its kernels guarded.
 *
 * An operator's library takes malloc and free from the runtime's if it is linked with that library
 * before any other, by its soname. The objects of a static program take them if they are compiled
 * with `-include opkit/check/harness/memory/guarded_malloc.h`. What a runtime allocates and keeps
 * while a stage is active it allocates by libc's names in libc_memory.h, or it would count as a
 * leak of the operator's; in C++, where new calls malloc, it does so before. What the operator
 * allocates for it, it frees with guarded_free.
 */
#ifndef OPKIT_GUARDED_MEMORY_H
#define OPKIT_GUARDED_MEMORY_H

#include "opkit/check/harness/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(hidden)

/* ---- The run of an operator ---- */

/*
 * Begins a run: from now on blocks are filled with `fill`, and `record` gets an "event" for each
 * write beside a block and each wrong free, a "leak" at the end. Only with `guard` malloc is
 * guarded.
 */
void guarded_memory_begin(bool guard, uint8_t fill, harness_record_f *record);
/* While a stage of the operator's is active, its malloc is guarded. */
void guarded_memory_set_active(bool active);
/* Whether malloc is guarded now. */
bool guarded_memory_is_guarding(void);
uint8_t guarded_memory_fill(void);
/* Whether the operator allocated this block and has freed it. */
bool guarded_memory_is_freed(const void *start);
/* Ends a run: records the leaks, and frees what the operator did not. */
void guarded_memory_end(void);
/* Says where an address is, if in or beside a block; as in struct harness_runtime. */
bool guarded_memory_explain(const void *address, char *text, size_t size);

/* ---- The runtime's blocks ---- */

/* Writes what a block is, for messages: "input 'x'". */
typedef void guarded_describe_f(const void *owner, char *text, size_t size);

/*
 * Returns memory that ends where an inaccessible page begins, or NULL. `describe` is called with
 * the owner when a message names the block, so both outlive it.
 */
void *guarded_block_new(guarded_describe_f *describe, const void *owner, size_t size);
/* The same, which is freed when the stage ends. */
void *guarded_block_new_for_stage(guarded_describe_f *describe, const void *owner, size_t size);
/* Checks and frees a block of guarded_block_new; NULL: nothing. */
void guarded_block_delete(void *start);

/*
 * Returns the invocation's values, in the same order: if it is guarded, with each value's bytes in
 * a block of its own, called "input 'x'", "output 'y'", "param 'p'"; else as they are. NULL: there
 * is no memory.
 */
struct harness_value *guarded_values_new(const struct harness_invocation *invocation);
/* Gives the outputs' bytes to the invocation, and frees the blocks. */
void guarded_values_delete(const struct harness_invocation *invocation,
                           struct harness_value *values);

/* ---- The operator's malloc ---- */

void *guarded_malloc(size_t size);
void *guarded_calloc(size_t count, size_t size);
void *guarded_realloc(void *memory, size_t size);
void guarded_free(void *memory);
void *guarded_aligned_alloc(size_t alignment, size_t size);
int guarded_posix_memalign(void **memory, size_t alignment, size_t size);

/* Between the files: new memory; an alignment of 0 is that of malloc here. */
void *guarded_memory_new(size_t size, size_t alignment);
/* Sets the bytes of a block; of a huge one those at its ends, what is between is untouched. */
void guarded_memory_set(uint8_t *start, uint8_t byte, size_t size);
/* NULL with errno 0: not allocated here. */
void *guarded_memory_resize(void *start, size_t size);
/* False: not allocated here. */
bool guarded_memory_free(void *start);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
