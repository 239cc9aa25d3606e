/*
 * The harness: runs one kernel on arrays from stdin, until stdin ends. Each request is a batch of
 * invocations for one process, in most cases a single one.
 *
 *     memory/          guarded memory, for the runtimes
 *     protocol.c       requests, records, answers; client.py is the other side
 *     process_state.c  finds a kernel's changes to its process
 *     stack.c          limits and measures the kernel's stack
 *     faults.c         explains signals
 *     invocation.c     runs in the process of a batch
 *     supervisor.c     supervises that process: its limits, its output, its end
 *     main.c           loads the runtime, serves requests
 *
 * Each file calls only those above it.
 *
 * On this PC it is a program that loads the runtime and the kernel's library:
 *
 *     harness RUNTIME LIBRARY SYMBOL
 *
 * In a static program both are linked with it, and HARNESS_ENTRY is the symbol.
 */
#ifndef OPKIT_HARNESS_H
#define OPKIT_HARNESS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <stdio.h>
#include <string.h>

#include "runtime.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* ---- protocol.c ---- */

/* The invocations of a process, in the order of their runs. */
struct batch {
    /* Each invocation runs again beside the node of the next one, before its own node is released.
     */
    bool alternates;
    size_t counters; /* the offset in the kernel's library of the compiler's counters of its code */
    size_t counters_size; /* 0: it has none */
    unsigned count;
    struct harness_invocation *invocations;
};

/*
 * The report of a batch's process to the supervisor, in shared memory: a kernel that closes
 * descriptors or ends its process cannot prevent it.
 */
struct shared_state {
    volatile uint32_t deadline; /* milliseconds on the monotonic clock */
    volatile bool fault; /* explained in the records */
    volatile bool complete; /* set last of all */
    char stage_name[64];
    size_t used;
    size_t capacity;
    char records[]; /* in the format of the answer */
};

extern struct shared_state *shared; /* of the running batch */

void *allocate(size_t count, size_t size); /* zeros; exits if out of memory */
bool read_request(struct batch *batch); /* false at the end of stdin */
void free_request(struct batch *batch);
void record(const char *what, const void *bytes, size_t size);
__attribute__((format(printf, 2, 3))) void record_text(const char *what, const char *format, ...);
void open_answers(void); /* and greets; stdout is then for answers only */
void write_answer(const char *what, const void *bytes, size_t size);
void write_records(void);
void end_answer(void);

/* ---- process_state.c ---- */

void snapshot_process(void);
/* Records an event for each difference from the snapshot, and takes a new snapshot. */
void compare_process(const char *name);

/* Resources of the process that an operator returns at its end. */
struct resources {
    unsigned threads;
    uint64_t descriptors[4]; /* the open ones, as bits */
};

struct resources read_resources(void);
/* Records an event if there are more threads than `before`, once for each thread. */
void compare_threads(const char *name, unsigned before);
/* Records an event or a leak for each resource that is not in `before`. */
void compare_resources(const char *name, const struct resources *before);
unsigned count_threads(void);

/* ---- stack.c ---- */

void find_stack(void); /* before the fork that limits it */
void limit_stack(size_t size); /* to so many bytes from here; 0: not */
size_t stack_limit(void); /* 0: not limited */
/* Writes the fill to the stack that the kernel's local variables will use; to measure, to all. */
void paint_stack(uint8_t fill, bool is_measured);
/* Returns the bytes of a limited stack that were used since then; 0: not measured. */
size_t used_stack(uint8_t fill);

/* ---- faults.c ---- */

/* Loads the kernel, in the process of each batch. */
struct harness_kernel {
    const struct harness_runtime *runtime;
    void *(*load)(char *problem, size_t size); /* the address of its symbol; NULL: see problem */
    void (*unload)(void);
    ptrdiff_t (*offset)(uintptr_t address); /* as in its debug information; 0: outside of it */
    /* The offset of the first byte of its _Thread_local variables that has changed; -1: none. */
    ptrdiff_t (*changed_thread_local)(void);
};

uint32_t milliseconds(void);
/* Installs handlers that record a fault; then `after_fault` ends the process. */
void catch_faults(const struct harness_kernel *loaded_kernel, void (*after_fault)(void));
/* Begins a stage; messages use its current phase, or its name if `phase` is NULL. */
void start_timer(const char *name, const char *const *phase, double limit, bool alarmed);
void stop_timer(void);

/* ---- invocation.c ---- */

_Noreturn void run_batch(const struct batch *batch, const struct harness_kernel *kernel);

/* ---- supervisor.c ---- */

void init_supervisor(void); /* once */
void supervise(const struct batch *batch, const struct harness_kernel *kernel);

#endif
