/*
 * The interface of a runtime for the harness, which runs a kernel like that runtime.
 *
 * A runtime is one table of functions, `harness_runtime`: in a library that the harness loads
 * before the kernel's, or linked with both into one static program. For each invocation, the
 * harness calls the functions in the order of the table: prepare, which makes a node of the
 * operator, set_up, process with its repetitions, clean_up, report. After a failure of prepare, or
 * a fault, only report follows. A process runs one invocation, or a batch of them, of which two
 * nodes may be alive at a time. The harness handles the effects of the kernel on the process in the
 * three stages, set_up, process and clean_up: faults, infinite loops, exit.
 *
 * A runtime guards its kernels as follows (see memory/guarded_memory.h): an access beside a tensor
 * or a block from malloc is then a fault with a name, and leaks are detected.
 *
 *     prepare:   guarded_memory_begin(invocation, record);
 *                values = guarded_values_new(invocation);
 *     a stage:   guarded_memory_set_active(true);
 *                status = kernel(... values[i].bytes ...);
 *                guarded_memory_set_active(false);
 *     clean_up:  guarded_values_delete(invocation, values);
 *                guarded_memory_end();
 *     .explain = guarded_memory_explain,
 *     .begin_profile = profile_begin,
 *     .end_profile = profile_end,
 *
 * The sources in memory/ are part of its library, which has a soname and is the first dependency of
 * the kernel's library. A static program contains them, all compiled with -DHARNESS_STATIC; its
 * kernel is compiled with -include opkit/check/harness/memory/guarded_malloc.h.
 */
#ifndef OPKIT_HARNESS_RUNTIME_H
#define OPKIT_HARNESS_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HARNESS_MAX_RANK 8
#define HARNESS_MAX_NAME 64
#define HARNESS_RUNTIME "harness_runtime"

/* The types of elements: numpy's names, and char for strings; sizes in bytes. */
#define HARNESS_TYPES(X)     \
    X(BOOL, "bool", 1)       \
    X(CHAR, "char", 1)       \
    X(INT8, "int8", 1)       \
    X(UINT8, "uint8", 1)     \
    X(INT16, "int16", 2)     \
    X(UINT16, "uint16", 2)   \
    X(INT32, "int32", 4)     \
    X(UINT32, "uint32", 4)   \
    X(INT64, "int64", 8)     \
    X(UINT64, "uint64", 8)   \
    X(FLOAT16, "float16", 2) \
    X(FLOAT32, "float32", 4) \
    X(FLOAT64, "float64", 8)
enum harness_type {
#define HARNESS_TYPE(type, name, size) HARNESS_##type,
    HARNESS_TYPES(HARNESS_TYPE)
#undef HARNESS_TYPE
    HARNESS_TYPE_COUNT
};

enum harness_role {
    HARNESS_INPUT,
    HARNESS_OUTPUT,
    HARNESS_PARAM
};

/* A dense array, or a single value. */
struct harness_value {
    enum harness_role role;
    char name[HARNESS_MAX_NAME];
    enum harness_type type; /* of an element */
    unsigned rank; /* 0: a single value */
    size_t shape[HARNESS_MAX_RANK]; /* the slowest dimension first */
    size_t size; /* bytes */
    void *bytes; /* those of an output hold the fill until clean_up writes them */
};

/* Data from the runtime's Python code for its part of the harness, besides the values. */
struct harness_attachment {
    char name[2 * HARNESS_MAX_NAME];
    size_t size;
    char *bytes; /* followed by a zero */
};

struct harness_invocation {
    bool guarded; /* detect accesses beside the operator's memory; else run at full speed */
    bool guards_before; /* at the first byte before a block; else at the first one behind it */
    bool profiled; /* count the time of each phase; see memory/profile.h */
    uint8_t fill; /* the value of unwritten bytes */
    unsigned repeat; /* the number of runs of the kernel */
    double limit; /* seconds for each stage */
    unsigned threads; /* of a loop in an instrumented operator */
    size_t stack_size; /* bytes for the operator's functions; 0: as large as the process's */
    unsigned count;
    struct harness_value *values; /* inputs, outputs, params: in the order of the description */
    unsigned attachment_count;
    struct harness_attachment *attachments;
};

/*
 * Adds a record to the answer. `what` is "log", a line of the operator's log; "event", a sentence
 * about an error of the operator; "leak", a sentence about unreleased memory or references; "heap",
 * the most bytes that it had from malloc at a time; "divided", of a loop with parts in several
 * threads, without a text; or "attachment" and a name, data for the runtime's Python code. After
 * "event" and "leak" may follow the return address of the operator's call, in decimal.
 */
typedef void harness_record_f(const char *what, const void *bytes, size_t size);

/* The reason of a failed prepare. */
struct harness_error {
    const char *function; /* the runtime's function that returned the status */
    char message[512]; /* or: the mismatch, and its solution */
};

enum harness_stage {
    HARNESS_SET_UP,
    HARNESS_PROCESS,
    HARNESS_CLEAN_UP,
    HARNESS_STAGES
};

/* The signal that ends a stage. */
struct harness_fault {
    int signal;
    int code; /* as in siginfo_t */
    uintptr_t address;
    uintptr_t stack_pointer; /* 0: unknown on this processor */
    uintptr_t instruction; /* 0: unknown on this processor */
    const char *verb; /* of the access: "reads", "writes" or "accesses" */
};

struct harness_runtime {
    /*
     * Makes the runtime's objects, and a node; `entry` is the address of the kernel's symbol. 0 or
     * a status. The node belongs to the runtime.
     */
    int (*prepare)(void *entry, const struct harness_invocation *invocation,
                   harness_record_f *record, struct harness_error *error, void **node);
    /* The stages, in which the operator's functions run. Each returns 0 or a status. */
    int (*stages[HARNESS_STAGES])(void *node);
    /* Records the collected log, events and leaks; also called after a fault. */
    void (*report)(void);
    /* Describes an inaccessible address: "just past the end of ..."; or returns false. */
    bool (*explain)(const void *address, char *text, size_t size);
    /*
     * Describes a fault in the third person, "overflows its stack", in place of the harness, and
     * sets the instruction to the kernel's. NULL, or false: the harness describes the fault.
     */
    bool (*describe_fault)(struct harness_fault *fault, char *text, size_t size);
    /* The names of the stages in messages. */
    const char *stage_names[HARNESS_STAGES];
    /* The name of the current phase: "the initializer"; NULL: messages use the stage's name. */
    const char *const *phase;
    /* The runtime's function that currently accesses the operator's memory; or NULL. */
    const char *const *function;
    /* profile_begin and profile_end of memory/profile.h; NULL: calls have no profile. */
    void (*begin_profile)(void);
    const uint64_t *(*end_profile)(void);
};

#endif
