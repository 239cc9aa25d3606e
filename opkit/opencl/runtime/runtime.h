/*
 * What runs a kernel, compiled for the PC by prelude/prelude.h, over all of its work items.
 *
 *     log.c           events and undefined behavior
 *     numbers.c       elements as numbers
 *     mathematics.c   functions that kernels call
 *     printing.c      printf
 *     shadow.c        the memory that a kernel may access
 *     copies.c        copies by a whole group
 *     groups.c        work items and barriers
 *
 * Each file calls only those above it.
 */
#ifndef OPKIT_OPENCL_RUNTIME_H
#define OPKIT_OPENCL_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../prelude/shared.h"
#include "opkit/check/harness/runtime.h"

#define __OPKIT_MAX_ARGUMENTS 128
#define __OPKIT_MAX_NAME 256

struct __opkit_launch {
    unsigned int dimensions;
    unsigned long global_size[3], global_scale[3], global_offset[3], local_size[3];
    bool reverse; /* the last work item first */
    bool has_barrier; /* the kernel has a barrier: the work items of a group are interleaved */
    uint8_t local_fill; /* the initial content of local memory */
    void (*begin_group)(void); /* called before the first work item of each group; or NULL */
};

/* The running work item, by numbers in the order of the launch. */
struct __opkit_progress {
    uint32_t item;
    uint32_t group;
    /* barriers that the group has passed, whose fence was for this memory */
    uint32_t local_phase, global_phase;
};

/* log.c: for the harness, and the library of the kernel. */
void __opkit_open_log(harness_record_f *record, const char *base, size_t size);
/* Counts an event; where the first of its kind happened is kept. `tensor` may be NULL. */
void __opkit_event(const char *kind, const char *tensor, int x, int y, int z, unsigned long count,
                   const void *address);
/* The same for one element of a buffer. */
void __opkit_buffer_event(const char *kind, const char *buffer, long element, const void *address);
/* Records the events, and clears them. */
void __opkit_report_events(void);
void __opkit_emit(const char *format, ...) __attribute__((format(printf, 1, 2)));
void __opkit_report_overrun(const char *access, size_t size, const char *what, const void *caller);
bool __opkit_in_library(const void *memory);
/* Ends the process: why the kernel cannot run. */
_Noreturn void __opkit_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* numbers.c */
int __opkit_size_of(int type);
double __opkit_load(const void *element, int type);
void __opkit_store(void *element, int type, long double value, int rounding, bool saturates);
double __opkit_lane(const struct __opkit_operand *operand, int lane); /* 0 beyond the value */
int __opkit_lane_count(const struct __opkit_operand *operand);

/* shadow.c */
extern unsigned char *__opkit_local_start; /* the memory of a group */
extern size_t __opkit_local_size;
bool __opkit_is_local(const void *memory);
/* Returns the name of the variable in local memory at an address, or NULL, and the offset in it. */
const char *__opkit_local_name(uintptr_t address, size_t *offset);
void __opkit_open_shadow(void);
/* Lets a kernel touch memory, whose guards have the name of an argument, or none. */
void __opkit_allow(const char *name, const void *memory, size_t size);
/* The same; accesses to so many bytes behind the memory are events, and take place. */
void __opkit_allow_padded(const char *name, const void *memory, size_t size, size_t padding);
void __opkit_allow_library(const void *start, size_t size);
/* Forbids the bytes behind a uniform that its alignment leaves free. */
void __opkit_guard_uniform(const char *name, const void *memory, size_t size);
/* Reports bytes that a kernel has the runtime touch, if it must not; `access` is a verb. */
void __opkit_check_access(const char *access, const void *memory, size_t size, const void *caller);
/*
 * Sees each access first, if it is set, and returns whether it has checked it. The kernel must then
 * be compiled with a call for each access.
 */
extern bool (*__opkit_observer)(const char *access, uintptr_t start, size_t size,
                                const void *caller);
/* Whether memory is such that a kernel may touch parts of it. */
bool __opkit_is_known(uintptr_t start, size_t size);
/* Allows all of known memory again. */
void __opkit_allow_again(const void *start, size_t size);
/* Returns the argument whose guard has an address, or NULL. */
const char *__opkit_describe_argument(uintptr_t address);
/*
 * Corrects a fault: its address is the kernel's memory, not the shadow's; its instruction is the
 * kernel's, or the call on the stack by which the kernel came to it.
 */
void __opkit_locate_fault(struct harness_fault *fault);

/* copies.c: logs an event if there are copies that no work item has waited for; forgets them. */
void __opkit_report_copies(void);

/* groups.c: runs the kernel for each work item. */
void __opkit_run(const struct __opkit_launch *launch, void (*kernel)(void **), void **arguments);
extern struct __opkit_progress __opkit_progress;
/* Ends the running work item. */
_Noreturn void __opkit_abandon(void);

#endif
