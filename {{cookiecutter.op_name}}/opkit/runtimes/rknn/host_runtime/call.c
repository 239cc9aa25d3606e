/* Calls a kernel so that a fault, or a loop without end, comes back as a sentence. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "hostrt.h"

static const int SIGNALS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGALRM};

enum {
    ALTERNATE_STACK_SIZE = 1 << 16,
    PAINTED_STACK = 1 << 16,
    STACK_REACH = 1 << 16, /* how far beyond the stack pointer a function touches */
    NULL_PAGE = 1 << 12,
    X86_WRITE = 2 /* in a page fault's error code */
};

static struct {
    sigjmp_buf back;
    volatile sig_atomic_t active;
    long thread;
    uintptr_t stack; /* an address in the frame of hostrt_call */
    int signal;
    int code;
    uintptr_t address;
    uintptr_t stack_pointer; /* 0: not known on this machine, as the instruction's */
    uintptr_t instruction;
    const char *verb;
} call;

static bool faulted;

bool hostrt_faulted(void)
{
    return faulted;
}

static void read_machine(const ucontext_t *context)
{
    call.verb = "touches";
    call.stack_pointer = 0;
    call.instruction = 0;
#if defined(__x86_64__)
    call.stack_pointer = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
    call.instruction = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
    call.verb = context->uc_mcontext.gregs[REG_ERR] & X86_WRITE ? "writes" : "reads";
#elif defined(__aarch64__)
    call.stack_pointer = (uintptr_t)context->uc_mcontext.sp;
#elif defined(__arm__)
    call.stack_pointer = (uintptr_t)context->uc_mcontext.arm_sp;
#else
    (void)context;
#endif
}

static void on_signal(int number, siginfo_t *information, void *context)
{
    if (!call.active || syscall(SYS_gettid) != call.thread) {
        if (call.active && number == SIGALRM) { /* it may reach any thread */
            syscall(SYS_tgkill, getpid(), call.thread, number);
        } else {
            signal(number, SIG_DFL); /* a fault of somebody else: it happens again, and is theirs */
        }
        return;
    }
    call.active = 0;
    call.signal = number;
    call.code = information->si_code;
    call.address = (uintptr_t)information->si_addr;
    read_machine(context);
    siglongjmp(call.back, 1);
}

static bool is_stack_overflow(void)
{
    return call.stack_pointer != 0 && call.address + STACK_REACH >= call.stack_pointer && call.address <= call.stack;
}

/* What happened, in the third person: "reads ..." */
static void explain(double limit, char *text, size_t size)
{
    char where[400];

    if (call.signal == SIGALRM) {
        snprintf(text, size, "is not done after %g s: a loop without end?", limit);
    } else if (call.signal == SIGFPE) {
        snprintf(text, size, "divides an integer by zero, or the most negative one by -1");
    } else if (call.signal == SIGILL || call.signal == SIGTRAP) {
        snprintf(text, size, "runs into an illegal instruction, which compilers place where behaviour is undefined");
    } else if (call.signal == SIGABRT) {
        snprintf(text, size, "calls abort: an assertion that does not hold, or a pointer that cannot be freed?");
    } else if (call.code != SEGV_MAPERR && call.code != SEGV_ACCERR) {
        snprintf(text, size, "touches an address that is not aligned, or none at all");
    } else if (hostrt_memory_explain((const void *)call.address, where, sizeof where)) {
        snprintf(text, size, "%s %s", call.verb, where);
    } else if (is_stack_overflow()) {
        struct rlimit stack;
        getrlimit(RLIMIT_STACK, &stack);
        snprintf(text, size, "overflows the stack of %lu KiB: a recursion without end, or too large an array?", (unsigned long)(stack.rlim_cur / 1024));
    } else if (call.address < NULL_PAGE) {
        snprintf(text, size, "%s through a NULL pointer", call.verb);
    } else {
        snprintf(text, size, "%s the address 0x%lx, where it has no memory", call.verb, (unsigned long)call.address);
    }
}

/* Leaves the fill byte where the kernel's local variables will be. */
static __attribute__((noinline)) void paint_stack(void)
{
    vx_uint8 painted[PAINTED_STACK];
    memset(painted, hostrt_memory_fill(), sizeof painted);
    __asm__ volatile("" : : "r"(painted) : "memory");
}

static vx_status process(vx_graph graph)
{
    const vx_status status = vxProcessGraph(graph);
    return status == VX_SUCCESS ? graph->kernel_status : status;
}

static __attribute__((noinline)) vx_status run(vx_graph graph, enum hostrt_stage stage)
{
    switch (stage) {
    case HOSTRT_VERIFY:
        return vxVerifyGraph(graph);
    case HOSTRT_PROCESS:
        return process(graph);
    case HOSTRT_RELEASE:
        return vxReleaseGraph(&graph);
    }
    return VX_ERROR_INVALID_PARAMETERS;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void hostrt_call(vx_graph graph, enum hostrt_stage stage, double limit, struct hostrt_report *report)
{
    static vx_uint8 alternate[ALTERNATE_STACK_SIZE];
    const stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    const struct itimerval timer = {.it_value = {(time_t)limit, (suseconds_t)((limit - (double)(time_t)limit) * 1e6)}};
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    struct sigaction old_actions[dimof(SIGNALS)];
    struct itimerval old_timer;
    stack_t old_stack;

    memset(report, 0, sizeof *report);
    sigemptyset(&action.sa_mask);
    sigaltstack(&stack, &old_stack);
    for (size_t i = 0; i < dimof(SIGNALS); i++) {
        sigaction(SIGNALS[i], &action, &old_actions[i]);
    }
    getitimer(ITIMER_REAL, &old_timer);
    call.thread = syscall(SYS_gettid);
    call.stack = (uintptr_t)__builtin_frame_address(0);
    hostrt_function = NULL;
    paint_stack();

    const double start = now();
    if (sigsetjmp(call.back, 1) == 0) {
        call.active = 1;
        setitimer(ITIMER_REAL, &timer, NULL);
        hostrt_memory_use(true);
        report->status = run(graph, stage);
        call.active = 0;
    } else {
        char what[480];
        faulted = true;
        explain(limit, what, sizeof what);
        report->status = VX_FAILURE;
        report->signal = call.signal;
        report->instruction = call.instruction;
        snprintf(report->fault, sizeof report->fault, "%s %s%s%s", hostrt_phase, what,
                 hostrt_function ? ", inside " : "", hostrt_function ? hostrt_function : "");
    }
    report->seconds = now() - start;
    hostrt_memory_use(false);
    setitimer(ITIMER_REAL, &old_timer, NULL);
    for (size_t i = 0; i < dimof(SIGNALS); i++) {
        sigaction(SIGNALS[i], &old_actions[i], NULL);
    }
    sigaltstack(&old_stack, NULL);
}

void hostrt_begin(bool guard, vx_uint8 fill)
{
    faulted = false;
    hostrt_memory_begin(guard, fill);
    hostrt_remember_references();
}

void hostrt_end(void)
{
    const bool report = !faulted;
    hostrt_compare_maps(report);
    hostrt_memory_end(report);
    hostrt_compare_references(report);
}
