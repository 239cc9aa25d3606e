/*
 * Loops in several threads: ends with the status 0, or prints the failed expectation.
 *
 *     parallel_program TEST COUNT GRAIN
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "opkit/compute/parallel.h"

#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPECT(condition)                                                   \
    do {                                                                    \
        if (!(condition)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            exit(EXIT_FAILURE);                                             \
        }                                                                   \
    } while (0)

struct visits {
    size_t count;
    size_t grain;
    unsigned char *seen;
    size_t *parts; /* atomic */
    pthread_t caller;
    size_t *of_others; /* parts that another thread ran; atomic */
    int rounding;
};

static void visit(const void *context, size_t begin, size_t end)
{
    const struct visits *visits = (const struct visits *)context;

    EXPECT(begin < end && end <= visits->count);
    EXPECT(end - begin >= visits->grain || end == visits->count);
    EXPECT(visits->grain == 0 || begin % visits->grain == 0);
    EXPECT(fegetround() == visits->rounding);
    for (size_t i = begin; i < end; i++) {
        visits->seen[i]++;
    }
    __atomic_fetch_add(visits->parts, 1, __ATOMIC_RELAXED);
    if (!pthread_equal(pthread_self(), visits->caller)) {
        __atomic_fetch_add(visits->of_others, 1, __ATOMIC_RELAXED);
    }
}

/* Runs a loop; fails unless it visits each index once. Returns the parts that others ran. */
static size_t run(size_t count, size_t grain, size_t *parts)
{
    size_t of_others = 0;
    const struct visits visits = {
        count,      grain,        (unsigned char *)calloc(count + 1, 1), parts, pthread_self(),
        &of_others, fegetround(),
    };

    EXPECT(visits.seen != NULL);
    *parts = 0;
    opkit_parallel_for(count, grain, visit, &visits);
    for (size_t i = 0; i < count; i++) {
        EXPECT(visits.seen[i] == 1);
    }
    EXPECT(visits.seen[count] == 0);
    free(visits.seen);
    return of_others;
}

static unsigned more_threads; /* of a sanitizer */

/* Returns the count of threads, as if the process had begun with one. */
static unsigned threads_now(void)
{
    struct stat threads;
    EXPECT(stat("/proc/self/task", &threads) == 0);
    return (unsigned)threads.st_nlink - 2 - more_threads;
}

/* Threads leave the folder shortly after they are joined. */
static void expect_threads(unsigned count)
{
    for (int i = 0; i < 1000 && threads_now() != count; i++) {
        usleep(1000);
    }
    EXPECT(threads_now() == count);
}

static size_t expected_threads(void)
{
    cpu_set_t processors;
    if (OPKIT_THREADS != 0) {
        return OPKIT_THREADS;
    }
    EXPECT(sched_getaffinity(0, sizeof processors, &processors) == 0);
    return (size_t)CPU_COUNT(&processors);
}

/* ---- Tests ---- */

static void test_once(size_t count, size_t grain)
{
    size_t parts = 0;

    opkit_retain_threads();
    for (int i = 0; i < 20; i++) {
        run(count, grain, &parts);
        EXPECT(count <= grain ? parts == (count > 0) : parts >= 1);
    }
    opkit_release_threads();
    expect_threads(1);
}

/* Some part of a long loop runs in another thread, with the rounding mode of the caller. */
static void test_shared(size_t count, size_t grain)
{
    size_t parts = 0;
    size_t of_others = 0;

    opkit_retain_threads();
    EXPECT(threads_now() == expected_threads());
    fesetround(FE_UPWARD);
    for (int i = 0; i < 1000 && of_others == 0; i++) {
        of_others += run(count, grain, &parts);
    }
    fesetround(FE_TONEAREST);
    EXPECT(of_others > 0 || expected_threads() == 1);
    EXPECT(parts > 1 || expected_threads() == 1);
    opkit_release_threads();
    expect_threads(1);
}

/* Without a user there are no threads; each of several users keeps them. */
static void test_users(size_t count, size_t grain)
{
    size_t parts = 0;

    EXPECT(run(count, grain, &parts) == 0 && parts == 1);
    opkit_release_threads(); /* without effect */
    for (int i = 0; i < 50; i++) {
        opkit_retain_threads();
        opkit_retain_threads();
        opkit_release_threads();
        EXPECT(threads_now() == expected_threads());
        run(count, grain, &parts);
        opkit_release_threads();
        expect_threads(1);
        EXPECT(run(count, grain, &parts) == 0 && parts == 1);
    }
}

struct nested {
    size_t count;
    size_t *sum; /* atomic */
};

static void add_inner(const void *context, size_t begin, size_t end)
{
    const struct nested *nested = (const struct nested *)context;
    EXPECT(begin == 0 && end == nested->count); /* serially */
    __atomic_fetch_add(nested->sum, end - begin, __ATOMIC_RELAXED);
}

static void add_outer(const void *context, size_t begin, size_t end)
{
    const struct nested *nested = (const struct nested *)context;
    for (size_t i = begin; i < end; i++) {
        opkit_parallel_for(nested->count, 1, add_inner, context);
    }
}

static void test_nested(size_t count, size_t grain)
{
    size_t sum = 0;
    const struct nested nested = {17, &sum};

    opkit_retain_threads();
    opkit_parallel_for(count, grain, add_outer, &nested);
    EXPECT(sum == count * 17);
    opkit_release_threads();
}

struct caller {
    size_t count;
    size_t grain;
};

static void *call(void *argument)
{
    const struct caller *caller = (const struct caller *)argument;
    size_t parts = 0;

    for (int i = 0; i < 100; i++) {
        opkit_retain_threads();
        run(caller->count, caller->grain, &parts);
        opkit_release_threads();
    }
    return NULL;
}

static void test_callers(size_t count, size_t grain)
{
    enum {
        CALLERS = 5
    };
    struct caller caller = {count, grain};
    pthread_t threads[CALLERS];

    for (int i = 0; i < CALLERS; i++) {
        EXPECT(pthread_create(&threads[i], NULL, call, &caller) == 0);
    }
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(threads[i], NULL);
    }
    expect_threads(1);
}

/* A forked process has no workers, and computes alone; it can end, or release them. */
static void test_fork(size_t count, size_t grain)
{
    size_t parts = 0;
    int status = 0;

    opkit_retain_threads();
    run(count, grain, &parts);
    for (int releases = 0; releases < 2; releases++) {
        const pid_t child = fork();
        EXPECT(child >= 0);
        if (child == 0) {
            alarm(20);
            EXPECT(run(count, grain, &parts) == 0 && parts == 1);
            if (releases) {
                opkit_release_threads();
                opkit_retain_threads();
                EXPECT(run(count, grain, &parts) == 0 && parts == 1);
            }
            exit(EXIT_SUCCESS); /* with destructors */
        }
        EXPECT(waitpid(child, &status, 0) == child && status == 0);
    }
    run(count, grain, &parts);
    opkit_release_threads();
    expect_threads(1);
    /* Without users at the fork, the new process has threads of its own. */
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        opkit_retain_threads();
        EXPECT(threads_now() == expected_threads());
        run(count, grain, &parts);
        opkit_release_threads();
        exit(EXIT_SUCCESS);
    }
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
}

/* The destructor ends threads that a user keeps. */
static void test_exit(size_t count, size_t grain)
{
    size_t parts = 0;

    opkit_retain_threads();
    run(count, grain, &parts);
}

static void *do_nothing(void *unused)
{
    return unused;
}

int main(int count, char **arguments)
{
    pthread_t first;

    static const struct {
        const char *name;
        void (*run)(size_t count, size_t grain);
    } TESTS[] = {
        {"once", test_once},     {"shared", test_shared},   {"users", test_users},
        {"nested", test_nested}, {"callers", test_callers}, {"fork", test_fork},
        {"exit", test_exit},
    };

    EXPECT(count == 4);
    EXPECT(pthread_create(&first, NULL, do_nothing, NULL) == 0); /* a sanitizer starts its own */
    pthread_join(first, NULL);
    usleep(100000); /* the joined thread leaves /proc/self/task shortly after */
    more_threads = threads_now() - 1;
    for (size_t i = 0; i < sizeof TESTS / sizeof *TESTS; i++) {
        if (strcmp(TESTS[i].name, arguments[1]) == 0) {
            TESTS[i].run(strtoul(arguments[2], NULL, 10), strtoul(arguments[3], NULL, 10));
            return EXIT_SUCCESS;
        }
    }
    return EXIT_FAILURE;
}
