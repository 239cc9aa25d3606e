/*
 * The program that runs one VX kernel, compiled for the PC by prelude/prelude.h, over all of its work items.
 *
 *     main.c          reads the job from its input, launches, reports on its output
 *     groups.c        work items and barriers
 *     copies.c        copies by a whole group
 *     accesses.c      reads and writes of tensors that are not plain
 *     numbers.c       elements as numbers
 *     instructions.c  dot products and what else works on registers
 *     mathematics.c   functions that kernels call
 *     printing.c      printf
 *     journal.c       events, faults, undefined behaviour
 */
#ifndef OPKIT_VX_RUNTIME_H
#define OPKIT_VX_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../prelude/shared.h"

#define VX_MAX_ARGUMENTS 128
#define VX_MAX_NAME 256

/* What a read finds outside of a tensor. */
enum vx_border {
    VX_BORDER_BITS,    /* vx_fill, a pattern */
    VX_BORDER_EDGE,    /* the nearest element */
    VX_BORDER_CONSTANT /* vx_constant, a number */
};

struct vx_launch {
    unsigned int dimensions;
    unsigned long global_size[3], global_scale[3], global_offset[3], local_size[3];
    bool reverse; /* the last work item first */
    bool barrier; /* the kernel has one: the work items of a group take turns */
};

struct vx_tensor {
    char name[VX_MAX_NAME];
    struct vx_image image;
    size_t offset; /* in the file that is shared */
};

extern struct vx_work_item vx_item;
extern struct vx_tensor vx_tensors[VX_MAX_ARGUMENTS];
extern enum vx_border vx_border;
extern uint32_t vx_fill;
extern double vx_constant;
extern const unsigned char *vx_local_start; /* the memory of a group */
extern size_t vx_local_size;

/* groups.c: runs the kernel for each work item; where local memory lies, if there is any. */
void vx_run(const struct vx_launch *launch, void (*kernel)(void **), void **arguments, unsigned char *local, size_t local_size);
void vx_barrier(void);

/* copies.c: an event if there are copies that nobody waited for. */
void vx_report_copies(void);

/* numbers.c */
int vx_size_of(int type);
double vx_get(const void *element, int type);
void vx_set(void *element, int type, double value, int rounding, bool saturates);
double vx_lane(const struct vx_operand *operand, int lane); /* 0 beyond the value */
int vx_lane_count(const struct vx_operand *operand);

/* journal.c */
void vx_journal_open(void);
void vx_watch(const char *library_base, size_t library_size, double seconds);
void vx_event(const char *kind, int tensor, int x, int y, int z, unsigned long count, const void *address);
void vx_report_events(void);
void vx_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void vx_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
