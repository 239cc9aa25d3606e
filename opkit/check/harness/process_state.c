/* The process state that a kernel must not change: on a board its process is the application's. */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SIGNAL_COUNT = 32, /* real-time signals follow: they are libc's, or have no meaning */
    LIMIT_COUNT = 16,
    STANDARD_COUNT = 3
};

static struct state {
    void (*handlers[SIGNAL_COUNT])(int);
    sigset_t blocked;
    struct rlimit limits[LIMIT_COUNT];
    unsigned long floating_point;
    bool is_open[STANDARD_COUNT];
    bool has_children;
} snapshot;

/* Returns the register of rounding mode and traps, without the flags set by arithmetic. */
static unsigned long floating_point(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_stmxcsr() & ~0x3FUL;
#elif defined(__aarch64__)
    unsigned long control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return control;
#elif defined(__arm__) && defined(__ARM_FP)
    unsigned long control;
    __asm__ volatile("vmrs %0, fpscr" : "=r"(control));
    return control & 0x07FFFF00UL;
#elif defined(__riscv_flen)
    unsigned long control;
    __asm__ volatile("frrm %0" : "=r"(control));
    return control;
#else
    return 0;
#endif
}

static void set_floating_point(unsigned long control)
{
#if defined(__x86_64__)
    __builtin_ia32_ldmxcsr((unsigned)control);
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
#elif defined(__arm__) && defined(__ARM_FP)
    __asm__ volatile("vmsr fpscr, %0" : : "r"(control));
#elif defined(__riscv_flen)
    __asm__ volatile("fsrm %0" : : "r"(control));
#else
    (void)control;
#endif
}

static void read_state(struct state *state)
{
    memset(state, 0, sizeof *state);
    state->floating_point = floating_point();
    for (int i = 1; i < SIGNAL_COUNT; i++) {
        struct sigaction action;
        if (sigaction(i, NULL, &action) == 0) {
            state->handlers[i] = action.sa_handler;
        }
    }
    sigprocmask(SIG_SETMASK, NULL, &state->blocked);
    for (int i = 0; i < LIMIT_COUNT; i++) {
        getrlimit(i, &state->limits[i]);
    }
    for (int i = 0; i < STANDARD_COUNT; i++) {
        state->is_open[i] = fcntl(i, F_GETFD) >= 0;
    }
    state->has_children = waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD;
}

void snapshot_process(void)
{
    read_state(&snapshot);
}

void compare_process(const char *name)
{
    struct state now;

    read_state(&now);
    if (now.floating_point != snapshot.floating_point) {
        set_floating_point(snapshot.floating_point);
        record_text("event",
                    "%s changes the floating-point rounding mode, or the exceptions that trap",
                    name);
        now.floating_point = snapshot.floating_point;
    }
    for (int i = 1; i < SIGNAL_COUNT; i++) {
        if (now.handlers[i] != snapshot.handlers[i]) {
            record_text("event", "%s changes the action of the process on signal %d (%s)", name, i,
                        strsignal(i));
        }
        if (sigismember(&now.blocked, i) != sigismember(&snapshot.blocked, i)) {
            record_text("event", "%s changes whether signal %d (%s) is blocked", name, i,
                        strsignal(i));
        }
    }
    for (int i = 0; i < LIMIT_COUNT; i++) {
        if (memcmp(&now.limits[i], &snapshot.limits[i], sizeof now.limits[i]) != 0) {
            record_text("event", "%s changes the process's resource limit %d (setrlimit)", name, i);
        }
    }
    for (int i = 0; i < STANDARD_COUNT; i++) {
        if (now.is_open[i] != snapshot.is_open[i]) {
            record_text("event", "%s closes descriptor %d of the process", name, i);
        }
    }
    if (now.has_children && !snapshot.has_children) {
        record_text("event", "%s starts a process and does not wait for its end (fork)", name);
    }
    snapshot = now;
}
