/*
 * Runs the loops of an operator in a way that shows dependences between their parts.
 *
 * The threads begin together. Parts are as small as the operator allows, and dealt to the threads
 * like cards, so that every thread has some; an odd count of threads takes them from the last one
 * to the first. Outputs that depend on the order of the parts then differ from those of one thread,
 * and races.c, as a thread sanitizer, finds accesses to the same memory in any loop with several
 * parts.
 */
#define _GNU_SOURCE
#include "checked_loops.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include "guarded_memory.h"

enum {
    MAX_THREADS = 64,
    MAX_PARTS = 4096, /* in a loop: larger loops have larger parts */
    MAX_LOOPS = 1000 /* with threads of their own, in a process: later ones are serial */
};

struct loop {
    void (*body)(const void *context, size_t begin, size_t end);
    const void *context;
    size_t count;
    size_t part;
    size_t part_count;
    unsigned threads;
    unsigned missing; /* threads that have not begun yet; atomic */
    bool is_recorded; /* for races.c */
};

struct worker {
    struct loop *loop;
    unsigned index;
    pthread_t thread;
};

static unsigned thread_count;
static unsigned loop_count;
static bool is_divided; /* a loop of this invocation */
static bool is_busy; /* atomic */

static void *run_parts(void *argument)
{
    const struct worker *worker = argument;
    struct loop *loop = worker->loop;
    const bool is_reversed = loop->threads % 2 != 0;

    __atomic_sub_fetch(&loop->missing, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&loop->missing, __ATOMIC_ACQUIRE) > 0) {
        sched_yield();
    }
    races_set_thread(loop->is_recorded ? worker->index + 1 : 0);
    for (size_t i = worker->index; i < loop->part_count; i += loop->threads) {
        const size_t begin = (is_reversed ? loop->part_count - 1 - i : i) * loop->part;
        const size_t rest = loop->count - begin;
        loop->body(loop->context, begin, begin + (rest < loop->part ? rest : loop->part));
    }
    races_set_thread(0);
    return NULL;
}

/* Runs a loop; a thread that cannot be started is the caller's task. */
static void run(struct loop *loop)
{
    struct worker workers[MAX_THREADS];
    bool is_started[MAX_THREADS] = {false};
    sigset_t alarm;
    sigset_t before;

    loop->missing = loop->threads;
    loop->is_recorded = loop->threads == 2;
    races_begin_loop();
    /* The timeout of a stage is a signal, with a message about the stack of the first thread. */
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, &before);
    for (unsigned i = 0; i < loop->threads; i++) {
        workers[i] = (struct worker){.loop = loop, .index = i};
        is_started[i] =
            i > 0 && pthread_create(&workers[i].thread, NULL, run_parts, &workers[i]) == 0;
        if (i > 0 && !is_started[i]) {
            __atomic_sub_fetch(&loop->missing, 1, __ATOMIC_ACQ_REL);
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    run_parts(&workers[0]);
    for (unsigned i = 1; i < loop->threads; i++) {
        if (is_started[i]) {
            pthread_join(workers[i].thread, NULL);
        } else {
            __atomic_add_fetch(&loop->missing, 1, __ATOMIC_ACQ_REL);
            loop->is_recorded = false; /* one stack for both */
            run_parts(&workers[i]);
        }
    }
}

void checked_loops_begin(unsigned threads)
{
    thread_count = threads < MAX_THREADS ? threads : MAX_THREADS;
    is_divided = false;
}

bool checked_loops_divided(void)
{
    return is_divided;
}

__attribute__((visibility("default"))) bool
checked_loop(size_t count, size_t grain,
             void (*body)(const void *context, size_t begin, size_t end), const void *context)
{
    if (thread_count < 2 || __atomic_test_and_set(&is_busy, __ATOMIC_ACQUIRE)) {
        return false;
    }
    const bool is_shared = loop_count++ < MAX_LOOPS;
    if (is_shared) {
        is_divided = true;
        struct loop loop = {body, context, count, .threads = thread_count};
        loop.part = grain * (count / grain / MAX_PARTS + 1);
        loop.part_count = count / loop.part + (count % loop.part != 0);
        run(&loop);
    }
    __atomic_clear(&is_busy, __ATOMIC_RELEASE);
    return is_shared;
}
