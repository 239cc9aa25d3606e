/* Explains the signal that ends a kernel's stage, in a sentence. */
#include "harness.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static const int SIGNALS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGALRM};

enum {
    ALTERNATE_STACK_SIZE = 1 << 16,
    STACK_REACH = 1 << 16, /* bytes that a function accesses beyond the stack pointer */
    NULL_PAGE = 1 << 12,
    X86_WRITE = 2, /* in a page fault's error code */
    GRACE = 1000, /* milliseconds that the supervisor waits for the alarm to take effect */
    PREPARE_TIMEOUT = 30000 /* milliseconds for the runtime's preparation */
};

static const struct harness_kernel *kernel;
static void (*finish)(void);

static struct {
    const char *name;
    const char *const *phase;
    double limit;
    uintptr_t stack; /* an address in the frame of the stage */
} stage;

/* ---- The clock ---- */

uint32_t milliseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint32_t)((uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000);
}

void start_timer(const char *name, const char *const *phase, double limit, bool alarmed)
{
    const double whole = (double)(time_t)limit;
    const struct itimerval timer = {
        .it_value = {(time_t)whole, (suseconds_t)((limit - whole) * 1e6)}};

    stage.name = name;
    stage.phase = phase;
    stage.limit = limit;
    stage.stack = (uintptr_t)__builtin_frame_address(0) + STACK_REACH;
    snprintf(shared->stage_name, sizeof shared->stage_name, "%s", name);
    shared->deadline =
        milliseconds() + (alarmed ? (uint32_t)(limit * 1000) + GRACE : PREPARE_TIMEOUT);
    if (alarmed) {
        setitimer(ITIMER_REAL, &timer, NULL);
    }
}

void stop_timer(void)
{
    const struct itimerval nothing = {0};
    setitimer(ITIMER_REAL, &nothing, NULL);
}

/* ---- Sentences ---- */

static struct harness_fault read_fault(int number, const siginfo_t *information,
                                       const ucontext_t *context)
{
    struct harness_fault fault = {
        .signal = number,
        .code = information->si_code,
        .address = (uintptr_t)information->si_addr,
        .verb = "accesses",
    };
#if defined(__x86_64__)
    fault.stack_pointer = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
    fault.instruction = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
    fault.verb = context->uc_mcontext.gregs[REG_ERR] & X86_WRITE ? "writes" : "reads";
#elif defined(__aarch64__)
    fault.stack_pointer = (uintptr_t)context->uc_mcontext.sp;
#elif defined(__arm__)
    fault.stack_pointer = (uintptr_t)context->uc_mcontext.arm_sp;
#elif defined(__riscv)
    fault.stack_pointer = (uintptr_t)context->uc_mcontext.__gregs[REG_SP];
#else
    (void)context;
#endif
    return fault;
}

static bool is_stack_overflow(const struct harness_fault *fault)
{
    return fault->stack_pointer != 0 && fault->address + STACK_REACH >= fault->stack_pointer &&
           fault->address <= stage.stack;
}

static void explain_access(const struct harness_fault *fault, char *text, size_t size)
{
    char where[400];
    struct rlimit stack;

    if (fault->code != SEGV_MAPERR && fault->code != SEGV_ACCERR) {
        snprintf(text, size, "accesses a misaligned or invalid address");
    } else if (kernel->runtime->explain != NULL &&
               kernel->runtime->explain((const void *)fault->address, where, sizeof where)) {
        snprintf(text, size, "%s %s", fault->verb, where);
    } else if (is_stack_overflow(fault)) {
        getrlimit(RLIMIT_STACK, &stack);
        const bool is_limited = stack_limit() != 0;
        snprintf(text, size,
                 "overflows the stack of %lu KiB%s: an infinite recursion, or too large an array?",
                 (unsigned long)((is_limited ? stack_limit() : stack.rlim_cur) / 1024),
                 is_limited ? ", as small as a thread's on the board" : "");
    } else if (fault->address < NULL_PAGE) {
        snprintf(text, size, "%s through a NULL pointer", fault->verb);
    } else {
        snprintf(text, size, "%s the unmapped address 0x%lx", fault->verb,
                 (unsigned long)fault->address);
    }
}

/* Describes a fault in the third person: "reads ..." */
static void explain(const struct harness_fault *fault, char *text, size_t size)
{
    const char *sentence = NULL;

    switch (fault->signal) {
    case SIGALRM:
        snprintf(text, size, "timed out after %g s: an infinite loop?", stage.limit);
        return;
    case SIGFPE:
        sentence = fault->code == FPE_INTDIV || fault->code == FPE_INTOVF
                       ? "divides an integer by zero, or the most negative one by -1"
                       : "traps on a floating-point exception: does it call feenableexcept?";
        break;
    case SIGILL:
    case SIGTRAP:
        sentence =
            "runs into an illegal instruction, which compilers place where behavior is undefined, "
            "such as an access outside of an array";
        break;
    case SIGABRT:
        sentence =
            "calls abort: an assertion that does not hold, or a pointer that cannot be freed?";
        break;
    default:
        explain_access(fault, text, size);
        return;
    }
    snprintf(text, size, "%s", sentence);
}

/* ---- Signals ---- */

/* A second fault, during the report of the first, ends the process. */
static void reset_handlers(void)
{
    for (size_t i = 0; i < LENGTH(SIGNALS); i++) {
        signal(SIGNALS[i], SIG_DFL);
    }
}

static void on_signal(int number, siginfo_t *information, void *context)
{
    struct harness_fault fault = read_fault(number, information, context);
    const struct harness_runtime *runtime = kernel->runtime;
    const char *function = runtime->function != NULL ? *runtime->function : NULL;
    char what[800];

    reset_handlers();
    stop_timer();
    if (runtime->describe_fault == NULL || !runtime->describe_fault(&fault, what, sizeof what)) {
        explain(&fault, what, sizeof what);
    }
    record_text("fault", "%s %s%s%s", stage.phase != NULL ? *stage.phase : stage.name, what,
                function != NULL ? ", inside " : "", function != NULL ? function : "");
    if (number == SIGALRM) {
        record("timeout", "", 0);
    }
    const ptrdiff_t instruction = kernel->offset(fault.instruction);
    if (instruction != 0) {
        record_text("instruction", "%td", instruction);
    }
    finish();
}

void catch_faults(const struct harness_kernel *loaded_kernel, void (*after_fault)(void))
{
    static uint8_t alternate[ALTERNATE_STACK_SIZE];
    const stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};

    kernel = loaded_kernel;
    finish = after_fault;
    sigemptyset(&action.sa_mask);
    sigaltstack(&stack, NULL);
    for (size_t i = 0; i < LENGTH(SIGNALS); i++) {
        sigaction(SIGNALS[i], &action, NULL);
    }
}
