/*
 * The program that runs one VX kernel, compiled for the PC by prelude/prelude.h, over all of its
 * work items.
 *
 *     main.c          reads the job from its input, launches, reports on its output
 *     groups.c        work items and barriers
 *     copies.c        copies by a whole group
 *     shadow.c        which memory a kernel may touch
 *     accesses.c      reads and writes of tensors that the prelude does not inline
 *     numbers.c       elements as numbers
 *     instructions.c  dot products and what else works on registers
 *     mathematics.c   functions that kernels call
 *     printing.c      printf
 *     log.c           events, faults, undefined behavior
 */
#ifndef OPKIT_VX_RUNTIME_H
#define OPKIT_VX_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../prelude/shared.h"

#define __OPKIT_MAX_ARGUMENTS 128
#define __OPKIT_MAX_NAME 256

/* What a read finds outside of a tensor. */
enum __opkit_border {
    __OPKIT_BORDER_BITS, /* __opkit_fill, a pattern */
    __OPKIT_BORDER_EDGE, /* the nearest element */
    __OPKIT_BORDER_CONSTANT /* __opkit_constant, a number */
};

struct __opkit_launch {
    unsigned int dimensions;
    unsigned long global_size[3], global_scale[3], global_offset[3], local_size[3];
    bool reverse; /* the last work item first */
    bool barrier; /* the kernel has a barrier: the work items of a group are interleaved */
};

struct __opkit_tensor {
    char name[__OPKIT_MAX_NAME];
    struct __opkit_image image;
    size_t offset; /* in the file that is shared */
};

extern struct __opkit_tensor __opkit_tensors[__OPKIT_MAX_ARGUMENTS];
extern enum __opkit_border __opkit_border;
extern uint32_t __opkit_fill;
extern double __opkit_constant;
extern unsigned char *__opkit_local_start; /* the memory of a group */
extern size_t __opkit_local_size;

/* groups.c: lets a work item wait for its group at a barrier, which is told by its place. */
void __opkit_wait(unsigned place, const void *caller);

/* groups.c: runs the kernel for each work item. */
void __opkit_run(const struct __opkit_launch *launch, void (*kernel)(void **), void **arguments);

/* copies.c: whether memory is that of a group. */
bool __opkit_is_local(const void *memory);

/* copies.c: logs an event if there are copies that no work item has waited for. */
void __opkit_report_copies(void);

/* numbers.c */
int __opkit_size_of(int type);
double __opkit_load(const void *element, int type);
void __opkit_store(void *element, int type, long double value, int rounding, bool saturates);
double __opkit_lane(const struct __opkit_operand *operand, int lane); /* 0 beyond the value */
int __opkit_lane_count(const struct __opkit_operand *operand);

/* shadow.c: before a library is loaded. */
void __opkit_open_shadow(void);
/* Lets a kernel touch memory, whose guards have the name of an argument, or none. */
void __opkit_allow(const char *name, const void *memory, size_t size);
void __opkit_allow_library(const void *start, size_t size);
/* Forbids what a uniform's alignment leaves free behind it. */
void __opkit_guard_uniform(const char *name, const void *memory, size_t size);
/* Reports bytes that a kernel has the runtime touch, if it must not; `access` is a verb. */
void __opkit_check_access(const char *access, const void *memory, size_t size, const void *caller);
/* The memory that an address of the shadow stands for, or the address itself. */
uintptr_t __opkit_guarded_address(uintptr_t address);
/* Of which argument an address is a guard, or NULL. */
const char *__opkit_describe_argument(uintptr_t address);

/* log.c */
void __opkit_log_open(void);
void __opkit_set_library(const char *base, size_t size);
void __opkit_catch_faults(double seconds);
void __opkit_event(const char *kind, int tensor, int x, int y, int z, unsigned long count,
                   const void *address);
void __opkit_report_events(void);
void __opkit_report_overrun(const char *access, size_t size, const char *what, const void *caller);
_Noreturn void __opkit_fault(uintptr_t address, const void *caller);
bool __opkit_in_library(const void *memory);
void __opkit_emit(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void __opkit_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
