/*
 * Loops that may run on several cores.
 *
 * Plain C11 and C++11.
 */
#ifndef OPKIT_PARALLEL_H
#define OPKIT_PARALLEL_H

#include <stddef.h>

/* The body of a loop, for the indices from `begin` to `end` - 1. `context` has its data. */
typedef void (*opkit_loop_body)(const void *context, size_t begin, size_t end);

#ifdef OPKIT_THREADS /* `threads` in op.yml, where the runtime supports that */
#include "thread_pool.h"
#endif

/*
 * Runs the body for all indices from 0 to `count` - 1, in parts of `grain` indices or more (the
 * last one may be smaller). Parts may run at the same time, in any order, so each writes elements
 * of its own. A body must neither exit by longjmp nor by an exception. Returns after the last part.
 */
static inline void opkit_parallel_for(size_t count, size_t grain, opkit_loop_body body,
                                      const void *context)
{
#ifdef OPKIT_THREADS
    if (count > grain && opkit_share_loop(count, grain > 0 ? grain : 1, body, context)) {
        return;
    }
#endif
    (void)grain;
    if (count > 0) {
        body(context, 0, count);
    }
}

#endif
