/*
 * Runs a model of one node in librknn_runtime, for the harness.
 *
 * The attachment `model` is the .rknn file, with the operator's device library in it. Its params
 * are in the model, too; of the invocation only the tensors count. librknn_runtime does not report
 * an error of a kernel.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opkit/check/harness/runtime.h"
#include "opkit/runtimes/rknn/driver/rknn_runtime.h"

enum {
    MAX_TENSORS = 128, /* the runtime's limit on a node's tensors and params */
    NO_MEMORY = -4, /* RKNN_ERR_MALLOC_FAIL */
    OUTPUT_INVALID = -9 /* RKNN_ERR_OUTPUT_INVALID */
};

/* The harness's entry of a kernel; the one here is in the model. */
extern const char model_entry[];
const char model_entry[] = "";

/* Returns from the function when a call does not succeed. */
#define CALL(function, ...)                       \
    do {                                          \
        const int status = function(__VA_ARGS__); \
        if (status != 0) {                        \
            return status;                        \
        }                                         \
    } while (0)

struct run {
    const struct harness_invocation *invocation;
    const struct harness_attachment *model;
    rknn_context context;
    int is_open;
};

static const struct harness_attachment *find_model(const struct harness_invocation *invocation)
{
    for (unsigned i = 0; i < invocation->attachment_count; i++) {
        if (strcmp(invocation->attachments[i].name, "model") == 0) {
            return &invocation->attachments[i];
        }
    }
    return NULL;
}

static int prepare(void *entry, const struct harness_invocation *invocation,
                   harness_record_f *record, struct harness_error *error, void **node)
{
    struct run *run = calloc(1, sizeof *run);

    (void)entry;
    (void)record;
    if (run == NULL) {
        return NO_MEMORY;
    }
    run->invocation = invocation;
    run->model = find_model(invocation);
    if (run->model == NULL || invocation->count > MAX_TENSORS) {
        snprintf(error->message, sizeof error->message, "the request has no model");
    }
    /*
     * With this byte, glibc's malloc returns memory of zeros. librknn_runtime 1.7.5 copies names
     * into new memory without a terminating zero: otherwise rknn_init fails or crashes, depending
     * on what the process freed before.
     */
    mallopt(M_PERTURB, 0xFF);
    *node = run;
    return 0;
}

static int set_up(void *node)
{
    struct run *run = node;

    CALL(rknn_init, &run->context, run->model->bytes, (uint32_t)run->model->size, 0);
    run->is_open = 1;
    return 0;
}

/* Lists the inputs of the invocation: the runtime wants all of them in one call. */
static uint32_t list_inputs(const struct harness_invocation *invocation, rknn_input *inputs)
{
    uint32_t count = 0;

    for (unsigned i = 0; i < invocation->count; i++) {
        const struct harness_value *value = &invocation->values[i];
        if (value->role == HARNESS_INPUT) {
            inputs[count] = (rknn_input){.index = count,
                                         .buf = value->bytes,
                                         .size = (uint32_t)value->size,
                                         .pass_through = 1};
            count++;
        }
    }
    return count;
}

static uint32_t list_outputs(const struct harness_invocation *invocation, rknn_output *outputs)
{
    uint32_t count = 0;

    for (unsigned i = 0; i < invocation->count; i++) {
        const struct harness_value *value = &invocation->values[i];
        if (value->role == HARNESS_OUTPUT) {
            outputs[count] = (rknn_output){.is_prealloc = 1,
                                           .index = count,
                                           .buf = value->bytes,
                                           .size = (uint32_t)value->size};
            count++;
        }
    }
    return count;
}

static int process(void *node)
{
    struct run *run = node;
    rknn_input inputs[MAX_TENSORS];
    rknn_output outputs[MAX_TENSORS];
    uint32_t sizes[MAX_TENSORS];
    const uint32_t input_count = list_inputs(run->invocation, inputs);
    const uint32_t output_count = list_outputs(run->invocation, outputs);

    for (uint32_t i = 0; i < output_count; i++) {
        sizes[i] = outputs[i].size;
    }
    CALL(rknn_inputs_set, run->context, input_count, inputs);
    CALL(rknn_run, run->context, NULL);
    CALL(rknn_outputs_get, run->context, output_count, outputs, NULL);
    CALL(rknn_outputs_release, run->context, output_count, outputs);
    for (uint32_t i = 0; i < output_count; i++) {
        if (outputs[i].size != sizes[i]) {
            return OUTPUT_INVALID;
        }
    }
    return 0;
}

static int clean_up(void *node)
{
    struct run *run = node;
    const int status = run->is_open ? rknn_destroy(run->context) : 0;

    free(run);
    return status;
}

static void report(void)
{
    /* librknn_runtime prints its log */
}

extern const struct harness_runtime harness_runtime;
const struct harness_runtime harness_runtime = {
    .prepare = prepare,
    .stages = {set_up, process, clean_up},
    .report = report,
    .stage_names = {"rknn_init", "rknn_run", "rknn_destroy"},
};
