/* Counts the ticks of the phases of a kernel's call. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "profile.h"

/* The profile of this thread's call. */
static __thread struct {
    bool is_active;
    int phase;
    uint64_t since; /* the begin of the phase */
    uint64_t ticks[PROFILE_PHASE_COUNT];
} profile;

/* On x64 the processor's counter: a call of a small kernel is hardly longer than clock_gettime. */
static uint64_t now(void)
{
#ifdef __x86_64__
    return __builtin_ia32_rdtsc();
#else
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
#endif
}

static void change_phase(int phase)
{
    const uint64_t time = now();
    profile.ticks[profile.phase] += time - profile.since;
    profile.since = time;
    profile.phase = phase;
}

int profile_enter(int phase)
{
    const int previous = profile.phase;
    if (profile.is_active) {
        change_phase(phase);
    }
    return previous;
}

void profile_leave(const int *previous)
{
    if (profile.is_active) {
        change_phase(*previous);
    }
}

void profile_begin(void)
{
    memset(&profile, 0, sizeof profile);
    profile.is_active = true;
    profile.phase = PROFILE_OTHER;
    profile.since = now();
}

const uint64_t *profile_end(void)
{
    change_phase(PROFILE_OTHER);
    profile.is_active = false;
    return profile.ticks;
}

void profile_touch(void *memory, size_t size)
{
    volatile char *bytes = memory;

    if (profile.is_active && memory != NULL) {
        const size_t page = (size_t)sysconf(_SC_PAGESIZE);
        for (size_t i = 0; i < size; i += page) {
            bytes[i] = 0;
        }
    }
}
