/*
 * What the harness needs of a runtime, in order to run a kernel as that runtime would.
 *
 * A runtime is one table of functions, `harness_runtime`: in a library that the harness loads
 * before the kernel's, or linked with both into one static program. For each invocation there is a
 * process of its own, in which the functions are called in the order of the table: prepare, set_up,
 * process as often as asked for, clean_up, report. After prepare fails, or a fault, only report
 * follows. What the kernel does to the process in one of the three stages, set_up, process and
 * clean_up, is the harness's business: faults, loops without end, exit.
 *
 * A runtime has its kernels guarded, so that an access beside a tensor or a block from malloc is a
 * fault with a name, and leaks are found, as follows (see memory/guarded_memory.h):
 *
 *     prepare:   guarded_memory_begin(invocation->guarded, invocation->fill, record);
 *                values = guarded_values_new(invocation);
 *     a stage:   guarded_memory_set_active(true);
 *                status = kernel(... values[i].bytes ...);
 *                guarded_memory_set_active(false);
 *     clean_up:  guarded_values_delete(invocation, values);
 *                guarded_memory_end();
 *     .explain = guarded_memory_explain,
 *
 * The sources in memory/ are part of its library, which has a soname and is the first that the
 * kernel's library is linked with. A static program has them among its own, all compiled with
 * -DHARNESS_STATIC; its kernel is compiled with -include
 * opkit/check/harness/memory/guarded_malloc.h.
 */
#ifndef OPKIT_HARNESS_RUNTIME_H
#define OPKIT_HARNESS_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HARNESS_MAX_RANK 8
#define HARNESS_MAX_NAME 64
#define HARNESS_RUNTIME "harness_runtime"

/* The types of elements: the names are numpy's, but for the char of a text; sizes in bytes. */
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
    void *bytes; /* an output's hold the fill; clean_up writes them */
};

/* What the runtime's room in Python sends to this side, besides the values. */
struct harness_attachment {
    char name[2 * HARNESS_MAX_NAME];
    size_t size;
    char *bytes; /* and a zero behind them */
};

struct harness_invocation {
    bool guarded; /* accesses beside the operator's memory are to be found; else speed counts */
    uint8_t fill; /* what memory holds until it is written */
    unsigned repeat; /* how often the kernel runs */
    double limit; /* seconds that each stage may take */
    unsigned count;
    struct harness_value *values; /* inputs, outputs, params: in the order of the description */
    unsigned attachment_count;
    struct harness_attachment *attachments;
};

/*
 * Adds a record to the answer. `what` is "log", a line of the operator's; "event", a sentence about
 * what no operator should do; "leak", a sentence about what it did not give back; or "attachment"
 * and a name, for the runtime's room in Python.
 */
typedef void harness_record_f(const char *what, const void *bytes, size_t size);

/* Why prepare fails. */
struct harness_error {
    const char *function; /* of the runtime, that has returned the status */
    char message[512]; /* or: what does not fit, and what to do */
};

enum harness_stage {
    HARNESS_SET_UP,
    HARNESS_PROCESS,
    HARNESS_CLEAN_UP,
    HARNESS_STAGES
};

/* The signal by which a stage ends. */
struct harness_fault {
    int signal;
    int code; /* as in siginfo_t */
    uintptr_t address;
    uintptr_t stack_pointer; /* 0: not known on this machine, as the instruction's */
    uintptr_t instruction;
    const char *verb; /* what is done to the address: "reads" */
};

struct harness_runtime {
    /* Makes the objects; `entry` is the address of the kernel library's symbol. 0, or a status. */
    int (*prepare)(void *entry, const struct harness_invocation *invocation,
                   harness_record_f *record, struct harness_error *error);
    /* The stages, in which the operator's functions run. Each returns 0 or a status. */
    int (*stages[HARNESS_STAGES])(void);
    /* Records what was written down meanwhile: log, events, leaks. Comes after a fault as well. */
    void (*report)(void);
    /* Says where an address is, that cannot be touched: "just past the end of ..."; or false. */
    bool (*explain)(const void *address, char *text, size_t size);
    /*
     * Describes a fault in the third person, "overflows its stack", in place of the harness, and
     * corrects the instruction to that of the kernel's. NULL: the harness describes it.
     */
    void (*describe_fault)(struct harness_fault *fault, char *text, size_t size);
    /* What messages call the stages. */
    const char *stage_names[HARNESS_STAGES];
    /* What runs in this moment: "the initializer"; NULL: messages call it as its stage. */
    const char *const *phase;
    /* Which of the runtime's own functions touches the operator's memory, if any. May be NULL. */
    const char *const *function;
};

#endif
