/*
 * Loops of an instrumented operator, in place of opkit/compute/thread_pool.h: compiled with
 * `-include` of this file, an operator with threads takes as many as the check asks for.
 *
 * Plain C11 and C++11.
 */
#ifndef OPKIT_THREAD_POOL_H
#define OPKIT_THREAD_POOL_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Runs a loop in the threads of the invocation; returns false for a single one. */
bool checked_loop(size_t count, size_t grain,
                  void (*body)(const void *context, size_t begin, size_t end), const void *context);

#ifdef __cplusplus
}
#endif

/*
 * Their atomic caches are no races, though clang's accesses do not show it: not inlined, they have
 * no calls of races.c.
 */
#ifdef __clang__
#define OPKIT_UNRECORDED __attribute__((unused, noinline, no_sanitize("coverage")))
OPKIT_UNRECORDED static int opkit_vector_level(void);
OPKIT_UNRECORDED static int opkit_has_f16c(void);
#endif

static inline bool opkit_share_loop(size_t count, size_t grain,
                                    void (*body)(const void *context, size_t begin, size_t end),
                                    const void *context)
{
    return checked_loop(count, grain, body, context);
}

static inline void opkit_retain_threads(void)
{
}

static inline void opkit_release_threads(void)
{
}

#endif
