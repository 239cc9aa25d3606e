/* opkit's conversions and memcpy behind one signature, and a clock around them. */
#define _POSIX_C_SOURCE 199309L
#include <math.h>
#include <time.h>

#include "opkit/compute/half.h"

enum loop {
    COPY,
    TO_FLOATS,
    TO_HALVES
};

/* `count` is in elements, but in bytes for COPY. */
static void run(enum loop loop, void *to, const void *from, size_t count)
{
    switch (loop) {
    case COPY:
        memcpy(to, from, count);
        break;
    case TO_FLOATS:
        opkit_halves_to_floats((const uint16_t *)from, (float *)to, count);
        break;
    case TO_HALVES:
        opkit_floats_to_halves((const float *)from, (uint16_t *)to, count);
        break;
    }
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Return the seconds of one call: the minimum over `calls` batches of `batch` calls each. */
double seconds(enum loop loop, void *to, const void *from, size_t count, size_t batch, size_t calls)
{
    double best = HUGE_VAL;
    for (size_t i = 0; i < calls; i++) {
        const double begin = now();
        for (size_t j = 0; j < batch; j++) {
            run(loop, to, from, count);
            __asm__ volatile("" : : : "memory"); /* no merging of repeated copies */
        }
        const double each = (now() - begin) / (double)batch;
        best = each < best ? each : best;
    }
    return best;
}
