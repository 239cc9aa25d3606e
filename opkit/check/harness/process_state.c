/* The process state that a kernel must not change: on a board its process is the application's. */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
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
    dev_t directory_device;
    ino_t directory;
    mode_t file_mask;
    uint32_t locale;
    uint32_t environment;
    int priority;
    cpu_set_t processors;
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

/* ---- Settings ---- */

/* FNV-1a; the hash of several texts begins with that of the texts before. */
static uint32_t hash(uint32_t begin, const char *text)
{
    while (*text != '\0') {
        begin = (begin ^ (uint8_t)*text++) * 0x01000193U;
    }
    return (begin ^ '\n') * 0x01000193U;
}

static uint32_t hash_environment(void)
{
    uint32_t result = 0;
    for (char **variable = environ; variable != NULL && *variable != NULL; variable++) {
        result = hash(result, *variable);
    }
    return result;
}

static uint32_t hash_locale(void)
{
    const char *name = setlocale(LC_ALL, NULL);
    return hash((uint32_t)(uintptr_t)uselocale((locale_t)0), name != NULL ? name : "");
}

static void read_settings(struct state *state)
{
    struct stat directory;

    if (stat(".", &directory) == 0) {
        state->directory_device = directory.st_dev;
        state->directory = directory.st_ino;
    }
    state->file_mask = umask(0);
    umask(state->file_mask);
    state->locale = hash_locale();
    state->environment = hash_environment();
    state->priority = getpriority(PRIO_PROCESS, 0);
    sched_getaffinity(0, sizeof state->processors, &state->processors);
}

static void compare_settings(const char *name, const struct state *now)
{
    const struct {
        bool changes;
        const char *what;
    } SETTINGS[] = {
        {now->directory != snapshot.directory || now->directory_device != snapshot.directory_device,
         "working directory (chdir)"},
        {now->file_mask != snapshot.file_mask, "mask of file permissions (umask)"},
        {now->locale != snapshot.locale, "locale (setlocale, uselocale)"},
        {now->environment != snapshot.environment, "environment (setenv, putenv)"},
        {now->priority != snapshot.priority, "priority (nice, setpriority)"},
        {!CPU_EQUAL(&now->processors, &snapshot.processors), "processors (sched_setaffinity)"},
    };

    for (size_t i = 0; i < LENGTH(SETTINGS); i++) {
        if (SETTINGS[i].changes) {
            record_text("event", "%s changes the process's %s", name, SETTINGS[i].what);
        }
    }
}

/* ---- All of the state ---- */

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
    read_settings(state);
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
    compare_settings(name, &now);
    snapshot = now;
}

/* ---- Resources ---- */

enum {
    DESCRIPTORS = 256,
    BITS = 64
};

/* One stat, since the links of this folder are its threads, and the usual two. */
unsigned count_threads(void)
{
    struct stat threads;
    return stat("/proc/self/task", &threads) == 0 ? (unsigned)threads.st_nlink - 2 : 0;
}

static bool is_open(const struct resources *resources, int descriptor)
{
    return (resources->descriptors[descriptor / BITS] >> descriptor % BITS & 1) != 0;
}

struct resources read_resources(void)
{
    struct resources resources = {.threads = count_threads()};
    struct pollfd descriptors[DESCRIPTORS];

    for (int i = 0; i < DESCRIPTORS; i++) {
        descriptors[i] = (struct pollfd){.fd = i};
    }
    if (poll(descriptors, DESCRIPTORS, 0) < 0) { /* the limit of descriptors is lower now */
        return resources;
    }
    for (int i = 0; i < DESCRIPTORS; i++) {
        const uint64_t bit = (descriptors[i].revents & POLLNVAL) == 0;
        resources.descriptors[i / BITS] |= bit << i % BITS;
    }
    return resources;
}

void compare_threads(const char *name, unsigned before)
{
    enum {
        TRIES = 100
    };
    static const struct timespec INTERVAL = {.tv_nsec = 1000 * 1000};
    static unsigned recorded;

    /* A thread leaves the folder shortly after pthread_join. */
    for (int i = 0; i < TRIES && count_threads() > before + recorded; i++) {
        nanosleep(&INTERVAL, NULL);
    }
    if (count_threads() > before + recorded) {
        recorded = count_threads() - before;
        record_text("event", "%s returns before its threads end (pthread_create)", name);
    }
}

void compare_resources(const char *name, const struct resources *before)
{
    const struct resources now = read_resources();

    compare_threads(name, before->threads);
    for (int i = STANDARD_COUNT; i < DESCRIPTORS; i++) {
        if (is_open(&now, i) && !is_open(before, i)) {
            char path[64];
            char target[256];
            snprintf(path, sizeof path, "/proc/self/fd/%d", i);
            const ssize_t length = readlink(path, target, sizeof target);
            record_text("leak", "descriptor %d (%.*s) was never closed: from open, fopen, opendir?",
                        i, length > 0 ? (int)length : 0, target);
        }
    }
}
