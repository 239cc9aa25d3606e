/*
 * Memory between inaccessible pages, for runtimes: an access outside of a kernel's tensors, or of
 * its memory from malloc, is a fault, which guarded_memory_explain describes.
 *
 *     guarded_memory.c  the blocks
 *     guarded_values.c  the values of an invocation, each in such a block
 *     guarded_malloc.c  malloc, free and related functions for the operator, on such blocks
 *     libc_calls.c      calls that read files, the environment, ... of this PC
 *     undefined.c       undefined behavior, which an instrumented kernel reports
 *     checked_loops.c   loops in several threads, which an instrumented kernel runs
 *     races.c           data races in these loops
 *
 * The files are part of the runtime's library, or of the static program with the runtime: a process
 * has them once. runtime.h has the calls by which a runtime guards its kernels.
 *
 * An operator's library uses malloc and free of the runtime's library if that is its first
 * dependency, by its soname. The objects of a static program use them if compiled with
 * `-include opkit/check/harness/memory/guarded_malloc.h`. While a stage is active, a runtime
 * allocates its own memory by libc's names in libc_memory.h, or the memory counts as a leak of the
 * operator; a runtime in C++, where new calls malloc, allocates before the stage. It frees memory
 * from the operator with guarded_free.
 */
#ifndef OPKIT_GUARDED_MEMORY_H
#define OPKIT_GUARDED_MEMORY_H

#include <stdarg.h>
#include <stdio.h>
#include <sys/types.h>

#include "opkit/check/harness/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(hidden)

/* ---- The run of an operator ---- */

/*
 * Begins a run: new blocks hold the invocation's fill, and `record` gets an "event" for each write
 * beside a block and each invalid free, and "heap" and "leak" at the end. malloc is guarded only in
 * a guarded invocation. Runs of the same process may overlap: the leaks are those after the last
 * end.
 */
void guarded_memory_begin(const struct harness_invocation *invocation, harness_record_f *record);
/* Begins or ends a stage of the operator, in which its malloc is guarded. */
void guarded_memory_set_active(bool active);
/* Whether malloc is guarded now. */
bool guarded_memory_is_guarding(void);
/* The number of the active stage, 1, 2, ... in the process; 0: none is active. */
unsigned guarded_memory_stage(void);
uint8_t guarded_memory_fill(void);
/* Whether the operator allocated this block and has freed it. */
bool guarded_memory_is_freed(const void *start);
/* Ends a run: records the leaks, and frees them. */
void guarded_memory_end(void);
/* Describes an address in or beside a block; else returns false. See struct harness_runtime. */
bool guarded_memory_explain(const void *address, char *text, size_t size);

/* ---- The runtime's blocks ---- */

/* Writes the name of a block for messages: "input 'x'". */
typedef void guarded_describe_f(const void *owner, char *text, size_t size);

/*
 * Returns memory beside an inaccessible page: behind it, or before it (see struct
 * harness_invocation). NULL if out of memory. Messages about the block call `describe` with the
 * owner, so both must outlive the block.
 */
void *guarded_block_new(guarded_describe_f *describe, const void *owner, size_t size);
/* The same, but the end of the stage frees the block. */
void *guarded_block_new_for_stage(guarded_describe_f *describe, const void *owner, size_t size);
/* Makes a block of an input read-only; does nothing for other addresses. */
void guarded_block_protect(void *start);
/* Checks and frees a block of guarded_block_new; NULL: nothing. */
void guarded_block_delete(void *start);

/*
 * Returns the invocation's values, in the same order, or NULL if out of memory. In a guarded
 * invocation each value's bytes are in their own block, named "input 'x'", "output 'y'", "param
 * 'p'", and only those of outputs are writable; else the values are unchanged.
 */
struct harness_value *guarded_values_new(const struct harness_invocation *invocation);
/* Copies the outputs' bytes to the invocation, records changed inputs, and frees the blocks. */
void guarded_values_delete(const struct harness_invocation *invocation,
                           struct harness_value *values);

/* ---- The operator's malloc ---- */

void *guarded_malloc(size_t size);
void *guarded_calloc(size_t count, size_t size);
void *guarded_realloc(void *memory, size_t size);
void guarded_free(void *memory);
void *guarded_aligned_alloc(size_t alignment, size_t size);
int guarded_posix_memalign(void **memory, size_t alignment, size_t size);
char *guarded_strdup(const char *text);
char *guarded_strndup(const char *text, size_t size);
ssize_t guarded_getline(char **line, size_t *size, FILE *stream);
ssize_t guarded_getdelim(char **line, size_t *size, int delimiter, FILE *stream);
int guarded_vasprintf(char **text, const char *format, va_list arguments);
int guarded_asprintf(char **text, const char *format, ...);

/*
 * Internal: returns new memory; an alignment of 0 means the natural one of the size. `caller` is
 * the operator's return address.
 */
void *guarded_memory_new(size_t size, size_t alignment, const void *caller);
/* Sets the bytes of a block; of a huge block only those at its ends. */
void guarded_memory_set(uint8_t *start, uint8_t byte, size_t size);
/* Returns NULL with errno 0 for a pointer that guarded_memory_new did not return. */
void *guarded_memory_resize(void *start, size_t size, const void *caller);
/* Returns false for a pointer outside of all blocks. */
bool guarded_memory_free(void *start, const void *caller);
/* Returns the start of the block around an address, or 0 outside of all blocks. */
uintptr_t guarded_memory_start(uintptr_t address);
/* Records an event or a leak; `caller` as above, or NULL. */
void guarded_memory_record(const char *kind, const void *caller, const char *text);
/* Sets the count of threads of an invocation's loops. */
void checked_loops_begin(unsigned threads);
/* Returns whether a loop since checked_loops_begin had parts in several threads. */
bool checked_loops_divided(void);
/* The second of two accesses to the same byte by the parts of a loop, of which one is a store. */
struct race {
    const void *address; /* NULL: no race */
    const void *caller; /* the return address in the operator */
    bool is_store;
};
/* Begins an invocation, and a loop, of whose accesses none is recorded yet. */
void races_begin(void);
void races_begin_loop(void);
/* Returns and forgets the first race since races_begin. */
struct race races_take(void);
/* Records the accesses of this thread from now on, as those of thread 1 or 2; 0: no more. */
void races_set_thread(unsigned thread);
/* Forgets the accesses so far: their addresses may become those of another block. */
void races_forget(void);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
