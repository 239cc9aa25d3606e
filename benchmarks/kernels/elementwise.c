/*
 * Calls of an elementwise operator on given tensors, and a clock around them. `case.h` has the
 * operator; the shapes in it are replaced.
 */
#define _POSIX_C_SOURCE 199309L
#include <math.h>
#include <time.h>

#include "case.h"
#include "opkit/compute/half.h"

struct bound_tensor {
    struct opkit_tensor *tensor;
    bool is_output;
    size_t rank, shape[OPKIT_MAX_RANK];
};

static const struct bound_tensor bound_tensors[] = {TENSORS};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Sets a tensor, by its position among the inputs and outputs. */
void set_tensor(size_t index, enum opkit_type type, void *data, size_t rank, const size_t *shape)
{
    struct opkit_tensor *tensor = bound_tensors[index].tensor;

    tensor->type = type;
    tensor->data = data;
    tensor->rank = rank;
    tensor->size = 1;
    for (size_t i = 0; i < OPKIT_MAX_RANK; i++) {
        tensor->shape[i] = i < rank ? shape[i] : 1;
        tensor->size *= tensor->shape[i];
    }
}

/* Returns the seconds of the fastest of so many calls; negative if one fails. */
double call_seconds(size_t calls)
{
    double best = HUGE_VAL;
    for (size_t i = 0; i < calls; i++) {
        const double begin = now();
        if (CALL != NULL) {
            return -1.0;
        }
        const double elapsed = now() - begin;
        best = elapsed < best ? elapsed : best;
    }
    return best;
}

/* Returns the seconds of the fastest of so many look-ups of an array. */
double table_seconds(const uint16_t *table, const uint16_t *x, uint16_t *y, size_t count,
                     size_t calls)
{
    double best = HUGE_VAL;
    for (size_t i = 0; i < calls; i++) {
        const double begin = now();
        opkit_look_up_halves(table, x, y, count);
        const double elapsed = now() - begin;
        best = elapsed < best ? elapsed : best;
    }
    return best;
}
