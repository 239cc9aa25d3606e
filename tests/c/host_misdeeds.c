/*
 * An operator that copies a float16 tensor, and damages its process: the param `deed` selects the
 * kernel's fault; the environment variable MISDEED, that of its constructor or destructor.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "VX/vx_khr_cnn.h"
#include "VX/vx_helper.h"

enum deed {
    NOTHING,
    EXIT,
    FAST_EXIT,
    C_EXIT,
    QUICK_EXIT,
    EXIT_LATER,
    EXIT_AT_EXIT,
    PTHREAD_EXIT,
    HANDLE_SEGV,
    HANDLE_SEGV_AND_CRASH,
    NO_SIGNAL_STACK,
    BLOCK_ALARM,
    BLOCK_ALARM_AND_LOOP,
    IGNORE_ALARM_AND_LOOP,
    STOP_ALARM_AND_LOOP,
    TRAP_FLOATS,
    ROUND_UP,
    LIMIT_MEMORY,
    LIMIT_FILES,
    SMASH_STACK,
    KILL,
    KILL_GROUP,
    KILL_PARENT,
    TERMINATE,
    HANG_UP,
    STOP,
    FORK,
    FORK_AND_LOOP,
    FORK_DAEMON,
    CLOSE_ALL,
    CRASH_IN_THREAD,
    LEAVE_THREAD,
    LEAK_DESCRIPTOR,
    LEAK_FILE,
    LEAK_FOLDER,
    LEAK_LINE,
    LEAK_TEXT,
    CHANGE_FOLDER,
    CHANGE_MASK,
    CHANGE_LOCALE,
    CHANGE_ENVIRONMENT,
    CHANGE_PRIORITY,
    CHANGE_PROCESSORS,
    UNSET_SIGN,
    UNSET_ZERO,
    UNSET_ALIGNED,
    UNSET_PAGE,
    PRINT,
    PRINT_MUCH,
    PRINT_MUCH_ERRORS
};

enum {
    INPUT,
    OUTPUT,
    DEED,
    COUNT
};

static volatile int zero;
static volatile int sink;
extern const void *volatile leaked;
const void *volatile leaked;

static void loop(void)
{
    while (zero == 0) {
    }
}

static void crash(void)
{
    *(volatile int *)(uintptr_t)zero = 1;
}

static void exit_at_exit(void)
{
    _exit(0);
}

static void exit_in_handler(int number)
{
    (void)number;
    _exit(0);
}

/* The library of threads is not allowed in an operator for a board. */
#ifdef WITH_THREADS
static void *crash_thread(void *nothing)
{
    crash();
    return nothing;
}

static void crash_in_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, crash_thread, NULL);
    pthread_join(thread, NULL);
}

static void *wait_in_thread(void *nothing)
{
    pause();
    return nothing;
}

static void leave_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, wait_in_thread, NULL);
}
#else
static void crash_in_thread(void)
{
}

static void leave_thread(void)
{
}
#endif

static void block_signal(int number)
{
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, number);
    sigprocmask(SIG_BLOCK, &mask, NULL);
}

static __attribute__((noinline)) int recurse(int depth)
{
    volatile char frame[4096];
    frame[0] = (char)depth;
    return depth < 0 ? 0 : recurse(depth + 1) + frame[0];
}

static __attribute__((noinline)) void smash_stack(void)
{
    char local[8];
    char *volatile beyond = local;
    memset(beyond, 0x41, 4096);
}

static void limit(int resource)
{
    const struct rlimit none = {0, 0};
    setrlimit(resource, &none);
}

static void print_much(FILE *stream)
{
    static const char LINE[] = "the same hundred bytes again and again, as from a line"
                               " for debugging in the innermost loop\n";
    fputs("the first line\n", stream);
    for (int i = 0; i < 1000000; i++) {
        fputs(LINE, stream);
    }
    fputs("the last line\n", stream);
}

static void *allocate(enum deed deed)
{
#ifdef __GLIBC__ /* the harness does not replace this function of glibc */
    if (deed == UNSET_PAGE) {
        return valloc(4096);
    }
#endif
    return deed == UNSET_ALIGNED ? memalign(64, 4096) : malloc(4096);
}

/* Reads memory that was never written, and computes an element from it. */
static vx_int16 unset(enum deed deed)
{
    vx_int16 *memory = allocate(deed);
    const vx_int16 value = ((volatile vx_int16 *)memory)[300];

    free(memory);
    if (deed == UNSET_SIGN) {
        return value < 0;
    }
    return deed == UNSET_ZERO ? value == 0 : value;
}

static void end_process(enum deed deed)
{
    static int calls;

    switch (deed) {
    case EXIT:
        exit(0);
    case FAST_EXIT:
        _exit(0);
    case C_EXIT:
        _Exit(0);
    case QUICK_EXIT:
        quick_exit(0);
    case EXIT_LATER:
        if (++calls == 2) {
            exit(0);
        }
        break;
    case EXIT_AT_EXIT:
        atexit(exit_at_exit);
        break;
    case PTHREAD_EXIT:
        pthread_exit(NULL);
    default:
        break;
    }
}

static void change_signals(enum deed deed)
{
    switch (deed) {
    case HANDLE_SEGV:
        signal(SIGSEGV, exit_in_handler);
        break;
    case HANDLE_SEGV_AND_CRASH:
        signal(SIGSEGV, exit_in_handler);
        crash();
        break;
    case NO_SIGNAL_STACK:
        sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
        sink = recurse(zero);
        break;
    case BLOCK_ALARM:
        block_signal(SIGALRM);
        break;
    case BLOCK_ALARM_AND_LOOP:
        block_signal(SIGALRM);
        loop();
        break;
    case IGNORE_ALARM_AND_LOOP:
        signal(SIGALRM, SIG_IGN);
        loop();
        break;
    case STOP_ALARM_AND_LOOP:
        alarm(0);
        setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
        loop();
        break;
    default:
        break;
    }
}

static void send_signal(enum deed deed)
{
    switch (deed) {
    case KILL:
        raise(SIGKILL);
        break;
    case KILL_GROUP:
        kill(0, SIGKILL);
        break;
    case KILL_PARENT:
        kill(getppid(), SIGKILL);
        loop();
        break;
    case TERMINATE:
        raise(SIGTERM);
        break;
    case HANG_UP:
        raise(SIGHUP);
        break;
    case STOP:
        raise(SIGSTOP);
        break;
    default:
        break;
    }
}

static void change_settings(enum deed deed)
{
    switch (deed) {
    case TRAP_FLOATS:
#ifdef __GLIBC__
        feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_INEXACT);
#endif
        break;
    case ROUND_UP:
        fesetround(FE_UPWARD);
        break;
    case LIMIT_MEMORY:
        limit(RLIMIT_AS);
        break;
    case LIMIT_FILES:
        limit(RLIMIT_FSIZE);
        limit(RLIMIT_NOFILE);
        break;
    case CLOSE_ALL:
        for (int i = 0; i < 1024; i++) {
            close(i);
        }
        break;
    default:
        break;
    }
}

static void start_process(enum deed deed)
{
    switch (deed) {
    case FORK:
        sink = fork();
        break;
    case FORK_AND_LOOP:
        if (fork() == 0) {
            loop();
        }
        break;
    case FORK_DAEMON:
        if (fork() == 0) {
            setsid();
            loop();
        }
        break;
    default:
        break;
    }
}

/* Makes something of libc's that is never released. */
static void leak(enum deed deed)
{
    char *text = NULL;
    size_t size = 0;

    switch (deed) {
    case LEAK_DESCRIPTOR:
        sink = open("/dev/null", O_RDONLY);
        break;
    case LEAK_FILE:
        leaked = fopen("/dev/null", "r");
        break;
    case LEAK_FOLDER:
        leaked = opendir("/");
        break;
    case LEAK_LINE: {
        FILE *file = fopen("/proc/self/stat", "r");
        sink = getline(&text, &size, file) > 0;
        fclose(file);
        leaked = text;
        break;
    }
    case LEAK_TEXT:
        leaked = strdup("a text");
        break;
    default:
        break;
    }
}

static void use_one_processor(void)
{
    cpu_set_t all;
    cpu_set_t first;
    int processor = 0;

    sched_getaffinity(0, sizeof all, &all);
    while (!CPU_ISSET(processor, &all)) {
        processor++;
    }
    CPU_ZERO(&first);
    CPU_SET(processor, &first);
    sched_setaffinity(0, sizeof first, &first);
}

/* Changes a setting of the process, for the application, too. */
static void change_application(enum deed deed)
{
    switch (deed) {
    case CHANGE_FOLDER:
        sink = chdir("/");
        break;
    case CHANGE_MASK:
        umask(0);
        break;
    case CHANGE_LOCALE:
        uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
        break;
    case CHANGE_ENVIRONMENT:
        setenv("OMP_NUM_THREADS", "1", 1);
        break;
    case CHANGE_PRIORITY:
        sink = nice(1);
        break;
    case CHANGE_PROCESSORS:
        use_one_processor();
        break;
    default:
        break;
    }
}

static void misbehave(enum deed deed)
{
    end_process(deed);
    change_signals(deed);
    send_signal(deed);
    change_settings(deed);
    start_process(deed);
    leak(deed);
    change_application(deed);
    switch (deed) {
    case SMASH_STACK:
        smash_stack();
        break;
    case CRASH_IN_THREAD:
        crash_in_thread();
        break;
    case LEAVE_THREAD:
        leave_thread();
        break;
    case PRINT:
        puts("a line of the kernel's");
        break;
    case PRINT_MUCH:
        print_much(stdout);
        break;
    case PRINT_MUCH_ERRORS:
        print_much(stderr);
        break;
    default:
        break;
    }
}

static bool is_deed(const char *name)
{
    const char *deed = getenv("MISDEED");
    return deed != NULL && strcmp(deed, name) == 0;
}

__attribute__((constructor)) static void construct(void)
{
    if (is_deed("CONSTRUCTOR_EXITS")) {
        exit(0);
    } else if (is_deed("CONSTRUCTOR_LOOPS")) {
        loop();
    } else if (is_deed("CONSTRUCTOR_CRASHES")) {
        crash();
    }
}

__attribute__((destructor)) static void destruct(void)
{
    if (is_deed("DESTRUCTOR_EXITS")) {
        _exit(0);
    } else if (is_deed("DESTRUCTOR_LOOPS")) {
        loop();
    } else if (is_deed("DESTRUCTOR_CRASHES")) {
        crash();
    }
}

static vx_status VX_CALLBACK kernel_function(vx_node node, const vx_reference *parameters,
                                             vx_uint32 count)
{
    const vx_size start[] = {0};
    const vx_size end[] = {8};
    const vx_size strides[] = {sizeof(vx_int16)};
    vx_int16 elements[8];
    vx_int32 deed = 0;

    (void)node;
    (void)count;
    vx_status status =
        vxCopyScalar((vx_scalar)parameters[DEED], &deed, VX_READ_ONLY, VX_MEMORY_TYPE_HOST);
    if (status == VX_SUCCESS) {
        status = vxCopyTensorPatch((vx_tensor)parameters[INPUT], 1, start, end, strides, elements,
                                   VX_READ_ONLY, VX_MEMORY_TYPE_HOST);
    }
    if (status == VX_SUCCESS) {
        misbehave((enum deed)deed);
        if (deed >= UNSET_SIGN && deed <= UNSET_PAGE) {
            elements[0] = (vx_int16)(elements[0] + unset((enum deed)deed));
        }
        status = vxCopyTensorPatch((vx_tensor)parameters[OUTPUT], 1, start, end, strides, elements,
                                   VX_WRITE_ONLY, VX_MEMORY_TYPE_HOST);
    }
    return status;
}

static vx_status VX_CALLBACK validator(vx_node node, const vx_reference parameters[],
                                       vx_uint32 count, vx_meta_format metas[])
{
    (void)node;
    return count == COUNT ? vxSetMetaFormatFromReference(metas[OUTPUT], parameters[INPUT])
                          : VX_ERROR_INVALID_PARAMETERS;
}

static vx_param_description_t kernel_params[] = {
    {VX_INPUT, VX_TYPE_TENSOR, VX_PARAMETER_STATE_REQUIRED},
    {VX_OUTPUT, VX_TYPE_TENSOR, VX_PARAMETER_STATE_REQUIRED},
    {VX_INPUT, VX_TYPE_SCALAR, VX_PARAMETER_STATE_REQUIRED},
};

static vx_kernel_description_t kernel = {
    .name = "misdeeds_cpu",
    .function = kernel_function,
    .parameters = kernel_params,
    .numParams = COUNT,
    .validate = validator,
};

extern VX_API_ENTRY vx_kernel_description_t *vx_kernel_Misdeeds_list[];
vx_kernel_description_t *vx_kernel_Misdeeds_list[] = {&kernel, NULL};
