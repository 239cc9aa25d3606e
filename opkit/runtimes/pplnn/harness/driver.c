/*
 * Calls an operator's glue like ppl.nn's kernels, for the harness.
 *
 * The entry of the operator's library is a struct opkit_pplnn_operator. In ppl.nn, the shapes of
 * the outputs come from the model; here they come from the reference, and the first stage compares
 * the operator's inferred shapes with them.
 */
#include <stdio.h>
#include <string.h>

#include "opkit/check/harness/memory/guarded_memory.h"
#include "opkit/check/harness/memory/libc_memory.h"
#include "opkit/check/harness/memory/profile.h"
#include "opkit/check/harness/runtime.h"
#include "operator.h"

enum {
    INVALID_VALUE = 1 /* the status of all errors */
};

static struct node {
    const struct harness_invocation *invocation;
    const struct opkit_pplnn_operator *operator_;
    harness_record_f *record;
    struct harness_value *values; /* in guarded memory */
    struct opkit_pplnn_tensor *inputs;
    struct opkit_pplnn_tensor *outputs;
    char *params; /* the operator's struct */
    struct opkit_pplnn_memory memory;
    char problem[512];
} *run; /* the node of the running stage */

static const char *phase = "the shape rule";

static void describe(const struct harness_value *value, struct opkit_pplnn_tensor *tensor)
{
    static const uint32_t TYPES[HARNESS_TYPE_COUNT] = {
        [HARNESS_BOOL] = OPKIT_PPLNN_BOOL,       [HARNESS_INT8] = OPKIT_PPLNN_INT8,
        [HARNESS_UINT8] = OPKIT_PPLNN_UINT8,     [HARNESS_INT16] = OPKIT_PPLNN_INT16,
        [HARNESS_UINT16] = OPKIT_PPLNN_UINT16,   [HARNESS_INT32] = OPKIT_PPLNN_INT32,
        [HARNESS_UINT32] = OPKIT_PPLNN_UINT32,   [HARNESS_INT64] = OPKIT_PPLNN_INT64,
        [HARNESS_FLOAT16] = OPKIT_PPLNN_FLOAT16, [HARNESS_FLOAT32] = OPKIT_PPLNN_FLOAT32,
    };

    tensor->type = TYPES[value->type];
    tensor->rank = value->rank;
    for (unsigned i = 0; i < value->rank && i < OPKIT_MAX_RANK; i++) {
        tensor->dims[i] = (int64_t)value->shape[i];
    }
    tensor->data = value->bytes;
}

/* Sets a member of the operator's struct of params. */
static bool set_param(const struct harness_value *value)
{
    const struct opkit_pplnn_operator *operator_ = run->operator_;

    for (unsigned i = 0; i < operator_->param_count; i++) {
        const struct opkit_pplnn_param *param = &operator_->params[i];
        char *member = run->params + param->offset;
        if (strcmp(param->name, value->name) != 0) {
            continue;
        }
        if (param->kind == OPKIT_PPLNN_SCALAR) {
            memcpy(member, value->bytes, value->size < param->size ? value->size : param->size);
        } else if (param->kind == OPKIT_PPLNN_INTS) {
            struct opkit_int32_array *list = (struct opkit_int32_array *)(void *)member;
            list->count = value->size / sizeof *list->items;
            list->items = value->bytes;
        } else if (param->kind == OPKIT_PPLNN_FLOATS) {
            struct opkit_float_array *list = (struct opkit_float_array *)(void *)member;
            list->count = value->size / sizeof *list->items;
            list->items = value->bytes;
        } else {
            char *text = __libc_calloc(value->size + 1, 1);
            memcpy(text, value->bytes, value->size);
            memcpy(member, &text, sizeof text);
        }
        return true;
    }
    return false;
}

static int refuse(struct harness_error *error, const char *what)
{
    snprintf(error->message, sizeof error->message,
             "the library does not fit op.yml: %s; run `scons target=x64`", what);
    return INVALID_VALUE;
}

static int prepare(void *entry, const struct harness_invocation *invocation,
                   harness_record_f *record, struct harness_error *error, void **node)
{
    const struct opkit_pplnn_operator *operator_ = entry;

    run = *node = __libc_calloc(1, sizeof *run);
    if (run == NULL) {
        return INVALID_VALUE;
    }
    run->invocation = invocation;
    run->operator_ = operator_;
    run->record = record;
    if (operator_->input_count + operator_->output_count + operator_->param_count !=
        invocation->count) {
        return refuse(error, "it has another count of parameters");
    }
    guarded_memory_begin(invocation, record);
    run->values = guarded_values_new(invocation);
    run->inputs = __libc_calloc(operator_->input_count, sizeof *run->inputs);
    run->outputs = __libc_calloc(operator_->output_count, sizeof *run->outputs);
    run->params = __libc_calloc(1, operator_->params_size);
    run->memory.tensors = __libc_calloc(operator_->input_count + operator_->output_count,
                                        sizeof *run->memory.tensors);
    for (unsigned i = 0, inputs = 0, outputs = 0; i < invocation->count; i++) {
        const struct harness_value *value = &run->values[i];
        if (value->role == HARNESS_INPUT) {
            describe(value, &run->inputs[inputs++]);
        } else if (value->role == HARNESS_OUTPUT) {
            describe(value, &run->outputs[outputs++]);
        } else if (!set_param(value)) {
            return refuse(error, value->name);
        }
    }
    return 0;
}

/* Formats dimensions as Python does. */
static void print_shape(char *text, size_t size, const struct opkit_pplnn_tensor *tensor)
{
    size_t used = (size_t)snprintf(text, size, "(");

    for (uint32_t i = 0; i < tensor->rank && used < size; i++) {
        used += (size_t)snprintf(text + used, size - used, "%s%lld", i > 0 ? ", " : "",
                                 (long long)tensor->dims[i]);
    }
    if (used < size) {
        snprintf(text + used, size - used, tensor->rank == 1 ? ",)" : ")");
    }
}

static bool is_same_shape(const struct opkit_pplnn_tensor *a, const struct opkit_pplnn_tensor *b)
{
    return a->rank == b->rank && memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0;
}

/*
 * Calls the shape rule as ppl.nn may: with an unknown dimension (-1) while a model is loaded, or
 * with an empty tensor. The result does not matter here, but a fault does.
 */
static void infer_unusual_shapes(struct opkit_pplnn_tensor *inferred)
{
    static const struct {
        int64_t dim;
        const char *phase;
    } UNUSUAL[] = {
        {-1, "the shape rule, called with an unknown dimension (-1),"},
        {0, "the shape rule, called with a dimension of 0,"},
    };

    for (size_t i = 0; i < sizeof UNUSUAL / sizeof *UNUSUAL; i++) {
        phase = UNUSUAL[i].phase;
        for (unsigned j = 0; j < run->operator_->input_count; j++) {
            for (uint32_t k = 0; k < run->inputs[j].rank; k++) {
                const int64_t dim = run->inputs[j].dims[k];
                run->inputs[j].dims[k] = UNUSUAL[i].dim;
                guarded_memory_set_active(true);
                (void)run->operator_->infer_shapes(run->inputs, run->params, inferred);
                guarded_memory_set_active(false);
                run->inputs[j].dims[k] = dim;
            }
        }
    }
}

/* Infers the shapes of the outputs and compares them with the reference's. */
static int infer_shapes(void *node)
{
    run = node;
    const unsigned count = run->operator_->output_count;
    struct opkit_pplnn_tensor *inferred = __libc_calloc(count, sizeof *inferred);

    phase = "the shape rule";
    guarded_memory_set_active(true);
    const char *problem = run->operator_->infer_shapes(run->inputs, run->params, inferred);
    guarded_memory_set_active(false);
    for (unsigned i = 0; i < count && problem == NULL; i++) {
        if (!is_same_shape(&inferred[i], &run->outputs[i])) {
            char shapes[2][160];
            print_shape(shapes[0], sizeof shapes[0], &inferred[i]);
            print_shape(shapes[1], sizeof shapes[1], &run->outputs[i]);
            snprintf(run->problem, sizeof run->problem,
                     "output '%s' has the shape %s by the shape rule for PPLNN, but %s by "
                     "output_shapes of the reference",
                     run->values[run->operator_->input_count + i].name, shapes[0], shapes[1]);
            return INVALID_VALUE;
        }
    }
    if (problem != NULL) {
        snprintf(run->problem, sizeof run->problem, "%s", problem);
        return INVALID_VALUE;
    }
    infer_unusual_shapes(inferred);
    return 0;
}

static int process(void *node)
{
    run = node;
    phase = "the kernel";
    guarded_memory_set_active(true);
    const char *problem = run->operator_->run(run->inputs, run->params, run->outputs, &run->memory);
    guarded_memory_set_active(false);
    if (problem != NULL) {
        snprintf(run->problem, sizeof run->problem, "%s", problem);
        return INVALID_VALUE;
    }
    return 0;
}

static int clean_up(void *node)
{
    run = node;
    phase = "the end of the kernel";
    for (unsigned i = 0; i < run->operator_->input_count + run->operator_->output_count; i++) {
        guarded_free(run->memory.tensors[i].memory);
    }
    guarded_free(opkit_leave_half_results(&run->memory.table));
    guarded_values_delete(run->invocation, run->values);
    guarded_memory_end();
    return 0;
}

static void report(void)
{
    if (run != NULL && run->problem[0] != '\0') {
        run->record("log", run->problem, strlen(run->problem));
    }
}

__attribute__((visibility("default"))) const struct harness_runtime harness_runtime;
const struct harness_runtime harness_runtime = {
    .prepare = prepare,
    .stages = {infer_shapes, process, clean_up},
    .report = report,
    .explain = guarded_memory_explain,
    .stage_names = {"the shape rule", "the kernel", "the end of the kernel"},
    .phase = &phase,
    .begin_profile = profile_begin,
    .end_profile = profile_end,
};
