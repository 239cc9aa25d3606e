/*
 * Records the operator's calls of libc for what is not the same on a board, or is the
 * application's: files, sockets, processes, the environment, random numbers, keys of threads.
 *
 * The operator finds these functions by libc's names, like those of guarded_malloc.c. Each call
 * goes on to libc. Arguments are integers and pointers alone, which 64-bit processors pass in the
 * same registers for every prototype, so all functions have one. A static program has libc's own.
 */
#define _GNU_SOURCE
#include "guarded_memory.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#if !defined(HARNESS_STATIC) && __SIZEOF_POINTER__ == 8

/* The address in the operator to which its call returns. */
#define CALLER __builtin_return_address(0)

enum {
    MAX_CALLERS = 64,
    MAX_KEYS = 1024,
    NONE = -1 /* no argument is a name */
};

enum subject {
    A_FILE,
    A_SOCKET,
    A_PROCESS,
    A_VARIABLE,
    THE_RANDOM_STATE
};

/* Completed by the name in quotes, if there is one, and the function. */
static const char *const SENTENCES[] = {
    [A_FILE] = "the operator uses the file%s (%s): the board does not have it, or cannot write it; "
               "pass its data as an input or a param, or compile them in as a const array",
    [A_SOCKET] = "the operator opens a socket%s (%s): the board does not have the network; pass "
                 "the data as an input or a param",
    [A_PROCESS] = "the operator starts a process%s (%s): the board does not have the program, and "
                  "its application does not expect a child; compute in the operator's own C",
    [A_VARIABLE] = "the operator reads the environment variable%s (%s): the board does not have "
                   "it; pass the value as a param",
    [THE_RANDOM_STATE] = "the operator changes the random state of the process%s (%s): rand() "
                         "repeats numbers in the board's application; use rand_r, erand48 or "
                         "random_r with a state of the operator's own",
};

/* function, subject, argument with its name */
#define CALLS(X)                         \
    X(open, A_FILE, 0)                   \
    X(open64, A_FILE, 0)                 \
    X(__open_2, A_FILE, 0)               \
    X(__open64_2, A_FILE, 0)             \
    X(openat, A_FILE, 1)                 \
    X(openat64, A_FILE, 1)               \
    X(creat, A_FILE, 0)                  \
    X(creat64, A_FILE, 0)                \
    X(fopen, A_FILE, 0)                  \
    X(fopen64, A_FILE, 0)                \
    X(freopen, A_FILE, 0)                \
    X(freopen64, A_FILE, 0)              \
    X(mkstemp, A_FILE, 0)                \
    X(mkstemp64, A_FILE, 0)              \
    X(shm_open, A_FILE, 0)               \
    X(dlopen, A_FILE, 0)                 \
    X(opendir, A_FILE, 0)                \
    X(access, A_FILE, 0)                 \
    X(stat, A_FILE, 0)                   \
    X(stat64, A_FILE, 0)                 \
    X(__xstat, A_FILE, 1)                \
    X(__xstat64, A_FILE, 1)              \
    X(unlink, A_FILE, 0)                 \
    X(remove, A_FILE, 0)                 \
    X(rename, A_FILE, 0)                 \
    X(mkdir, A_FILE, 0)                  \
    X(rmdir, A_FILE, 0)                  \
    X(socket, A_SOCKET, NONE)            \
    X(socketpair, A_SOCKET, NONE)        \
    X(fork, A_PROCESS, NONE)             \
    X(system, A_PROCESS, 0)              \
    X(popen, A_PROCESS, 0)               \
    X(posix_spawn, A_PROCESS, 1)         \
    X(posix_spawnp, A_PROCESS, 1)        \
    X(execv, A_PROCESS, 0)               \
    X(execve, A_PROCESS, 0)              \
    X(execvp, A_PROCESS, 0)              \
    X(getenv, A_VARIABLE, 0)             \
    X(secure_getenv, A_VARIABLE, 0)      \
    X(srand, THE_RANDOM_STATE, NONE)     \
    X(srandom, THE_RANDOM_STATE, NONE)   \
    X(srand48, THE_RANDOM_STATE, NONE)   \
    X(seed48, THE_RANDOM_STATE, NONE)    \
    X(lcong48, THE_RANDOM_STATE, NONE)   \
    X(initstate, THE_RANDOM_STATE, NONE) \
    X(setstate, THE_RANDOM_STATE, NONE)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Of Linux, not of this PC. */
static bool is_on_boards(const char *file)
{
    return strncmp(file, "/proc/", 6) == 0 || strncmp(file, "/sys/", 5) == 0 ||
           (strncmp(file, "/dev/", 5) == 0 && strncmp(file, "/dev/shm/", 9) != 0);
}

/* Returns whether this is the first call that returns to `caller`. */
static bool is_new(const void *caller)
{
    static const void *callers[MAX_CALLERS];
    size_t i = 0;

    pthread_mutex_lock(&lock);
    while (i < MAX_CALLERS && callers[i] != NULL && callers[i] != caller) {
        i++;
    }
    const bool result = i < MAX_CALLERS && callers[i] == NULL;
    if (result) {
        callers[i] = caller;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

static void record_call(enum subject subject, const char *function, const char *name,
                        const void *caller)
{
    char quoted[200] = "";
    char text[512];

    if (!guarded_memory_is_guarding() ||
        (subject == A_FILE && (name == NULL || is_on_boards(name))) || !is_new(caller)) {
        return;
    }
    if (name != NULL) {
        snprintf(quoted, sizeof quoted, " '%.190s'", name);
    }
    snprintf(text, sizeof text, SENTENCES[subject], quoted, function);
    guarded_memory_record("event", caller, text);
}

typedef uintptr_t call_f(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e,
                         uintptr_t f);

static call_f *libc_function(const char *name)
{
    call_f *function;
    *(void **)&function = dlsym(RTLD_NEXT, name);
    return function;
}

#define EXPORTED_AS(name) __asm__(#name) __attribute__((visibility("default")))

#define RECORDED(function, subject, argument)                                                      \
    call_f recorded_##function EXPORTED_AS(function);                                              \
    uintptr_t recorded_##function(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, \
                                  uintptr_t f)                                                     \
    {                                                                                              \
        const uintptr_t name = (argument) == NONE ? 0 : (argument) == 0 ? a : b;                   \
        record_call(subject, #function, (const char *)name, CALLER);                               \
        return libc_function(#function)(a, b, c, d, e, f);                                         \
    }
CALLS(RECORDED)

/* ---- Keys of threads ---- */

/* The existing keys that the operator has made. */
static struct {
    const void *caller; /* NULL: none */
    unsigned stage;
} keys[MAX_KEYS];

/*
 * A process makes a key once, or once for each node, of which two may be alive. So calls that
 * return to the same place have made keys in two stages at most.
 */
static void record_key(pthread_key_t key, const void *caller)
{
    const unsigned stage = guarded_memory_stage();
    unsigned stages[2] = {stage, stage};
    bool grows = false;

    if (stage == 0 || key >= MAX_KEYS) {
        return;
    }
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < MAX_KEYS; i++) {
        if (keys[i].caller == caller && keys[i].stage != stage) {
            grows = grows || (stages[1] != stage && keys[i].stage != stages[1]);
            stages[1] = keys[i].stage;
        }
    }
    keys[key].caller = caller;
    keys[key].stage = stage;
    pthread_mutex_unlock(&lock);
    if (grows && is_new(caller)) {
        static const char TEXT[] =
            "the operator makes a key of threads again and again, and deletes none "
            "(pthread_key_create): a process has 1024 of them for all; make it once, by "
            "pthread_once";
        guarded_memory_record("leak", caller, TEXT);
    }
}

int recorded_key_create(pthread_key_t *key, void (*destroy)(void *))
    EXPORTED_AS(pthread_key_create);
int recorded_key_create(pthread_key_t *key, void (*destroy)(void *))
{
    const uintptr_t status =
        libc_function("pthread_key_create")((uintptr_t)key, (uintptr_t)destroy, 0, 0, 0, 0);
    if ((int)status == 0) {
        record_key(*key, CALLER);
    }
    return (int)status;
}

int recorded_key_delete(pthread_key_t key) EXPORTED_AS(pthread_key_delete);
int recorded_key_delete(pthread_key_t key)
{
    if (key < MAX_KEYS) {
        pthread_mutex_lock(&lock);
        keys[key].caller = NULL;
        pthread_mutex_unlock(&lock);
    }
    return (int)libc_function("pthread_key_delete")(key, 0, 0, 0, 0, 0);
}

#endif
