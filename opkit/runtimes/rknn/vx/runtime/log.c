/*
 * The log: events, faults, and undefined behavior that the compiler's checks found. One line each,
 * fields separated by tabs.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime.h"

static FILE *output;
static uintptr_t library_start, library_end;

/* The log takes standard output for itself; what a kernel prints goes to standard error. */
void __opkit_log_open(void)
{
    output = fdopen(dup(STDOUT_FILENO), "w");
    dup2(STDERR_FILENO, STDOUT_FILENO);
}

void __opkit_emit(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vfprintf(output, format, values);
    va_end(values);
    fputc('\n', output);
    fflush(output);
}

void __opkit_die(const char *format, ...)
{
    va_list values;
    fputs("error\t", output);
    va_start(values, format);
    vfprintf(output, format, values);
    va_end(values);
    fputc('\n', output);
    fflush(output);
    _exit(1);
}

/* ---- Events ---- */

struct event {
    const char *kind;
    int tensor;
    unsigned long count;
    int at[3];
    unsigned long item[3];
    uintptr_t address;
};

enum {
    MAX_EVENTS = 256
};
static struct event events[MAX_EVENTS];
static int event_count;

/* Addresses as the library's debug information has them; 0: none of the library's. */
static unsigned long offset_of(uintptr_t address)
{
    return address >= library_start && address < library_end ? address - library_start : 0;
}

bool __opkit_in_library(const void *memory)
{
    return offset_of((uintptr_t)memory) != 0;
}

/* Counts an event; where the first of its kind happened is kept. */
void __opkit_event(const char *kind, int tensor, int x, int y, int z, unsigned long count,
                   const void *address)
{
    struct event *event = events;

    while (event < events + event_count && (event->kind != kind || event->tensor != tensor)) {
        event++;
    }
    if (event == events + MAX_EVENTS) {
        return;
    }
    if (event == events + event_count) {
        event_count++;
        event->kind = kind;
        event->tensor = tensor;
        event->at[0] = x;
        event->at[1] = y;
        event->at[2] = z;
        memcpy(event->item, __opkit_item.global_id, sizeof event->item);
        event->address = (uintptr_t)address;
    }
    event->count += count;
}

void __opkit_report_events(void)
{
    for (const struct event *event = events; event < events + event_count; event++) {
        __opkit_emit("event\t%s\t%s\t%lu\t%d,%d,%d\t%lu,%lu,%lu\t%lu", event->kind,
                     event->tensor < 0 ? "" : __opkit_tensors[event->tensor].name, event->count,
                     event->at[0], event->at[1], event->at[2], event->item[0], event->item[1],
                     event->item[2], offset_of(event->address));
    }
}

/* ---- Faults ---- */

enum {
    STACK_REACH = 4096 /* how far from the stack's end a function may touch it first */
};

/* The innermost address of the kernel: of the instruction itself, or of a call on the stack. */
static unsigned long kernel_address(const ucontext_t *context)
{
    uintptr_t address = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
    uintptr_t stack = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];

    if (offset_of(address) != 0) {
        return offset_of(address) + 1;
    }
    for (int i = 0; i < 512 && offset_of(address) == 0; i++) {
        address = *(uintptr_t *)(stack + (uintptr_t)i * sizeof address);
    }
    return offset_of(address);
}

/* What a kernel does, as a verb and its object; empty: that it crashed says it all. */
static const char *describe_fault(int number, const siginfo_t *information, uintptr_t address,
                                  uintptr_t stack)
{
    const char *argument = __opkit_describe_argument(address);
    static char text[2 * __OPKIT_MAX_NAME];

    if (number == SIGFPE) {
        return "divides by zero, or its quotient does not fit";
    }
    if (number != SIGSEGV) {
        return "";
    }
    if (information != NULL && information->si_code == SI_KERNEL) {
        return "accesses memory through a misaligned pointer, or an address that cannot be";
    }
    if (address >= stack - STACK_REACH && address < stack + STACK_REACH) {
        return "overflows its stack";
    }
    if (argument == NULL) {
        return "";
    }
    snprintf(text, sizeof text, "accesses memory %s", argument);
    return text;
}

static _Noreturn void end_with_fault(int number, uintptr_t address, unsigned long offset,
                                     const char *what)
{
    __opkit_report_events();
    __opkit_emit("fault\t%d\t%#lx\t%lu,%lu,%lu\t%lu\t%s", number, (unsigned long)address,
                 __opkit_item.global_id[0], __opkit_item.global_id[1], __opkit_item.global_id[2],
                 offset, what);
    fflush(stdout); /* what the kernel has printed so far */
    _exit(0);
}

void __opkit_fault(uintptr_t address, const void *caller)
{
    end_with_fault(SIGSEGV, address, offset_of((uintptr_t)caller),
                   describe_fault(SIGSEGV, NULL, address, 0));
}

static void on_signal(int number, siginfo_t *information, void *context)
{
    uintptr_t stack = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RSP];
    uintptr_t address =
        number == SIGALRM ? 0 : __opkit_guarded_address((uintptr_t)information->si_addr);

    /* A second fault, while this one is written, ends the process. */
    signal(SIGSEGV, SIG_DFL);
    end_with_fault(number, address, kernel_address(context),
                   describe_fault(number, information, address, stack));
}

void __opkit_set_library(const char *base, size_t size)
{
    library_start = (uintptr_t)base;
    library_end = library_start + size;
}

/* From here on, faults are logged, and a kernel that does not end is stopped. */
void __opkit_catch_faults(double seconds)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
    static char stack[1 << 16];
    struct itimerval timer = {
        .it_value = {(time_t)seconds, (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6)}};
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};

    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        sigaction(signals[i], &action, NULL);
    }
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* ---- Undefined behavior ---- */

/* Every record of the compiler begins with its place in the source. */
struct place {
    const char *file;
    uint32_t line;
    uint32_t column; /* with all bits set once it was reported */
};

static void report_undefined(struct place *place, const char *what)
{
    uint32_t column = __atomic_exchange_n(&place->column, UINT32_MAX, __ATOMIC_RELAXED);
    if (column != UINT32_MAX) {
        __opkit_emit("undefined\t%s\t%u\t%u\t%s\t%lu,%lu,%lu", place->file, place->line, column,
                     what, __opkit_item.global_id[0], __opkit_item.global_id[1],
                     __opkit_item.global_id[2]);
    }
}

void __opkit_report_overrun(const char *access, size_t size, const char *what, const void *caller)
{
    static const void *reported[64];
    size_t k = 0;

    while (k < sizeof reported / sizeof *reported && reported[k] != NULL && reported[k] != caller) {
        k++;
    }
    if (k < sizeof reported / sizeof *reported && reported[k] == NULL) {
        reported[k] = caller;
        __opkit_emit("overrun\t%s of %zu bytes %s\t%lu,%lu,%lu\t%lu", access, size, what,
                     __opkit_item.global_id[0], __opkit_item.global_id[1],
                     __opkit_item.global_id[2], offset_of((uintptr_t)caller));
    }
}

#define HANDLER(name, what)                          \
    void __ubsan_handle_##name(struct place *place); \
    void __ubsan_handle_##name(struct place *place)  \
    {                                                \
        report_undefined(place, what);               \
    }
HANDLER(add_overflow, "signed integer overflow in an addition")
HANDLER(sub_overflow, "signed integer overflow in a subtraction")
HANDLER(mul_overflow, "signed integer overflow in a multiplication")
HANDLER(negate_overflow, "signed integer overflow in a negation")
HANDLER(divrem_overflow, "division by zero, or its result does not fit")
HANDLER(shift_out_of_bounds, "shift by as many bits as the type has, or more")
HANDLER(out_of_bounds, "index outside of the array")
HANDLER(type_mismatch_v1, "access through a null or misaligned pointer")
HANDLER(pointer_overflow, "pointer arithmetic overflows")
HANDLER(float_cast_overflow, "floating-point number outside of the integer type's range")
HANDLER(vla_bound_not_positive, "array of a length that is not positive")
HANDLER(load_invalid_value, "a bool that is neither 0 nor 1")
HANDLER(nonnull_arg, "null pointer where none is allowed")
HANDLER(builtin_unreachable, "end of the function reached")
HANDLER(missing_return, "end of the function reached without a result")
HANDLER(invalid_builtin, "zero where none is allowed")
HANDLER(alignment_assumption, "misaligned pointer")
