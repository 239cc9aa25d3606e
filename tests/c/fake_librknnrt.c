/*
 * A fake of the vendor's librknnrt, for models of one node in the text of rknn_stand_in/.
 *
 * It asks the driver of the NPU what librknnrt 1.6.0 asks, and calls the operator as that does:
 * every tensor is float32, attributes are int64, float32 or quoted uint8, and memory comes with the
 * run. What 1.6.0 does not take fails here, too. An input with a layout goes to a job of the NPU,
 * which leaves zeros.
 */
#define _GNU_SOURCE

#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "opkit/runtimes/rknn2/librknnrt/application.h"

#define EXPORT __attribute__((visibility("default")))
#define DEVICE "/dev/dri/card0"

enum {
    MAX_ITEMS = 16,
    MAX_RANK = 6,
    IMAGE_RANK = 4,
    OFFSET = 64, /* of elements in a tensor's memory */
    FAILED = -1,
    INVALID = -5, /* RKNN_ERR_PARAM_INVALID */
    CONTEXT = 7
};

struct tensor {
    rknn_tensor_type type; /* in the model */
    bool is_constant;
    float *elements;
};

static struct {
    char op_type[256];
    char name[600]; /* <op_type>:<node> */
    struct tensor inputs[MAX_ITEMS], outputs[MAX_ITEMS];
    rknn_custom_op_tensor input_items[MAX_ITEMS], output_items[MAX_ITEMS];
    uint32_t input_count, variable_count, output_count, attribute_count;
    rknn_custom_op_attr attributes[MAX_ITEMS];
    rknn_custom_op op;
    rknn_custom_op_context context;
    bool is_registered;
    int device;
} model;

static const char VERSION[] = "librknnrt version: 1.6.0 (fake)";

/* ---- The driver ---- */

struct version {
    int major, minor, patch;
    size_t name_length;
    char *name;
    size_t date_length;
    char *date;
    size_t description_length;
    char *description;
};

struct action {
    uint32_t number, value;
};

struct memory {
    uint32_t handle, flags;
    uint64_t size, object, address, sram_size;
};

struct map {
    uint32_t handle, reserved;
    uint64_t offset;
};

struct submit {
    uint32_t flags, timeout, task_start, task_number, task_counter, more[15];
};

struct prime {
    uint32_t handle, flags;
    int32_t file;
};

static int expect(bool is_right, const char *what)
{
    if (!is_right) {
        fprintf(stderr, "E RKNN: %s\n", what);
    }
    return is_right ? 0 : FAILED;
}

static int ask_version(void)
{
    char name[16] = "";
    struct version version = {0};

    int status = ioctl(model.device, _IOWR('d', 0x00, struct version), &version);
    version.name = name;
    status |= ioctl(model.device, _IOWR('d', 0x00, struct version), &version);
    return expect(status == 0 && strcmp(name, "rknpu") == 0, "DRM_VERSION");
}

static int ask_hardware(void)
{
    struct action action = {0, 0};
    const int status = ioctl(model.device, _IOWR('d', 0x40, struct action), &action);
    return expect(status == 0 && action.value == 0x46495245, "the version of the hardware");
}

/* Makes, maps, exports and destroys memory. */
static int use_memory(uint64_t size)
{
    struct memory memory = {.size = size};
    int status = ioctl(model.device, _IOWR('d', 0x42, struct memory), &memory);
    struct map map = {.handle = memory.handle};
    struct prime prime = {.handle = memory.handle};

    status |= ioctl(model.device, _IOWR('d', 0x43, struct map), &map);
    status |= ioctl(model.device, _IOWR('d', 0x2d, struct prime), &prime);
    if (expect(status == 0 && memory.size >= size && memory.address != 0, "memory") != 0) {
        return FAILED;
    }
    unsigned char *bytes =
        mmap64(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, model.device, (off64_t)map.offset);
    unsigned char *same = mmap64(NULL, size, PROT_READ, MAP_SHARED, prime.file, 0);
    if (expect(bytes != MAP_FAILED && same != MAP_FAILED, "mmap") != 0) {
        return FAILED;
    }
    bytes[size - 1] = 1;
    status = expect(same[size - 1] == 1, "the exported memory is another");
    munmap(same, size);
    munmap(bytes, size);
    status |= ioctl(prime.file, _IOW('b', 0, uint64_t), &map.offset); /* synchronize */
    status |= close(prime.file);
    status |= ioctl(model.device, _IOWR('d', 0x44, struct memory), &memory);
    return expect(status == 0, "the end of memory");
}

static int open_device(void)
{
    struct stat found;

    if (expect(stat("/dev/dri", &found) == 0 && S_ISDIR(found.st_mode), "/dev/dri") != 0 ||
        expect(stat(DEVICE, &found) == 0 && S_ISCHR(found.st_mode), "stat " DEVICE) != 0 ||
        expect(mknod("/dev/dri/card1", S_IFCHR, makedev(226, 1)) == 0, "mknod") != 0 ||
        expect(unlink("/dev/dri/card1") == 0, "unlink") != 0 ||
        expect(system("false") == 0, "a command runs") != 0 ||
        expect(open("/dev/dri/card1", O_RDWR) < 0, "there is a second device") != 0 ||
        expect(open("/dev/rknpu", O_RDWR) < 0, "there is another driver") != 0) {
        return FAILED;
    }
    model.device = open(DEVICE, O_RDWR);
    if (expect(model.device >= 0, "open " DEVICE) != 0) {
        return FAILED;
    }
    return ask_version() | ask_hardware() | use_memory(5000);
}

/* ---- The model ---- */

static char *next_word(void)
{
    char *word = strtok(NULL, " \n");
    return word != NULL ? word : (char *)"";
}

static uint32_t next_count(void)
{
    return (uint32_t)strtoul(next_word(), NULL, 10);
}

/* Reads "NAME TYPE RANK SIZES... COUNT VALUES...", where a constant has values. */
static void read_tensor(struct tensor *tensor, rknn_custom_op_tensor *item, uint32_t index)
{
    rknn_tensor_attr *attr = &item->attr;

    snprintf(attr->name, sizeof attr->name, "%s", next_word());
    tensor->type = (rknn_tensor_type)next_count();
    attr->index = index;
    attr->n_dims = next_count();
    attr->n_elems = 1;
    for (uint32_t i = 0; i < attr->n_dims && i < RKNN_MAX_DIMS; i++) {
        attr->dims[i] = next_count();
        attr->n_elems *= attr->dims[i];
    }
    attr->size = attr->size_with_stride = attr->n_elems * (uint32_t)sizeof(float);
    attr->fmt = attr->n_dims == IMAGE_RANK ? RKNN_TENSOR_NCHW : RKNN_TENSOR_UNDEFINED;
    attr->type = RKNN_TENSOR_FLOAT32;
    const uint32_t values = next_count();
    tensor->is_constant = values > 0;
    tensor->elements = calloc(attr->n_elems + OFFSET / sizeof(float), sizeof(float));
    for (uint32_t i = 0; i < values; i++) {
        tensor->elements[OFFSET / sizeof(float) + i] = strtof(next_word(), NULL);
    }
}

/* Reads "NAME TYPE COUNT VALUES..."; aborts at numbers that std::stoi and std::stof refuse. */
static void read_attribute(rknn_custom_op_attr *attribute)
{
    snprintf(attribute->name, sizeof attribute->name, "%s", next_word());
    attribute->dtype = (rknn_tensor_type)next_count();
    attribute->n_elems = next_count();
    attribute->data = calloc(attribute->n_elems + 1, sizeof(int64_t));
    for (uint32_t i = 0; i < attribute->n_elems; i++) {
        const double value = strtod(next_word(), NULL);
        switch (attribute->dtype) {
        case RKNN_TENSOR_INT64:
            if (value < INT32_MIN || value > INT32_MAX) {
                abort();
            }
            ((int64_t *)attribute->data)[i] = (int64_t)value;
            break;
        case RKNN_TENSOR_FLOAT32:
            if (value != 0 && !isnormal((float)value)) {
                abort();
            }
            ((float *)attribute->data)[i] = (float)value;
            break;
        default:
            ((uint8_t *)attribute->data)[i] = (uint8_t)value;
        }
    }
}

static int read_model(char *text)
{
    for (char *word = strtok(text, " \n"); word != NULL; word = strtok(NULL, " \n")) {
        if (strcmp(word, "node") == 0) {
            snprintf(model.op_type, sizeof model.op_type, "%s", next_word());
            snprintf(model.name, sizeof model.name, "%s:%s", model.op_type, next_word());
        } else if (strcmp(word, "input") == 0) {
            const uint32_t index = model.input_count++;
            read_tensor(&model.inputs[index], &model.input_items[index], index);
            model.variable_count += !model.inputs[index].is_constant;
        } else if (strcmp(word, "output") == 0) {
            const uint32_t index = model.output_count++;
            read_tensor(&model.outputs[index], &model.output_items[index], index);
        } else {
            read_attribute(&model.attributes[model.attribute_count++]);
        }
    }
    for (uint32_t i = 0; i < model.input_count; i++) {
        if (model.input_items[i].attr.n_dims > MAX_RANK) {
            return FAILED;
        }
    }
    return 0;
}

/* ---- The functions for applications ---- */

EXPORT int rknn_init(rknn_context *context, void *data, uint32_t size, uint32_t flags, void *more);
int rknn_init(rknn_context *context, void *data, uint32_t size, uint32_t flags, void *more)
{
    char *text = strndup(data, size);

    (void)flags;
    (void)more;
    memset(&model, 0, sizeof model);
    *context = CONTEXT;
    return open_device() != 0 ? FAILED : read_model(text);
}

EXPORT int rknn_query(rknn_context context, int what, void *answer, uint32_t size);
int rknn_query(rknn_context context, int what, void *answer, uint32_t size)
{
    if (context == CONTEXT && what == RKNN_QUERY_IN_OUT_NUM && size == sizeof(struct rknn_counts)) {
        *(struct rknn_counts *)answer = (struct rknn_counts){
            model.variable_count,
            model.output_count,
        };
        return 0;
    }
    if (context == CONTEXT && what == RKNN_QUERY_SDK_VERSION &&
        size == sizeof(struct rknn_versions)) {
        struct rknn_versions *versions = answer;
        snprintf(versions->library, sizeof versions->library, "%s", strrchr(VERSION, ':') + 2);
        snprintf(versions->driver, sizeof versions->driver, "0.9.8");
        return 0;
    }
    return INVALID;
}

EXPORT void rknn_custom_op_get_op_attr(rknn_custom_op_context *context, const char *name,
                                       rknn_custom_op_attr *attribute);
void rknn_custom_op_get_op_attr(rknn_custom_op_context *context, const char *name,
                                rknn_custom_op_attr *attribute)
{
    (void)context;
    memset(attribute, 0, sizeof *attribute);
    snprintf(attribute->name, sizeof attribute->name, "%s", name);
    attribute->dtype = RKNN_TENSOR_BFLOAT16; /* of a missing one */
    for (uint32_t i = 0; i < model.attribute_count; i++) {
        if (strcmp(model.attributes[i].name, name) == 0) {
            *attribute = model.attributes[i];
        }
    }
    if (strcmp(name, "name") == 0) {
        attribute->dtype = RKNN_TENSOR_UINT8;
        attribute->n_elems = (uint32_t)strlen(model.name);
        attribute->data = model.name;
    }
    if (attribute->n_elems == 0) {
        fprintf(stderr, "E RKNN: op_attr %s not found\n", name);
    }
}

EXPORT int rknn_register_custom_ops(rknn_context context, rknn_custom_op *operators,
                                    uint32_t count);
int rknn_register_custom_ops(rknn_context context, rknn_custom_op *operators, uint32_t count)
{
    for (uint32_t i = 0; context == CONTEXT && i < count; i++) {
        if (strcmp(operators[i].op_type, model.op_type) == 0) {
            model.op = operators[i];
            model.context.target = RKNN_TARGET_TYPE_CPU;
            model.is_registered = true;
            return model.op.init == NULL
                       ? 0
                       : model.op.init(&model.context, model.input_items, model.input_count,
                                       model.output_items, model.output_count);
        }
    }
    return FAILED;
}

static float element_of(const void *elements, rknn_tensor_type type, uint32_t i)
{
    switch (type) {
    case RKNN_TENSOR_INT32:
        return (float)((const int32_t *)elements)[i];
    case RKNN_TENSOR_INT64:
        return (float)((const int64_t *)elements)[i];
    case RKNN_TENSOR_BOOL:
        return ((const uint8_t *)elements)[i];
    default:
        return ((const float *)elements)[i];
    }
}

EXPORT int rknn_inputs_set(rknn_context context, uint32_t count, struct rknn_input *inputs);
int rknn_inputs_set(rknn_context context, uint32_t count, struct rknn_input *inputs)
{
    if (context != CONTEXT || count != model.variable_count) {
        return INVALID;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct tensor *tensor = &model.inputs[i];
        const rknn_tensor_attr *attr = &model.input_items[i].attr;
        const bool is_image = attr->n_dims == IMAGE_RANK;

        if (inputs[i].index != i || inputs[i].type != tensor->type || inputs[i].pass_through ||
            inputs[i].format != (is_image ? RKNN_TENSOR_NHWC : RKNN_TENSOR_UNDEFINED)) {
            return INVALID;
        }
        const uint32_t channels = is_image ? attr->dims[1] : 1;
        const uint32_t area = is_image ? attr->dims[2] * attr->dims[3] : attr->n_elems;
        for (uint32_t k = 0; k < attr->n_elems; k++) {
            const uint32_t image = k / (channels * area);
            const uint32_t from = (image * area + k % area) * channels + k / area % channels;
            tensor->elements[OFFSET / sizeof(float) + k] =
                is_image ? 0 : element_of(inputs[i].elements, tensor->type, from);
        }
    }
    return 0;
}

/* Sets the memory of tensors, which they have only in a run. */
static void add_memory(struct tensor *tensors, rknn_custom_op_tensor *items, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        items[i].mem.virt_addr = tensors[i].elements;
        items[i].mem.offset = OFFSET;
        items[i].mem.size = items[i].attr.size + OFFSET;
        items[i].mem.fd = -1;
    }
}

EXPORT int rknn_run(rknn_context context, void *more);
int rknn_run(rknn_context context, void *more)
{
    struct submit job = {.task_number = 3};

    (void)more;
    if (context != CONTEXT || !model.is_registered ||
        ioctl(model.device, _IOWR('d', 0x41, struct submit), &job) != 0 ||
        expect(job.task_counter == 3, "the job of the NPU") != 0) {
        return FAILED;
    }
    add_memory(model.inputs, model.input_items, model.input_count);
    add_memory(model.outputs, model.output_items, model.output_count);
    return model.op.compute(&model.context, model.input_items, model.input_count,
                            model.output_items, model.output_count);
}

EXPORT int rknn_outputs_get(rknn_context context, uint32_t count, struct rknn_output *outputs,
                            void *more);
int rknn_outputs_get(rknn_context context, uint32_t count, struct rknn_output *outputs, void *more)
{
    (void)context;
    (void)more;
    for (uint32_t i = 0; i < count; i++) {
        const struct tensor *tensor = &model.outputs[i];
        const float *elements = tensor->elements + OFFSET / sizeof(float);
        const uint32_t size = model.output_items[i].attr.n_elems;
        const bool is_long = tensor->type == RKNN_TENSOR_INT64 && !outputs[i].wants_float;
        const bool is_empty = !is_long && !outputs[i].wants_float;

        outputs[i].size = is_empty ? 0 : size * (uint32_t)(is_long ? 8 : 4);
        outputs[i].elements = calloc(size, sizeof(int64_t));
        for (uint32_t k = 0; k < size && !is_empty; k++) {
            if (is_long) {
                ((int64_t *)outputs[i].elements)[k] = (int64_t)elements[k];
            } else {
                ((float *)outputs[i].elements)[k] = elements[k];
            }
        }
    }
    return 0;
}

EXPORT int rknn_outputs_release(rknn_context context, uint32_t count, struct rknn_output *outputs);
int rknn_outputs_release(rknn_context context, uint32_t count, struct rknn_output *outputs)
{
    (void)context;
    for (uint32_t i = 0; i < count; i++) {
        free(outputs[i].elements);
    }
    return 0;
}

EXPORT int rknn_destroy(rknn_context context);
int rknn_destroy(rknn_context context)
{
    if (model.is_registered && model.op.destroy != NULL) {
        model.op.destroy(&model.context);
    }
    return context != CONTEXT || close(model.device) != 0 ? FAILED : 0;
}
