/* What happens in the process of one invocation, from loading the kernel to unloading it. */
#include "harness.h"

#include <errno.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    PAINTED_STACK = 1 << 16,
    OUTPUT_BUFFER = 1 << 16
};

static const char *const LOADING = "a constructor of the library";
static const char *const UNLOADING = "a destructor of the library";

static const struct harness_runtime *runtime;
static pid_t this_process;
static bool prepared; /* the runtime has something to report */
static bool done; /* only the end of the process is left */

/* ---- Stages ---- */

/* Leaves the fill where the kernel's local variables will be. */
static __attribute__((noinline)) void paint_stack(uint8_t fill)
{
    uint8_t painted[PAINTED_STACK];
    memset(painted, fill, sizeof painted);
    __asm__ volatile("" : : "r"(painted) : "memory");
}

static double seconds_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* A kernel that forks returns twice; the second return is in the new process, which ends here. */
static void exit_if_forked(void)
{
    if (getpid() != this_process) {
        _exit(EXIT_FAILURE);
    }
}

/* Runs a stage; returns its status, and how long it took. */
static int run_stage(enum harness_stage stage, const struct harness_invocation *invocation,
                     double *seconds)
{
    const char *name = runtime->stage_names[stage];

    start_timer(name, runtime->phase, invocation->limit, true);
    if (invocation->guarded) {
        paint_stack(invocation->fill);
    }
    const double start = seconds_now();
    const int status = runtime->stages[stage]();
    *seconds = seconds_now() - start;
    exit_if_forked();
    stop_timer();
    return status;
}

static void record_status(int status, const char *stage)
{
    record_text("status", "%d", status);
    record_text("stage", "%s", stage);
}

/* Runs the stages of a prepared kernel; returns whether all of them succeeded. */
static bool run_stages(const struct harness_invocation *invocation)
{
    double best = -1;
    double seconds;
    enum harness_stage stage = HARNESS_SET_UP;
    int status = run_stage(stage, invocation, &seconds);

    compare_process(runtime->stage_names[stage]);
    for (unsigned i = 0; i < invocation->repeat && status == 0; i++) {
        stage = HARNESS_PROCESS;
        status = run_stage(stage, invocation, &seconds);
        best = best < 0 || seconds < best ? seconds : best;
    }
    compare_process(runtime->stage_names[stage]);
    const int last = run_stage(HARNESS_CLEAN_UP, invocation, &seconds);
    compare_process(runtime->stage_names[HARNESS_CLEAN_UP]);
    if (status == 0 && last != 0) {
        stage = HARNESS_CLEAN_UP;
        status = last;
    }
    record_status(status, runtime->stage_names[stage]);
    if (best >= 0) {
        record_text("seconds", "%.9f", best);
    }
    return status == 0;
}

static void run(void *entry, const struct harness_invocation *invocation)
{
    struct harness_error error = {.function = "prepare"};

    start_timer("the preparation", NULL, invocation->limit, false);
    prepared = true;
    const int status = runtime->prepare(entry, invocation, record, &error);
    if (error.message[0] != '\0') {
        record("refused", error.message, strlen(error.message));
    } else if (status != 0) {
        record_status(status, error.function);
    } else if (run_stages(invocation)) {
        for (unsigned i = 0; i < invocation->count; i++) {
            const struct harness_value *value = &invocation->values[i];
            if (value->role == HARNESS_OUTPUT) {
                record("output", value->bytes, value->size);
            }
        }
    }
    runtime->report();
}

/* ---- The process ---- */

static void prepare_memory(const struct harness_invocation *invocation)
{
    static char buffers[2][OUTPUT_BUFFER];

    /* Static buffers, so that stdio allocates none from the kernel's heap. */
    setvbuf(stdout, buffers[0], _IOFBF, sizeof buffers[0]);
    setvbuf(stderr, buffers[1], _IOFBF, sizeof buffers[1]);
#ifdef __GLIBC__
    /* Memory that libc allocates for its callers, in strdup for instance, holds the fill, too. */
    if (invocation->guarded) {
        mallopt(M_PERTURB, (uint8_t)~invocation->fill);
    }
#endif
    (void)invocation;
}

/* The last of all destructors. */
__attribute__((destructor(101))) static void complete(void)
{
    if (done && getpid() == this_process) {
        shared->complete = true;
    }
}

/* Ends the process after a fault in a stage: reports what the runtime has logged. */
static _Noreturn void finish_after_fault(void)
{
    shared->fault = true;
    if (prepared) {
        runtime->report();
    }
    fflush(stdout);
    fflush(stderr);
    _exit(EXIT_FAILURE);
}

void run_invocation(const struct harness_invocation *invocation,
                    const struct harness_kernel *kernel)
{
    char problem[512];

    runtime = kernel->runtime;
    this_process = getpid();
    prepare_memory(invocation);
    catch_faults(kernel, finish_after_fault);
    snapshot_process();

    start_timer(LOADING, NULL, invocation->limit, true);
    void *entry = kernel->load(problem, sizeof problem);
    exit_if_forked();
    stop_timer();
    compare_process(LOADING);
    if (entry == NULL) {
        record("refused", problem, strlen(problem));
    } else {
        run(entry, invocation);
        start_timer(UNLOADING, NULL, invocation->limit, true);
        kernel->unload();
    }
    fflush(stdout);
    fflush(stderr);
    done = true;
    exit(EXIT_SUCCESS);
}
