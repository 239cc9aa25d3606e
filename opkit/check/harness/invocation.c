/* Runs in the process of a batch, from loading the kernel to unloading it. */
#include "harness.h"
#include "memory/profile.h"

#include <errno.h>
#include <inttypes.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#ifdef HARNESS_THREAD_SANITIZER
#include <pthread.h>
#endif
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    OUTPUT_BUFFER = 1 << 16
};

static const char *const LOADING = "a constructor of the library";
static const char *const UNLOADING = "a destructor of the library";

static const struct harness_runtime *runtime;
static const struct harness_kernel *loaded;
static pid_t this_process;
static bool prepared; /* the runtime can report */
static bool done; /* only the exit of the process is left */

/* ---- Stages ---- */

static double seconds_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

/* Returns the processor time of all threads between two states of the process. */
static double processor_seconds(const struct rusage *before, const struct rusage *after)
{
    return seconds_of(after->ru_utime) - seconds_of(before->ru_utime) +
           seconds_of(after->ru_stime) - seconds_of(before->ru_stime);
}

/* A kernel that forks also returns in the new process, which ends here. */
static void exit_if_forked(void)
{
    if (getpid() != this_process) {
        _exit(EXIT_FAILURE);
    }
}

/* A node of the operator, with one invocation. */
struct node {
    const struct harness_invocation *invocation;
    unsigned index; /* in the batch */
    void *object; /* the runtime's */
    bool is_open; /* prepared and not cleaned up */
    enum harness_stage failed; /* the stage of the status */
    int status; /* the first that is not 0 */
    double seconds; /* the minimum of the kernel; below 0: none */
    double processor; /* of these, the minimum on a processor */
    double waiting; /* the minimum in calls of the system that wait */
    size_t stack; /* the maximum of the stages; 0: not measured */
};

static double min(double a, double b)
{
    return a < b ? a : b;
}

/* Adds a call of the kernel. Time in which another process had the processor is not waiting. */
static void add_time(struct node *node, double seconds, const struct rusage *before,
                     const struct rusage *after)
{
    const bool is_first = node->seconds < 0;
    const double processor = processor_seconds(before, after);
    const double waiting =
        after->ru_nvcsw > before->ru_nvcsw && seconds > processor ? seconds - processor : 0;

    node->seconds = is_first ? seconds : min(node->seconds, seconds);
    node->processor = is_first ? processor : min(node->processor, processor);
    node->waiting = is_first ? waiting : min(node->waiting, waiting);
}

/* Records the seconds of a call, and the ticks of each phase. */
static void record_profile(double seconds, const uint64_t *ticks)
{
    static const char *const NAMES[] = {
#define PROFILE_PHASE(phase, name) name,
        PROFILE_PHASES(PROFILE_PHASE)
#undef PROFILE_PHASE
    };
    char text[64 * LENGTH(NAMES)];
    int length = snprintf(text, sizeof text, "%.9f", seconds);

    for (size_t i = 0; i < LENGTH(NAMES); i++) {
        length += snprintf(text + length, sizeof text - (size_t)length, " %s %" PRIu64, NAMES[i],
                           ticks[i]);
    }
    record("profile", text, (size_t)length);
}

/* Runs a stage unless an earlier one has failed; clean_up always runs. */
static void run_stage(struct node *node, enum harness_stage stage)
{
    const struct harness_invocation *invocation = node->invocation;
    const char *name = runtime->stage_names[stage];
    const bool is_profiled =
        invocation->profiled && stage == HARNESS_PROCESS && runtime->begin_profile != NULL;
    struct rusage before;
    struct rusage after;

    if (node->status != 0 && stage != HARNESS_CLEAN_UP) {
        return;
    }
    start_timer(name, runtime->phase, invocation->limit, true);
    if (invocation->guarded) {
        paint_stack(invocation->fill, !invocation->guards_before); /* once is enough */
    }
    getrusage(RUSAGE_SELF, &before);
    const double start = seconds_now();
    if (is_profiled) {
        runtime->begin_profile();
    }
    const int status = runtime->stages[stage](node->object);
    const uint64_t *ticks = is_profiled ? runtime->end_profile() : NULL;
    const double seconds = seconds_now() - start;
    getrusage(RUSAGE_SELF, &after);
    exit_if_forked();
    stop_timer();
    const size_t stack = invocation->guarded ? used_stack(invocation->fill) : 0;
    node->stack = stack > node->stack ? stack : node->stack;
    if (ticks != NULL) {
        record_profile(seconds, ticks);
    }
    if (stage == HARNESS_PROCESS) {
        add_time(node, seconds, &before, &after);
    }
    if (node->status == 0 && status != 0) {
        node->status = status;
        node->failed = stage;
    }
}

static void record_status(int status, const char *stage)
{
    record_text("status", "%d", status);
    record_text("stage", "%s", stage);
}

/* Records a variable that the initializer has written, and the kernel may not find. */
static void record_thread_local(void)
{
    const ptrdiff_t offset = loaded->changed_thread_local();
    if (offset >= 0) {
        record_text("thread_local", "%td", offset);
    }
}

/* Makes and sets up the node of an invocation. */
static struct node open_node(void *entry, const struct batch *batch, unsigned index)
{
    struct harness_error error = {.function = "prepare"};
    struct node node = {&batch->invocations[index], index, .seconds = -1};

    record_text("invocation", "%u", index);
    start_timer("the preparation", NULL, node.invocation->limit, false);
    prepared = true;
    const int status = runtime->prepare(entry, node.invocation, record, &error, &node.object);
    if (error.message[0] != '\0') {
        record("refused", error.message, strlen(error.message));
    } else if (status != 0) {
        record_status(status, error.function);
    } else {
        node.is_open = true;
        run_stage(&node, HARNESS_SET_UP);
        compare_process(runtime->stage_names[HARNESS_SET_UP]);
        if (index == 0) { /* the variables have their first values until then */
            record_thread_local();
        }
    }
    return node;
}

/* Runs the kernel of an open node. */
static void process_node(struct node *node)
{
    const unsigned threads = count_threads();

    if (!node->is_open) {
        return;
    }
    record_text("invocation", "%u", node->index);
    for (unsigned i = 0; i < node->invocation->repeat; i++) {
        run_stage(node, HARNESS_PROCESS);
    }
    compare_process(runtime->stage_names[HARNESS_PROCESS]);
    compare_threads(runtime->stage_names[HARNESS_PROCESS], threads);
}

static void record_outputs(const struct harness_invocation *invocation)
{
    for (unsigned i = 0; i < invocation->count; i++) {
        const struct harness_value *value = &invocation->values[i];
        if (value->role == HARNESS_OUTPUT) {
            record("output", value->bytes, value->size);
        }
    }
}

/* Releases a node, and records its results. */
static void close_node(struct node *node)
{
    record_text("invocation", "%u", node->index);
    if (node->is_open) {
        run_stage(node, HARNESS_CLEAN_UP);
        compare_process(runtime->stage_names[HARNESS_CLEAN_UP]);
        record_status(node->status,
                      runtime->stage_names[node->status != 0 ? node->failed : HARNESS_PROCESS]);
        if (node->seconds >= 0) {
            record_text("seconds", "%.9f", node->seconds);
            record_text("usage", "%zu %.6f %.6f", node->stack, node->processor, node->waiting);
        }
        if (node->status == 0) {
            record_outputs(node->invocation);
        }
    }
    runtime->report();
}

/* Runs the invocations one after the other, each with a node of its own. */
static void run_in_order(void *entry, const struct batch *batch)
{
    for (unsigned i = 0; i < batch->count; i++) {
        const struct resources before = read_resources();
        struct node node = open_node(entry, batch, i);
        process_node(&node);
        close_node(&node);
        compare_resources(runtime->stage_names[HARNESS_CLEAN_UP], &before);
    }
}

/* Runs each invocation before and after the next one, while both nodes are alive. */
static void run_alternately(void *entry, const struct batch *batch)
{
    struct node node = open_node(entry, batch, 0);

    process_node(&node);
    for (unsigned i = 1; i < batch->count; i++) {
        struct node next = open_node(entry, batch, i);
        process_node(&next);
        process_node(&node);
        close_node(&node);
        node = next;
    }
    close_node(&node);
}

/* ---- The process ---- */

static void prepare_memory(const struct harness_invocation *invocation)
{
    static char buffers[2][OUTPUT_BUFFER];

    /* Static buffers, so that stdio does not allocate from the kernel's heap. */
    setvbuf(stdout, buffers[0], _IOFBF, sizeof buffers[0]);
    setvbuf(stderr, buffers[1], _IOFBF, sizeof buffers[1]);
#ifdef __GLIBC__
    /* Memory that libc allocates for its callers, such as strdup, holds the fill, too. */
    if (invocation->guarded) {
        mallopt(M_PERTURB, (uint8_t)~invocation->fill);
    }
#endif
    (void)invocation;
}

/* Runs last of all destructors. */
__attribute__((destructor(101))) static void complete(void)
{
    if (done && getpid() == this_process) {
        shared->complete = true;
    }
}

/* Reports the runtime's log after a fault in a stage, and ends the process. */
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

/* Returns the address of the kernel's library, and records it; NULL: there is none. */
static const char *record_base(const struct harness_kernel *kernel, const void *entry)
{
    const ptrdiff_t offset = kernel->offset((uintptr_t)entry);
    if (offset == 0) {
        return NULL;
    }
    const char *base = (const char *)entry - offset;
    record_text("base", "%" PRIuPTR, (uintptr_t)base);
    return base;
}

#ifdef HARNESS_THREAD_SANITIZER
static void *return_at_once(void *argument)
{
    return argument;
}

/* Makes the sanitizer start its own thread, which is no thread of the kernel's. */
static void start_sanitizer(void)
{
    static const struct timespec INTERVAL = {.tv_nsec = 1000 * 1000};
    pthread_t thread;

    if (pthread_create(&thread, NULL, return_at_once, NULL) == 0) {
        pthread_join(thread, NULL);
    }
    /* A thread leaves the folder shortly after pthread_join. */
    for (int i = 0; i < 100 && count_threads() > 2; i++) {
        nanosleep(&INTERVAL, NULL);
    }
}
#endif

void run_batch(const struct batch *batch, const struct harness_kernel *kernel)
{
    const struct harness_invocation *first = &batch->invocations[0];
    char problem[512];

    runtime = kernel->runtime;
    loaded = kernel;
    this_process = getpid();
    prepare_memory(first);
#ifdef HARNESS_THREAD_SANITIZER
    start_sanitizer();
#endif
    catch_faults(kernel, finish_after_fault);
    limit_stack(first->stack_size);
    snapshot_process();

    start_timer(LOADING, NULL, first->limit, true);
    void *entry = kernel->load(problem, sizeof problem);
    exit_if_forked();
    stop_timer();
    compare_process(LOADING);
    if (entry == NULL) {
        record("refused", problem, strlen(problem));
    } else {
        const char *base = record_base(kernel, entry);
        (batch->alternates ? run_alternately : run_in_order)(entry, batch);
        if (base != NULL && batch->counters_size != 0) {
            record("counters", base + batch->counters, batch->counters_size);
        }
        start_timer(UNLOADING, NULL, first->limit, true);
        kernel->unload();
    }
    fflush(stdout);
    fflush(stderr);
    done = true;
    exit(EXIT_SUCCESS);
}
