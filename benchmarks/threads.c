/*
 * Time the plugins of two operators on the same tensors, alternating.
 *
 *     threads ELEMENTS TURNS PLUGIN PLUGIN
 *
 * prints the nanoseconds of the call of each plugin, a line for each turn.
 */
#define _POSIX_C_SOURCE 199309L
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rknn_custom_op.h>

enum {
    PLUGINS = 2
};

struct plugin {
    const rknn_custom_op *op;
    rknn_custom_op_context context;
};

static double nanoseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static rknn_custom_op_tensor tensor_of(float *elements, uint32_t count)
{
    return (rknn_custom_op_tensor){
        .attr = {.n_dims = 1, .dims = {count}, .n_elems = count, .type = RKNN_TENSOR_FLOAT32},
        .mem = {.virt_addr = elements},
    };
}

static bool load(const char *path, struct plugin *plugin)
{
    const rknn_custom_op *(*get)(void);
    void *library = dlopen(path, RTLD_NOW);
    void *symbol = library != NULL ? dlsym(library, "get_rknn_custom_op") : NULL;

    if (symbol == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return false;
    }
    memcpy(&get, &symbol, sizeof get);
    plugin->op = get();
    plugin->context.target = RKNN_TARGET_TYPE_CPU;
    return true;
}

int main(int argument_count, char **arguments)
{
    if (argument_count != 5) {
        return EXIT_FAILURE;
    }
    const size_t count = strtoul(arguments[1], NULL, 10);
    const size_t turns = strtoul(arguments[2], NULL, 10);
    float *from = calloc(count, sizeof *from);
    float *to[PLUGINS] = {calloc(count, sizeof *from), calloc(count, sizeof *from)};
    double *times = calloc(PLUGINS * turns, sizeof *times);
    struct plugin plugins[PLUGINS] = {{0}};
    bool failed = from == NULL || to[0] == NULL || to[1] == NULL || times == NULL;

    for (size_t i = 0; i < PLUGINS && !failed; i++) {
        failed = !load(arguments[3 + i], &plugins[i]);
    }
    if (failed) {
        return EXIT_FAILURE;
    }
    for (size_t i = 0; i < count; i++) {
        from[i] = (float)(i % 4096) / 256 - 8;
    }
    rknn_custom_op_tensor input = tensor_of(from, (uint32_t)count);
    for (size_t i = 0; i < PLUGINS * turns; i++) {
        const size_t which = i % PLUGINS;
        struct plugin *plugin = &plugins[which];
        rknn_custom_op_tensor output = tensor_of(to[which], (uint32_t)count);
        /* Once for all turns: the time is that of an inference. */
        if (i < PLUGINS && plugin->op->init != NULL) {
            failed |= plugin->op->init(&plugin->context, &input, 1, &output, 1) != 0;
        }
        const double start = nanoseconds();
        failed |= plugin->op->compute(&plugin->context, &input, 1, &output, 1) != 0;
        times[i] = nanoseconds() - start;
    }
    for (size_t i = 0; i < PLUGINS; i++) {
        if (plugins[i].op->destroy != NULL) {
            plugins[i].op->destroy(&plugins[i].context);
        }
    }
    failed |= memcmp(to[0], to[1], count * sizeof *from) != 0;
    for (size_t i = 0; i < turns && !failed; i++) {
        printf("%.0f %.0f\n", times[PLUGINS * i], times[PLUGINS * i + 1]);
    }
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
