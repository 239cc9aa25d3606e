/*
 * Call the math of an operator on tensors of float. `case.h` has the operator and its shapes.
 *
 *     program time RUNS    prints the processor time of the fastest of so many calls, ns
 *     program call COUNT   only calls, for counting instructions
 *     program bits         writes the elements of the outputs
 */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "case.h"

struct bound_tensor {
    struct opkit_tensor *tensor;
    bool is_output;
    size_t rank, shape[OPKIT_MAX_RANK];
};

static const struct bound_tensor bound_tensors[] = {TENSORS};

/* Sets a tensor's members, with elements from -2 to 2, from a linear congruential generator. */
static void allocate(const struct bound_tensor *bound)
{
    static uint32_t random = 1;
    struct opkit_tensor *tensor = bound->tensor;

    tensor->type = OPKIT_FLOAT32;
    tensor->rank = bound->rank;
    tensor->size = 1;
    for (size_t i = 0; i < OPKIT_MAX_RANK; i++) {
        tensor->shape[i] = i < bound->rank ? bound->shape[i] : 1;
        tensor->size *= tensor->shape[i];
    }
    tensor->float32 = malloc(tensor->size * sizeof *tensor->float32);
    for (size_t i = 0; i < tensor->size; i++) {
        random = random * 1664525U + 1013904223U;
        tensor->float32[i] = (float)(random >> 8) / 4194304.0F - 2.0F;
    }
}

/* Not inlined, so that each call computes everything again. */
__attribute__((noinline)) static void call(void)
{
    const char *problem = CALL;
    if (problem != NULL) {
        fprintf(stderr, "%s\n", problem);
        exit(EXIT_FAILURE);
    }
}

static double nanoseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

int main(int argument_count, char **arguments)
{
    const char *mode = arguments[1];
    const int count = argument_count > 2 ? atoi(arguments[2]) : 1;
    double fastest = 1e18;

    for (size_t i = 0; i < sizeof bound_tensors / sizeof *bound_tensors; i++) {
        allocate(&bound_tensors[i]);
    }
    for (int i = 0; i < count; i++) {
        const double begin = nanoseconds();
        call();
        const double elapsed = nanoseconds() - begin;
        fastest = elapsed < fastest ? elapsed : fastest;
    }
    if (strcmp(mode, "time") == 0) {
        printf("%.0f\n", fastest);
    }
    for (size_t i = 0; i < sizeof bound_tensors / sizeof *bound_tensors; i++) {
        const struct opkit_tensor *tensor = bound_tensors[i].tensor;
        if (strcmp(mode, "bits") == 0 && bound_tensors[i].is_output) {
            fwrite(tensor->float32, sizeof *tensor->float32, tensor->size, stdout);
        }
    }
    return 0;
}
