/*
 * The vendor's librknnrt for the harness: runs a model of one node, as an application does.
 *
 * The entry is the function that registers the operators with a context, <op>_register_all, of the
 * static library for applications. Attachments:
 *
 *     model      the .rknn file
 *     library    the path of librknnrt.so, or its name
 *     idle_npu   present: the NPU computes nothing, as with the stand-in npu.c
 *     versions   of the answer: "LIBRARY, driver DRIVER"
 *     filled     of the answer: the name of a filled input
 *     gpu        of the answer, present: the operator ran a kernel of the stand-in opencl.c
 *
 * An idle NPU does not pass on the inputs that librknnrt hands to a job of the NPU, which converts
 * their layout. The operator would get zeros, so its inputs are then filled in before it runs.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "application.h"
#include "opkit/check/harness/runtime.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

enum {
    FAILED = -1, /* RKNN_ERR_FAIL */
    IMAGE_RANK = 4 /* of tensors with a layout */
};

typedef int entry_f(rknn_context context);

static struct node {
    const struct harness_invocation *invocation;
    harness_record_f *record;
    entry_f *register_all;
    struct rknn_library library;
    rknn_context context;
    bool is_initialized;
} node;

static const char *phase;

/* ---- The invocation ---- */

static const struct harness_attachment *find_attachment(const char *name)
{
    for (unsigned i = 0; i < node.invocation->attachment_count; i++) {
        if (strcmp(node.invocation->attachments[i].name, name) == 0) {
            return &node.invocation->attachments[i];
        }
    }
    return NULL;
}

/* Returns the value of an input or an output, or NULL after the last one. */
static const struct harness_value *find_value(enum harness_role role, uint32_t index)
{
    for (unsigned i = 0; i < node.invocation->count; i++) {
        const struct harness_value *value = &node.invocation->values[i];
        if (value->role == role && index-- == 0) {
            return value;
        }
    }
    return NULL;
}

static size_t count_of(const struct harness_value *value)
{
    size_t count = 1;
    for (unsigned i = 0; i < value->rank; i++) {
        count *= value->shape[i];
    }
    return count;
}

/* Prints why the invocation cannot run; returns a status. */
static int fail(const char *problem, const char *name)
{
    fprintf(stderr, "%s%s\n", problem, name);
    return FAILED;
}

/* ---- The library ---- */

/* Finds a function of the library; `target` is the address of a pointer to such a function. */
static bool find_function(void *library, const char *name, void *target)
{
    void *address = dlsym(library, name);

    memcpy(target, &address, sizeof address);
    return address != NULL || fail("librknnrt has no ", name) == 0;
}

static bool load_library(const char *path)
{
    struct rknn_library *found = &node.library;
    const struct {
        const char *name;
        void *target;
    } FUNCTIONS[] = {
        {"rknn_init", &found->init},
        {"rknn_query", &found->query},
        {"rknn_register_custom_ops", &found->register_custom_ops},
        {"rknn_custom_op_get_op_attr", &found->get_op_attr},
        {"rknn_inputs_set", &found->inputs_set},
        {"rknn_run", &found->run},
        {"rknn_outputs_get", &found->outputs_get},
        {"rknn_outputs_release", &found->outputs_release},
        {"rknn_destroy", &found->destroy},
    };
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    bool is_complete = library != NULL || fail("", dlerror()) == 0;

    for (size_t i = 0; is_complete && i < LENGTH(FUNCTIONS); i++) {
        is_complete = find_function(library, FUNCTIONS[i].name, FUNCTIONS[i].target);
    }
    return is_complete;
}

/* ---- An idle NPU ---- */

static rknn_custom_op original; /* the operator, without filled inputs */

static bool is_zero(const char *bytes, size_t size)
{
    return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

/* Returns an element as a number, as which librknnrt 1.6.0 hands it over. */
static float number_of(const struct harness_value *value, size_t index)
{
    switch (value->type) {
    case HARNESS_INT32:
        return (float)((const int32_t *)value->bytes)[index];
    case HARNESS_INT64:
        return (float)((const int64_t *)value->bytes)[index];
    case HARNESS_BOOL:
        return ((const bool *)value->bytes)[index];
    default:
        return ((const float *)value->bytes)[index];
    }
}

/* Fills in the inputs that did not arrive. */
static void fill_inputs(rknn_custom_op_tensor *inputs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct harness_value *value = find_value(HARNESS_INPUT, i);
        const rknn_tensor_attr *attr = &inputs[i].attr;
        char *elements = (char *)inputs[i].mem.virt_addr + inputs[i].mem.offset;

        if (value == NULL || attr->type != RKNN_TENSOR_FLOAT32 || attr->n_dims != IMAGE_RANK ||
            attr->n_elems != count_of(value) || !is_zero(elements, attr->size)) {
            continue;
        }
        for (uint32_t k = 0; k < attr->n_elems; k++) {
            ((float *)elements)[k] = number_of(value, k);
        }
        node.record("attachment filled", value->name, strlen(value->name));
    }
}

/* Returns the number of GPU kernels that ran; 0 without the stand-in opencl.c. */
static unsigned count_launches(void)
{
    void *library = dlopen("libOpenCL.so", RTLD_NOW | RTLD_NOLOAD);
    const unsigned *found = library != NULL ? dlsym(library, "opkit_launch_count") : NULL;
    const unsigned count = found != NULL ? *found : 0;

    if (library != NULL) {
        dlclose(library);
    }
    return count;
}

static int compute_filled(rknn_custom_op_context *context, rknn_custom_op_tensor *inputs,
                          uint32_t input_count, rknn_custom_op_tensor *outputs,
                          uint32_t output_count)
{
    const unsigned launches = count_launches();

    fill_inputs(inputs, input_count);
    const int status = original.compute(context, inputs, input_count, outputs, output_count);
    if (count_launches() != launches) {
        node.record("attachment gpu", "1", 1);
    }
    return status;
}

/* ---- librknnrt's functions for the operators, which are linked with this file ---- */

int rknn_register_custom_ops(rknn_context ctx, rknn_custom_op *op, uint32_t custom_op_num)
{
    if (find_attachment("idle_npu") == NULL) {
        return node.library.register_custom_ops(ctx, op, custom_op_num);
    }
    if (custom_op_num != 1) {
        return fail("the static library registers more than one operator", "");
    }
    rknn_custom_op filled = *op; /* librknnrt copies it */
    original = *op;
    filled.compute = compute_filled;
    return node.library.register_custom_ops(ctx, &filled, 1);
}

void rknn_custom_op_get_op_attr(rknn_custom_op_context *op_ctx, const char *attr_name,
                                rknn_custom_op_attr *op_attr)
{
    node.library.get_op_attr(op_ctx, attr_name, op_attr);
}

/* ---- The stages ---- */

static int prepare(void *entry, const struct harness_invocation *invocation,
                   harness_record_f *record, struct harness_error *error, void **made)
{
    (void)error;
    memset(&node, 0, sizeof node);
    node.invocation = invocation;
    node.record = record;
    memcpy(&node.register_all, &entry, sizeof entry);
    *made = &node;
    return 0;
}

/* Records the failure of the current phase; returns its status. */
static int told(int status)
{
    char text[64];

    if (status != 0) {
        const int size = snprintf(text, sizeof text, "%s returns %d", phase, status);
        node.record("log", text, (size_t)size);
    }
    return status;
}

static void record_versions(void)
{
    struct rknn_versions versions;
    char text[sizeof versions + 16];

    if (node.library.query(node.context, RKNN_QUERY_SDK_VERSION, &versions, sizeof versions) != 0) {
        return;
    }
    versions.library[sizeof versions.library - 1] = '\0';
    versions.driver[sizeof versions.driver - 1] = '\0';
    const int size =
        snprintf(text, sizeof text, "%s, driver %s", versions.library, versions.driver);
    node.record("attachment versions", text, (size_t)size);
}

/* Loads the library and the model, and registers the operators: before everything else. */
static int set_up(void *ignored)
{
    const struct harness_attachment *model = find_attachment("model");
    const struct harness_attachment *library = find_attachment("library");

    (void)ignored;
    phase = "dlopen";
    if (model == NULL || library == NULL || !load_library(library->bytes)) {
        return FAILED;
    }
    phase = "rknn_init";
    int status = node.library.init(&node.context, model->bytes, (uint32_t)model->size, 0, NULL);
    node.is_initialized = status == 0;
    if (status == 0) {
        record_versions();
        phase = "rknn_register_custom_ops";
        status = node.register_all(node.context);
    }
    return told(status);
}

static rknn_tensor_type type_of(const struct harness_value *value)
{
    switch (value->type) {
    case HARNESS_INT32:
        return RKNN_TENSOR_INT32;
    case HARNESS_INT64:
        return RKNN_TENSOR_INT64;
    case HARNESS_BOOL:
        return RKNN_TENSOR_BOOL;
    default:
        return RKNN_TENSOR_FLOAT32;
    }
}

/* Copies elements from the order NCHW to NHWC; `size` is that of an element. */
static void copy_to_nhwc(const struct harness_value *value, char *target)
{
    const size_t channels = value->shape[1];
    const size_t area = value->shape[2] * value->shape[3];
    const size_t count = count_of(value);
    const size_t size = count == 0 ? 0 : value->size / count;
    const char *source = value->bytes;

    for (size_t i = 0; i < count; i++) {
        const size_t image = i / (channels * area);
        const size_t channel = i / area % channels;
        const size_t to = (image * area + i % area) * channels + channel;
        memcpy(target + to * size, source + i * size, size);
    }
}

/* Describes an input; rknn_inputs_set takes images as NHWC alone. Returns false without memory. */
static bool set_input(struct rknn_input *input, const struct harness_value *value)
{
    const bool is_image = value->rank == IMAGE_RANK;

    input->elements = malloc(value->size);
    input->size = (uint32_t)value->size;
    input->type = type_of(value);
    input->format = is_image ? RKNN_TENSOR_NHWC : RKNN_TENSOR_UNDEFINED;
    if (input->elements != NULL && is_image) {
        copy_to_nhwc(value, input->elements);
    } else if (input->elements != NULL) {
        memcpy(input->elements, value->bytes, value->size);
    }
    return input->elements != NULL;
}

static int set_inputs(uint32_t count)
{
    struct rknn_input *inputs = calloc(count, sizeof *inputs);
    int status = inputs == NULL ? FAILED : 0;

    for (uint32_t i = 0; status == 0 && i < count; i++) {
        const struct harness_value *value = find_value(HARNESS_INPUT, i);
        inputs[i].index = i;
        if (value == NULL) {
            status = fail("the model has more inputs than the operator", "");
        } else if (!set_input(&inputs[i], value)) {
            status = fail("not enough memory for ", value->name);
        }
    }
    if (status == 0) {
        phase = "rknn_inputs_set";
        status = node.library.inputs_set(node.context, count, inputs);
    }
    for (uint32_t i = 0; inputs != NULL && i < count; i++) {
        free(inputs[i].elements);
    }
    free(inputs);
    return status;
}

/* Whether an output is read as floats; of int32 and bool, librknnrt 1.6.0 has nothing else. */
static bool is_read_as_float(const struct harness_value *value)
{
    return value->type != HARNESS_INT64;
}

/* Stores an element that was read as a float. */
static void store_element(const struct harness_value *value, size_t index, float element)
{
    switch (value->type) {
    case HARNESS_INT32:
        ((int32_t *)value->bytes)[index] = (int32_t)llrintf(element);
        break;
    case HARNESS_BOOL:
        ((bool *)value->bytes)[index] = element != 0;
        break;
    default:
        ((float *)value->bytes)[index] = element;
    }
}

/* Stores an output of the model as the value of the invocation. */
static int store(const struct rknn_output *output, const struct harness_value *value)
{
    const size_t count = count_of(value);
    const size_t size = is_read_as_float(value) ? count * sizeof(float) : value->size;

    if (output->size < size) {
        return fail("rknn_outputs_get: another size for output ", value->name);
    }
    if (!is_read_as_float(value)) {
        memcpy(value->bytes, output->elements, size);
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        store_element(value, i, ((const float *)output->elements)[i]);
    }
    return 0;
}

static int get_outputs(uint32_t count)
{
    struct rknn_output *outputs = calloc(count, sizeof *outputs);
    int status = outputs == NULL ? FAILED : 0;

    for (uint32_t i = 0; status == 0 && i < count; i++) {
        const struct harness_value *value = find_value(HARNESS_OUTPUT, i);
        if (value == NULL) {
            status = fail("the model has more outputs than the operator", "");
        } else {
            outputs[i].index = i;
            outputs[i].wants_float = is_read_as_float(value);
        }
    }
    if (status == 0) {
        phase = "rknn_outputs_get";
        status = node.library.outputs_get(node.context, count, outputs, NULL);
    }
    if (status == 0) {
        for (uint32_t i = 0; status == 0 && i < count; i++) {
            status = store(&outputs[i], find_value(HARNESS_OUTPUT, i));
        }
        node.library.outputs_release(node.context, count, outputs);
    }
    free(outputs);
    return status;
}

static int process(void *ignored)
{
    struct rknn_counts count;

    (void)ignored;
    phase = "rknn_query";
    int status = node.library.query(node.context, RKNN_QUERY_IN_OUT_NUM, &count, sizeof count);
    if (status == 0) {
        status = set_inputs(count.inputs);
    }
    if (status == 0) {
        phase = "rknn_run";
        status = node.library.run(node.context, NULL);
    }
    if (status == 0) {
        status = get_outputs(count.outputs);
    }
    return told(status);
}

static int clean_up(void *ignored)
{
    (void)ignored;
    phase = "rknn_destroy";
    return node.is_initialized ? told(node.library.destroy(node.context)) : 0;
}

static void report(void)
{
}

extern const struct harness_runtime harness_runtime;
const struct harness_runtime harness_runtime = {
    .prepare = prepare,
    .stages = {set_up, process, clean_up},
    .report = report,
    .stage_names = {"the start", "the run", "the end"},
    .phase = &phase,
};
