/*
 * Where the time of a kernel's call goes, by phase; a phase does not count the phases inside of it.
 *
 * malloc and free of the runtime's library mark allocations. The other phases need marks in the
 * kernel: a library for `scons report` is compiled with PROFILE around calls of the math and of
 * conversions, in a header that opkit/build/libraries.py writes. Plain C11 and C++11.
 */
#ifndef OPKIT_PROFILE_H
#define OPKIT_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* copy: between the runtime's memory and the kernel's; conversion: of halves and other types. */
#define PROFILE_PHASES(X)       \
    X(COPY, "copy")             \
    X(CONVERSION, "conversion") \
    X(MATH, "math")             \
    X(ALLOCATION, "allocation") \
    X(OTHER, "other")
enum profile_phase {
#define PROFILE_PHASE(phase, name) PROFILE_##phase,
    PROFILE_PHASES(PROFILE_PHASE)
#undef PROFILE_PHASE
    PROFILE_PHASE_COUNT
};

/* Begins a phase; returns the previous one. Does nothing outside of a profiled call. */
__attribute__((visibility("default"))) int profile_enter(int phase);
/* Ends a phase: continues the previous one. */
__attribute__((visibility("default"))) void profile_leave(const int *previous);

/* Evaluates a call in a phase; the value is that of the call, which may be void. */
#define PROFILE(phase, call)                                                                       \
    __extension__({                                                                                \
        const int profile_previous __attribute__((cleanup(profile_leave))) = profile_enter(phase); \
        call;                                                                                      \
    })

/* ---- For the harness and the runtime's library ---- */

#pragma GCC visibility push(hidden)

/* Begins a profiled call, in the phase "other". Other threads of the call are not profiled. */
void profile_begin(void);
/* Ends it; returns the ticks of each phase. A tick has no unit: only ratios have a meaning. */
const uint64_t *profile_end(void);
/*
 * Writes to each page of new memory in a profiled call, so that the system's work for new pages
 * counts as allocation, not as the phase that uses them first.
 */
void profile_touch(void *memory, size_t size);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
