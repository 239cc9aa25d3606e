/*
 * Threads for opkit_parallel_for. They run from the first opkit_retain_threads to the last
 * opkit_release_threads, and sleep between loops.
 *
 * A file that defines OPKIT_THREADS before its first include has threads of its own. It defines
 * _GNU_SOURCE, too.
 *
 * Plain C11 and C++11, with GNU's atomic operations and POSIX threads.
 */
#if defined(OPKIT_THREADS) && !defined(OPKIT_THREAD_POOL_H) /* editors read it alone, too */
#define OPKIT_THREAD_POOL_H

#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#ifdef __cplusplus
#define OPKIT_NOEXCEPT noexcept /* an exception that leaves a part ends the process */
#else
#define OPKIT_NOEXCEPT
#endif

enum {
    OPKIT_MAX_THREADS = 64,
    /* Fast cores take more parts than slow ones, if there are enough of them. */
    OPKIT_PARTS_PER_THREAD = 16
};

/* A loop, whose parts several threads take one by one. */
struct opkit_shared_loop {
    void (*body)(const void *context, size_t begin, size_t end);
    const void *context;
    size_t count;
    size_t part; /* indices in a part, but the last */
    size_t part_count;
    size_t next; /* the next part to take; atomic */
    fenv_t floating_point; /* rounding mode and traps of the caller, for all threads */
};

static pthread_mutex_t opkit_users_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t opkit_pool_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opkit_pool_wakes = PTHREAD_COND_INITIALIZER; /* workers: a loop, or the end */
static pthread_cond_t opkit_pool_is_idle = PTHREAD_COND_INITIALIZER; /* no worker is in the loop */

static struct {
    size_t users; /* with opkit_users_lock, as are the next two */
    size_t worker_count; /* threads besides a loop's caller; read by atomic operations, too */
    pthread_t workers[OPKIT_MAX_THREADS - 1];
    pid_t process; /* that has the workers, unlike processes that it forks; atomic */
    bool is_busy; /* with a loop; atomic */
    struct opkit_shared_loop *loop; /* for workers, or NULL; with opkit_pool_lock, as the rest */
    unsigned long turn; /* the number of the loop: no worker enters one twice */
    size_t active; /* workers in the loop */
    bool is_ending;
} opkit_pool;

/* Takes parts of a loop, until none is left. */
static inline void opkit_run_parts(struct opkit_shared_loop *loop) OPKIT_NOEXCEPT
{
    size_t index;

    while ((index = __atomic_fetch_add(&loop->next, 1, __ATOMIC_RELAXED)) < loop->part_count) {
        const size_t begin = index * loop->part;
        const size_t rest = loop->count - begin;
        loop->body(loop->context, begin, begin + (rest < loop->part ? rest : loop->part));
    }
}

static inline void *opkit_run_worker(void *unused)
{
    unsigned long turn = 0;

    pthread_mutex_lock(&opkit_pool_lock);
    while (!opkit_pool.is_ending) {
        struct opkit_shared_loop *loop = opkit_pool.loop;
        if (loop == NULL || turn == opkit_pool.turn) {
            pthread_cond_wait(&opkit_pool_wakes, &opkit_pool_lock);
            continue;
        }
        turn = opkit_pool.turn;
        opkit_pool.active++;
        pthread_mutex_unlock(&opkit_pool_lock);
        fesetenv(&loop->floating_point);
        opkit_run_parts(loop);
        pthread_mutex_lock(&opkit_pool_lock);
        if (--opkit_pool.active == 0) {
            pthread_cond_signal(&opkit_pool_is_idle);
        }
    }
    pthread_mutex_unlock(&opkit_pool_lock);
    return unused;
}

/* Returns OPKIT_THREADS or, if that is 0, the count of processors for this process. */
static inline size_t opkit_thread_count(void)
{
    cpu_set_t processors;
    size_t count = OPKIT_THREADS;

    if (count == 0) {
        CPU_ZERO(&processors);
        const int status = sched_getaffinity(0, sizeof processors, &processors);
        count = status == 0 ? (size_t)CPU_COUNT(&processors) : 1;
    }
    return count < OPKIT_MAX_THREADS ? count : (size_t)OPKIT_MAX_THREADS;
}

/* Starts the workers; with fewer than asked for, loops take longer. Requires opkit_users_lock. */
static inline void opkit_start_workers(void)
{
    const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    const size_t wanted = opkit_thread_count();
    size_t count = 0;
    sigset_t blocked;
    sigset_t before;

    if (opkit_pool.process != 0) {
        return; /* a process that was forked while there were workers */
    }
    /* Signals are for the application's own threads. */
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        sigdelset(&blocked, faults[i]);
    }
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    opkit_pool.is_ending = false;
    while (count + 1 < wanted &&
           pthread_create(&opkit_pool.workers[count], NULL, opkit_run_worker, NULL) == 0) {
        count++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    __atomic_store_n(&opkit_pool.process, getpid(), __ATOMIC_RELAXED);
    __atomic_store_n(&opkit_pool.worker_count, count, __ATOMIC_RELEASE);
}

/* Ends the workers, if this process has them. Requires opkit_users_lock. */
static inline void opkit_end_workers(void)
{
    const size_t count = opkit_pool.worker_count;

    if (opkit_pool.process != getpid()) {
        return;
    }
    __atomic_store_n(&opkit_pool.worker_count, 0, __ATOMIC_RELAXED);
    pthread_mutex_lock(&opkit_pool_lock);
    opkit_pool.is_ending = true;
    pthread_cond_broadcast(&opkit_pool_wakes);
    pthread_mutex_unlock(&opkit_pool_lock);
    for (size_t i = 0; i < count; i++) {
        pthread_join(opkit_pool.workers[i], NULL);
    }
    __atomic_store_n(&opkit_pool.process, 0, __ATOMIC_RELAXED);
}

/* Adds a user of the threads, such as a node of a model; the first one starts them. */
static inline void opkit_retain_threads(void)
{
    pthread_mutex_lock(&opkit_users_lock);
    if (opkit_pool.users++ == 0) {
        opkit_start_workers();
    }
    pthread_mutex_unlock(&opkit_users_lock);
}

/* Removes a user; the last one ends the threads. */
static inline void opkit_release_threads(void)
{
    pthread_mutex_lock(&opkit_users_lock);
    if (opkit_pool.users > 0 && --opkit_pool.users == 0) {
        opkit_end_workers();
    }
    pthread_mutex_unlock(&opkit_users_lock);
}

/* No thread may run code of a library that is unloaded, even if its user never releases it. */
__attribute__((destructor)) static void opkit_unload_threads(void)
{
    if (pthread_mutex_trylock(&opkit_users_lock) == 0) {
        opkit_end_workers();
        pthread_mutex_unlock(&opkit_users_lock);
    }
}

/*
 * Runs a loop in several threads, and returns true. Returns false if the caller has to run it
 * alone: without workers, in a forked process, and beside or inside of another loop.
 */
static inline bool opkit_share_loop(size_t count, size_t grain,
                                    void (*body)(const void *context, size_t begin, size_t end),
                                    const void *context) OPKIT_NOEXCEPT
{
    const size_t workers = __atomic_load_n(&opkit_pool.worker_count, __ATOMIC_ACQUIRE);
    struct opkit_shared_loop loop;

    if (workers == 0 || __atomic_load_n(&opkit_pool.process, __ATOMIC_RELAXED) != getpid() ||
        __atomic_test_and_set(&opkit_pool.is_busy, __ATOMIC_ACQUIRE)) {
        return false;
    }
    /* In parts of whole grains, the elements of a vector stay together for any count of threads. */
    const size_t grains = count / grain / ((workers + 1) * OPKIT_PARTS_PER_THREAD);
    loop.body = body;
    loop.context = context;
    loop.count = count;
    loop.part = grain * (grains > 0 ? grains : 1);
    loop.part_count = count / loop.part + (count % loop.part != 0);
    loop.next = 0;
    fegetenv(&loop.floating_point);

    pthread_mutex_lock(&opkit_pool_lock);
    opkit_pool.loop = &loop;
    opkit_pool.turn++;
    pthread_cond_broadcast(&opkit_pool_wakes);
    pthread_mutex_unlock(&opkit_pool_lock);
    opkit_run_parts(&loop);
    pthread_mutex_lock(&opkit_pool_lock);
    opkit_pool.loop = NULL; /* workers that wake up later do not enter it */
    while (opkit_pool.active > 0) {
        pthread_cond_wait(&opkit_pool_is_idle, &opkit_pool_lock);
    }
    pthread_mutex_unlock(&opkit_pool_lock);
    __atomic_clear(&opkit_pool.is_busy, __ATOMIC_RELEASE);
    return true;
}

#endif
