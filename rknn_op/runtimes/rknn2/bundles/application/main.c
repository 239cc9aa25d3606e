/*
 * Runs a model with custom operators on a board: prints its inputs, its outputs and the time of
 * each run. `run_model -h` describes the options.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rknn_api.h>

#include "custom_ops.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))
#define MAX_CHANNELS 4

static const char HELP[] =
    "Usage: run_model [-h] [-i MEANS:STDS] [-l] [-n RUNS] [-o FOLDER] [-z]\n"
    "                 MODEL.rknn [INPUT.bin ...]\n"
    "\n"
    "Runs a model. Each INPUT.bin has the elements of an input, of the layout and type that the\n"
    "program prints for it. Without files, inputs are random.\n"
    "\n"
    "  -h         print this help\n"
    "  -i MEANS:STDS\n"
    "             float32 inputs are images, files of uint8: an element is (byte - MEAN) / STD of\n"
    "             its channel, the last axis: -i 124,116,104:58,57,57, or -i 0:255 for all\n"
    "  -l         print the runtime's table of the time of each layer\n"
    "  -n RUNS    the count of runs; default: 1\n"
    "  -o FOLDER  write the outputs of the last run to FOLDER/output_0.bin, ...\n"
    "  -z         inputs are zeros, not random\n";

/* An element of an image's channel is (byte - mean) / std. */
struct normalization {
    float means[MAX_CHANNELS];
    float stds[MAX_CHANNELS];
    uint32_t channels; /* 0: inputs are not images; 1: the numbers are those of all channels */
};

struct options {
    const char *model;
    struct normalization normalization;
    char **input_files;
    uint32_t input_file_count;
    const char *output_folder; /* NULL: outputs are not written */
    long runs;
    bool wants_layers;
    bool wants_zeros;
    bool wants_help;
};

struct model {
    rknn_context context;
    bool is_initialized;
    rknn_input_output_num count;
    rknn_tensor_attr *inputs;
    rknn_tensor_attr *outputs;
};

/* ---- Errors ---- */

#define STATUS(name) [-(name)] = #name

static const char *const STATUSES[] = {
    STATUS(RKNN_ERR_FAIL),
    STATUS(RKNN_ERR_TIMEOUT),
    STATUS(RKNN_ERR_DEVICE_UNAVAILABLE),
    STATUS(RKNN_ERR_MALLOC_FAIL),
    STATUS(RKNN_ERR_PARAM_INVALID),
    STATUS(RKNN_ERR_MODEL_INVALID),
    STATUS(RKNN_ERR_CTX_INVALID),
    STATUS(RKNN_ERR_INPUT_INVALID),
    STATUS(RKNN_ERR_OUTPUT_INVALID),
    STATUS(RKNN_ERR_DEVICE_UNMATCH),
    STATUS(RKNN_ERR_INCOMPATILE_PRE_COMPILE_MODEL),
    STATUS(RKNN_ERR_INCOMPATILE_OPTIMIZATION_LEVEL_VERSION),
    STATUS(RKNN_ERR_TARGET_PLATFORM_UNMATCH),
};

/* Returns whether a call of the runtime has succeeded; prints its name and status if not. */
static bool succeeds(const char *call, int status)
{
    const bool is_known = status < 0 && -(long)status < (long)LENGTH(STATUSES);

    if (status == RKNN_SUCC) {
        return true;
    }
    fprintf(stderr, "error: %s returns %d (%s)\n", call, status,
            is_known ? STATUSES[-status] : "unknown status");
    return false;
}

/* Prints an error of a file, from errno; returns false. */
static bool fail_file(const char *path)
{
    fprintf(stderr, "error: %s: %s\n", path, strerror(errno));
    return false;
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count > 0 ? count : 1, size);

    if (memory == NULL) {
        fprintf(stderr, "error: not enough memory for %zu bytes\n", count * size);
    }
    return memory;
}

/* ---- Files ---- */

/* Reads a file into new memory, and stores its size. Returns NULL after an error. */
static void *read_file(const char *path, uint32_t *size)
{
    FILE *file = fopen(path, "rb");
    void *data = NULL;
    long length = -1;

    if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (length = ftell(file)) < 0 ||
        fseek(file, 0, SEEK_SET) != 0) {
        fail_file(path);
    } else if ((unsigned long)length > UINT32_MAX) {
        fprintf(stderr, "error: %s: larger than 4 GB\n", path);
    } else {
        data = allocate((size_t)length, 1);
    }
    if (data != NULL && fread(data, 1, (size_t)length, file) != (size_t)length) {
        fail_file(path);
        free(data);
        data = NULL;
    }
    if (file != NULL) {
        fclose(file);
    }
    *size = (uint32_t)length;
    return data;
}

static bool write_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");

    if (file == NULL) {
        return fail_file(path);
    }
    const bool is_written = fwrite(data, 1, size, file) == size;
    const bool is_closed = fclose(file) == 0;
    return (is_written && is_closed) || fail_file(path);
}

/* ---- Tensors ---- */

/* The elements of a tensor in this program; the runtime converts all other types to float32. */
struct elements {
    rknn_tensor_type type;
    const char *name;
    uint32_t size;
};

static const struct elements *elements_of(const rknn_tensor_attr *attr)
{
    static const struct elements ALL[] = {
        {RKNN_TENSOR_FLOAT32, "float32", sizeof(float)},
        {RKNN_TENSOR_INT32, "int32", sizeof(int32_t)},
        {RKNN_TENSOR_INT64, "int64", sizeof(int64_t)},
        {RKNN_TENSOR_BOOL, "bool", sizeof(uint8_t)},
    };

    for (size_t i = 0; i < LENGTH(ALL); i++) {
        if (ALL[i].type == attr->type) {
            return &ALL[i];
        }
    }
    return &ALL[0];
}

static uint32_t size_of(const rknn_tensor_attr *attr)
{
    return attr->n_elems * elements_of(attr)->size;
}

static const char *layout_name(rknn_tensor_format format)
{
    switch (format) {
    case RKNN_TENSOR_NCHW:
        return " NCHW";
    case RKNN_TENSOR_NHWC:
        return " NHWC";
    default:
        return "";
    }
}

static double element(const void *data, rknn_tensor_type type, size_t index)
{
    switch (type) {
    case RKNN_TENSOR_INT32:
        return ((const int32_t *)data)[index];
    case RKNN_TENSOR_INT64:
        return (double)((const int64_t *)data)[index];
    case RKNN_TENSOR_BOOL:
        return ((const uint8_t *)data)[index];
    default:
        return ((const float *)data)[index];
    }
}

static void set_element(void *data, rknn_tensor_type type, size_t index, float value)
{
    switch (type) {
    case RKNN_TENSOR_INT32:
        ((int32_t *)data)[index] = (int32_t)value;
        break;
    case RKNN_TENSOR_INT64:
        ((int64_t *)data)[index] = (int64_t)value;
        break;
    case RKNN_TENSOR_BOOL:
        ((uint8_t *)data)[index] = value >= 1;
        break;
    default:
        ((float *)data)[index] = value;
    }
}

/* Fills a tensor: floats from -1 to 1, integers from 0 to 3, the same ones at every start. */
static void fill_random(void *data, const rknn_tensor_attr *attr)
{
    const rknn_tensor_type type = elements_of(attr)->type;
    uint32_t state = attr->index + 1;

    for (size_t i = 0; i < attr->n_elems; i++) {
        state = state * 1664525 + 1013904223;
        const float fraction = (float)(state >> 8) / (1 << 24);
        set_element(data, type, i, type == RKNN_TENSOR_FLOAT32 ? 2 * fraction - 1 : 4 * fraction);
    }
}

/* Prints "input 0 'x': 1x3x8x8 NCHW float32", without a newline. */
static void print_tensor(const char *kind, const rknn_tensor_attr *attr)
{
    printf("%s %" PRIu32 " '%s': ", kind, attr->index, attr->name);
    for (uint32_t i = 0; i < attr->n_dims && i < RKNN_MAX_DIMS; i++) {
        printf("%s%" PRIu32, i > 0 ? "x" : "", attr->dims[i]);
    }
    printf("%s %s", layout_name(attr->fmt), elements_of(attr)->name);
}

static void print_statistics(const void *data, const rknn_tensor_attr *attr)
{
    const rknn_tensor_type type = elements_of(attr)->type;
    double min = INFINITY;
    double max = -INFINITY;
    double sum = 0;
    size_t nan_count = 0;

    for (size_t i = 0; i < attr->n_elems; i++) {
        const double value = element(data, type, i);
        nan_count += isnan(value) != 0;
        min = fmin(min, value);
        max = fmax(max, value);
        sum += isnan(value) ? 0 : value;
    }
    if (nan_count < attr->n_elems) {
        printf(", min %g, max %g, mean %g", min, max, sum / (double)(attr->n_elems - nan_count));
    }
    if (nan_count > 0) {
        printf(", %zu NaN", nan_count);
    }
}

/* ---- Model ---- */

/* Loads the model, and registers its custom operators: before everything else. */
static bool load_model(struct model *model, const struct options *options)
{
    const uint32_t flags = options->wants_layers ? RKNN_FLAG_COLLECT_PERF_MASK : 0;
    uint32_t size;
    void *data = read_file(options->model, &size);

    if (data == NULL) {
        return false;
    }
    model->is_initialized =
        succeeds("rknn_init", rknn_init(&model->context, data, size, flags, NULL));
    free(data);
    return model->is_initialized &&
           succeeds("custom_ops_register_all", custom_ops_register_all(model->context));
}

/* Returns the attributes of the inputs or of the outputs, or NULL after an error. */
static rknn_tensor_attr *query_tensors(rknn_context context, rknn_query_cmd command, uint32_t count)
{
    rknn_tensor_attr *attrs = allocate(count, sizeof *attrs);

    for (uint32_t i = 0; attrs != NULL && i < count; i++) {
        attrs[i].index = i;
        if (!succeeds("rknn_query of a tensor",
                      rknn_query(context, command, &attrs[i], sizeof attrs[i]))) {
            free(attrs);
            return NULL;
        }
    }
    return attrs;
}

/* Queries the versions of the runtime, and the model's inputs and outputs. */
static bool query_model(struct model *model)
{
    const rknn_context context = model->context;
    rknn_sdk_version version;

    if (!succeeds("rknn_query of the version",
                  rknn_query(context, RKNN_QUERY_SDK_VERSION, &version, sizeof version)) ||
        !succeeds("rknn_query of the count of tensors",
                  rknn_query(context, RKNN_QUERY_IN_OUT_NUM, &model->count, sizeof model->count))) {
        return false;
    }
    printf("librknnrt %s, driver %s\n", version.api_version, version.drv_version);
    model->inputs = query_tensors(context, RKNN_QUERY_INPUT_ATTR, model->count.n_input);
    model->outputs = query_tensors(context, RKNN_QUERY_OUTPUT_ATTR, model->count.n_output);
    return model->inputs != NULL && model->outputs != NULL;
}

static bool unload_model(struct model *model)
{
    free(model->inputs);
    free(model->outputs);
    return !model->is_initialized || succeeds("rknn_destroy", rknn_destroy(model->context));
}

/* ---- Inputs ---- */

/* Reads a file of a size, the one of an input. Returns NULL after an error. */
static void *read_input(const char *path, uint32_t expected, const rknn_tensor_attr *attr)
{
    uint32_t size;
    void *data = read_file(path, &size);

    if (data != NULL && size != expected) {
        fprintf(stderr, "error: %s: %" PRIu32 " bytes, expected %" PRIu32 " for input '%s'\n", path,
                size, expected, attr->name);
        free(data);
        return NULL;
    }
    return data;
}

/* Returns new memory with the float32 elements of an image, or NULL after an error. */
static void *read_image(const char *path, const rknn_tensor_attr *attr,
                        const struct normalization *normalization)
{
    /* The runtime takes NHWC. */
    const uint32_t channels = attr->n_dims > 0 ? attr->dims[attr->n_dims - 1] : 1;

    if (normalization->channels != 1 && normalization->channels != channels) {
        fprintf(stderr, "error: -i: %" PRIu32 " means, expected 1 or %" PRIu32 " for input '%s'\n",
                normalization->channels, channels, attr->name);
        return NULL;
    }
    uint8_t *bytes = read_input(path, attr->n_elems, attr);
    float *data = bytes != NULL ? allocate(attr->n_elems, sizeof *data) : NULL;
    for (uint32_t i = 0; data != NULL && i < attr->n_elems; i++) {
        const uint32_t channel = i % normalization->channels;
        data[i] = ((float)bytes[i] - normalization->means[channel]) / normalization->stds[channel];
    }
    free(bytes);
    return data;
}

/* Returns new memory with the elements of an input, or NULL after an error. */
static void *input_elements(const rknn_tensor_attr *attr, const char *path,
                            const struct options *options)
{
    const bool is_float = elements_of(attr)->type == RKNN_TENSOR_FLOAT32;

    if (path != NULL) {
        return options->normalization.channels > 0 && is_float
                   ? read_image(path, attr, &options->normalization)
                   : read_input(path, size_of(attr), attr);
    }
    void *data = allocate(size_of(attr), 1);
    if (data != NULL && !options->wants_zeros) {
        fill_random(data, attr);
    }
    return data;
}

/* Passes the inputs to the runtime, which copies them. */
static bool set_inputs(const struct model *model, const struct options *options)
{
    const uint32_t count = model->count.n_input;
    const bool has_files = options->input_file_count > 0;
    rknn_input *inputs = allocate(count, sizeof *inputs);
    bool is_ready = inputs != NULL;

    if (has_files && options->input_file_count != count) {
        fprintf(stderr, "error: %" PRIu32 " input files, expected %" PRIu32 "\n",
                options->input_file_count, count);
        is_ready = false;
    }
    for (uint32_t i = 0; is_ready && i < count; i++) {
        const rknn_tensor_attr *attr = &model->inputs[i];
        print_tensor("input", attr);
        printf("\n");
        inputs[i] = (rknn_input){
            .index = i,
            .buf = input_elements(attr, has_files ? options->input_files[i] : NULL, options),
            .size = size_of(attr),
            .type = elements_of(attr)->type,
            .fmt = attr->fmt,
        };
        is_ready = inputs[i].buf != NULL;
    }
    is_ready =
        is_ready && succeeds("rknn_inputs_set", rknn_inputs_set(model->context, count, inputs));
    for (uint32_t i = 0; inputs != NULL && i < count; i++) {
        free(inputs[i].buf);
    }
    free(inputs);
    return is_ready;
}

/* ---- Runs ---- */

/* Prints the outputs, and writes them into a folder unless it is NULL. */
static bool show_outputs(const struct model *model, const rknn_output *outputs, const char *folder)
{
    for (uint32_t i = 0; i < model->count.n_output; i++) {
        const rknn_tensor_attr *attr = &model->outputs[i];
        const uint32_t size = size_of(attr);
        char path[4096];

        if (outputs[i].size < size) {
            fprintf(stderr, "error: output '%s': %" PRIu32 " bytes, expected %" PRIu32 "\n",
                    attr->name, outputs[i].size, size);
            return false;
        }
        print_tensor("output", attr);
        print_statistics(outputs[i].buf, attr);
        printf("\n");
        if (folder == NULL) {
            continue;
        }
        const int length = snprintf(path, sizeof path, "%s/output_%" PRIu32 ".bin", folder, i);
        if (length < 0 || (size_t)length >= sizeof path) {
            fprintf(stderr, "error: %s: the path is too long\n", folder);
            return false;
        }
        if (!write_file(path, outputs[i].buf, size)) {
            return false;
        }
    }
    return true;
}

/* Prints the runtime's table of layers; custom operators run on its CPU. */
static bool show_layers(rknn_context context)
{
    rknn_perf_detail detail = {0};

    if (!succeeds("rknn_query of the layers",
                  rknn_query(context, RKNN_QUERY_PERF_DETAIL, &detail, sizeof detail))) {
        return false;
    }
    if (detail.perf_data != NULL) {
        printf("%.*s\n", (int)detail.data_len, detail.perf_data);
    }
    return true;
}

/* Prints the time of the last run and, after the last one of all, its results. */
static bool show_run(const struct model *model, const struct options *options, long run,
                     const rknn_output *outputs)
{
    rknn_perf_run perf;

    if (!succeeds("rknn_query of the time",
                  rknn_query(model->context, RKNN_QUERY_PERF_RUN, &perf, sizeof perf))) {
        return false;
    }
    printf("run %ld: %" PRId64 " us\n", run, perf.run_duration);
    if (run < options->runs) {
        return true;
    }
    return show_outputs(model, outputs, options->output_folder) &&
           (!options->wants_layers || show_layers(model->context));
}

static bool run_once(const struct model *model, const struct options *options, long run)
{
    const uint32_t count = model->count.n_output;
    rknn_output *outputs = allocate(count, sizeof *outputs);

    if (outputs == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        outputs[i].index = i;
        outputs[i].want_float = elements_of(&model->outputs[i])->type == RKNN_TENSOR_FLOAT32;
    }
    bool is_done =
        succeeds("rknn_run", rknn_run(model->context, NULL)) &&
        succeeds("rknn_outputs_get", rknn_outputs_get(model->context, count, outputs, NULL));
    if (is_done) {
        is_done = show_run(model, options, run, outputs);
        is_done &=
            succeeds("rknn_outputs_release", rknn_outputs_release(model->context, count, outputs));
    }
    free(outputs);
    return is_done;
}

static bool run_model(const struct model *model, const struct options *options)
{
    for (long run = 1; run <= options->runs; run++) {
        if (!run_once(model, options, run)) {
            return false;
        }
    }
    return true;
}

/* ---- Command line ---- */

static bool parse_runs(const char *text, long *runs)
{
    char *end;

    errno = 0;
    *runs = strtol(text, &end, 10);
    if (errno != 0 || *end != '\0' || *runs < 1) {
        fprintf(stderr, "error: -n %s: expected a count of runs\n", text);
        return false;
    }
    return true;
}

/* Parses numbers with commas between them; returns their count, or 0 if they are not valid. */
static uint32_t parse_numbers(const char *text, char last, float *numbers, const char **rest)
{
    for (uint32_t count = 0; count < MAX_CHANNELS; text = *rest + 1) {
        char *end;
        numbers[count++] = strtof(text, &end);
        *rest = end;
        if (end == text || (*end != ',' && *end != last)) {
            return 0;
        }
        if (*end == last) {
            return count;
        }
    }
    return 0;
}

static bool parse_normalization(const char *text, struct normalization *normalization)
{
    const char *rest;
    const uint32_t means = parse_numbers(text, ':', normalization->means, &rest);
    const uint32_t stds = means > 0 ? parse_numbers(rest + 1, '\0', normalization->stds, &rest) : 0;
    bool is_valid = stds > 0 && stds == means;

    for (uint32_t i = 0; i < stds; i++) {
        is_valid &= normalization->stds[i] > 0;
    }
    if (!is_valid) {
        fprintf(stderr, "error: -i %s: expected MEAN:STD, or one of each for 2 to 4 channels\n",
                text);
    }
    normalization->channels = means;
    return is_valid;
}

static bool parse_options(int argc, char **argv, struct options *options)
{
    int option;

    while ((option = getopt(argc, argv, "hi:ln:o:z")) != -1) {
        switch (option) {
        case 'h':
            options->wants_help = true;
            return true;
        case 'i':
            if (!parse_normalization(optarg, &options->normalization)) {
                return false;
            }
            break;
        case 'l':
            options->wants_layers = true;
            break;
        case 'n':
            if (!parse_runs(optarg, &options->runs)) {
                return false;
            }
            break;
        case 'o':
            options->output_folder = optarg;
            break;
        case 'z':
            options->wants_zeros = true;
            break;
        default: /* getopt has printed the error */
            return false;
        }
    }
    if (optind == argc) {
        fputs(HELP, stderr);
        return false;
    }
    options->model = argv[optind];
    options->input_files = &argv[optind + 1];
    options->input_file_count = (uint32_t)(argc - optind - 1);
    return true;
}

int main(int argc, char **argv)
{
    struct options options = {.runs = 1};
    struct model model = {0};

    if (!parse_options(argc, argv, &options)) {
        return 2;
    }
    if (options.wants_help) {
        fputs(HELP, stdout);
        return EXIT_SUCCESS;
    }
    bool is_done = load_model(&model, &options) && query_model(&model) &&
                   set_inputs(&model, &options) && run_model(&model, &options);
    is_done &= unload_model(&model);
    return is_done ? EXIT_SUCCESS : EXIT_FAILURE;
}
