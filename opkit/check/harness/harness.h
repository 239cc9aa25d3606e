/*
 * The harness: runs one kernel on arrays that come in on stdin, until stdin ends.
 *
 *     memory/          guarded memory, for the runtimes
 *     protocol.c       requests, records, answers; client.py is the other side
 *     process_state.c  finds what a kernel has changed of its process
 *     faults.c         explains signals
 *     invocation.c     what happens in the process of an invocation
 *     supervisor.c     that process: its limits, its output, its end
 *     main.c           loads the runtime, serves requests
 *
 * Each file calls only those above it.
 *
 * Natively it is a program that loads the runtime and the kernel's library:
 *
 *     harness RUNTIME LIBRARY SYMBOL
 *
 * Where only static programs run, both are linked with it, and HARNESS_ENTRY is the symbol.
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

/*
 * What the process of an invocation reports to the supervisor, in shared memory: a kernel that
 * closes descriptors or ends its process cannot prevent it.
 */
struct shared_state {
    volatile uint32_t deadline; /* milliseconds on the monotonic clock */
    volatile bool fault; /* explained in the records */
    volatile bool complete; /* the very last that happens */
    char stage_name[64];
    size_t used;
    size_t capacity;
    char records[]; /* as the answer has them */
};

extern struct shared_state *shared; /* of the invocation that runs */

void *allocate(size_t count, size_t size); /* zeros; ends the program when there is no memory */
bool read_request(struct harness_invocation *invocation); /* false at the end of stdin */
void free_request(struct harness_invocation *invocation);
void record(const char *what, const void *bytes, size_t size);
__attribute__((format(printf, 2, 3))) void record_text(const char *what, const char *format, ...);
void open_answers(void); /* and greets: from here on, stdout is for answers alone */
void write_answer(const char *what, const void *bytes, size_t size);
void write_records(void);
void end_answer(void);

/* ---- process_state.c ---- */

void snapshot_process(void);
/* Records an event for each thing that differs, and remembers how it is now. */
void compare_process(const char *name);

/* ---- faults.c ---- */

/* Loads the kernel, in the process of each invocation. */
struct harness_kernel {
    const struct harness_runtime *runtime;
    void *(*load)(char *problem, size_t size); /* the address of its symbol; NULL: see problem */
    void (*unload)(void);
    ptrdiff_t (*offset)(uintptr_t address); /* as its debug information counts; 0: not in it */
};

uint32_t milliseconds(void);
/* From here on, a fault is recorded; then `after_fault` ends the process. */
void catch_faults(const struct harness_kernel *of_kernel, void (*after_fault)(void));
/* Begins a stage: messages call it by its name, or by its phase, which changes. */
void start_timer(const char *name, const char *const *phase, double limit, bool alarmed);
void stop_timer(void);

/* ---- invocation.c ---- */

_Noreturn void run_invocation(const struct harness_invocation *invocation,
                              const struct harness_kernel *kernel);

/* ---- supervisor.c ---- */

void init_supervisor(void); /* once */
void supervise(const struct harness_invocation *invocation, const struct harness_kernel *kernel);

#endif
