/*
 * Call the math of an operator for PPLNN: through the glue, and bare. `case.h` selects it.
 *
 *     program time COUNT   nanoseconds of the glue, and of the bare math: medians, taking turns
 *     program glue COUNT   only calls, for counting instructions; or `bare` instead of `glue`
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "case.h"

static opkit_pplnn_tensor inputs[] = {INPUTS};
static opkit_pplnn_tensor outputs[] = {OUTPUTS};
static opkit_pplnn_tensor
    bare_tensors[sizeof inputs / sizeof *inputs + sizeof outputs / sizeof *outputs];
static opkit_pplnn_view views[] = {VIEWS};
static opkit_scratch scratch[sizeof views / sizeof *views];
static PARAMS params;

static double nanoseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

/* Allocate a tensor's memory and fill it with numbers from 1 to 2. */
static void allocate(opkit_pplnn_tensor *tensor)
{
    size_t size = 1;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        size *= (size_t)tensor->dims[i];
    }
    float *floats = (float *)malloc(size * sizeof(float));
    for (size_t i = 0; i < size; i++) {
        floats[i] = 1.0F + (float)(i % 997) / 997.0F;
    }
    tensor->data = floats;
    if (tensor->type == OPKIT_PPLNN_FLOAT16) {
        tensor->data = malloc(size * sizeof(uint16_t));
        opkit_floats_to_halves(floats, (uint16_t *)tensor->data, size);
        free(floats);
    }
}

static void check(const char *problem)
{
    if (problem != nullptr) {
        fprintf(stderr, "%s\n", problem);
        exit(EXIT_FAILURE);
    }
}

static int compare(const void *a, const void *b)
{
    const double left = *(const double *)a;
    const double right = *(const double *)b;
    return (left > right) - (left < right);
}

static void print_times(size_t count)
{
    double *times[2];
    for (int way = 0; way < 2; way++) {
        times[way] = (double *)malloc(count * sizeof(double));
    }
    for (size_t i = 0; i < count; i++) {
        for (int way = 0; way < 2; way++) {
            const double start = nanoseconds();
            check(way == 0 ? GLUE : BARE);
            times[way][i] = nanoseconds() - start;
        }
    }
    for (int way = 0; way < 2; way++) {
        qsort(times[way], count, sizeof(double), compare);
        printf("%.0f\n", times[way][count / 2]);
    }
}

int main(int argument_count, char **arguments)
{
    const size_t count = argument_count > 2 ? (size_t)atoi(arguments[2]) : 1;
    const size_t view_count = sizeof views / sizeof *views;

    for (opkit_pplnn_tensor &tensor : inputs) {
        allocate(&tensor);
    }
    for (opkit_pplnn_tensor &tensor : outputs) {
        allocate(&tensor);
    }
    SET_PARAMS;
    /* The bare math gets floats for tensors of any type. */
    for (size_t i = 0; i < view_count; i++) {
        bare_tensors[i] = *views[i].tensor;
        bare_tensors[i].type = OPKIT_PPLNN_FLOAT32;
        allocate(&bare_tensors[i]);
        views[i].tensor = &bare_tensors[i];
    }
    check(opkit_pplnn_open(views, view_count, OPKIT_FLOAT32, scratch));
    if (strcmp(arguments[1], "time") == 0) {
        print_times(count);
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        check(strcmp(arguments[1], "glue") == 0 ? GLUE : BARE);
    }
    return 0;
}
