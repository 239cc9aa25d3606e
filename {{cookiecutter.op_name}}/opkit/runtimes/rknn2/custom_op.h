/*
 * What a custom operator of librknnrt needs to get at its tensors and attributes, all of which are
 * checked before they are used.
 *
 * Each function that returns an int returns 0; or it prints one line to stderr, which names the
 * operator and the tensor or attribute, and returns OPKIT_FAILED.
 */
#ifndef OPKIT_CUSTOM_OP_H
#define OPKIT_CUSTOM_OP_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rknn_custom_op.h>

#include "../../compute/tensor.h"

enum {
    OPKIT_FAILED = -1,
    OPKIT_ATTRIBUTE = -1 /* in the place of an input's index */
};

/* What a param is: the type of its member in the operator's struct of params. */
enum opkit_param_type {
    OPKIT_PARAM_BOOL,
    OPKIT_PARAM_CHAR,
    OPKIT_PARAM_INT8,
    OPKIT_PARAM_UINT8,
    OPKIT_PARAM_INT16,
    OPKIT_PARAM_UINT16,
    OPKIT_PARAM_INT32,
    OPKIT_PARAM_UINT32,
    OPKIT_PARAM_INT64,
    OPKIT_PARAM_UINT64,
    OPKIT_PARAM_FLOAT32,
    OPKIT_PARAM_FLOAT64,
    OPKIT_PARAM_INT32_ARRAY,
    OPKIT_PARAM_FLOAT_ARRAY,
    OPKIT_PARAM_STRING
};

/* A param: where it comes from, and where it goes. */
struct opkit_param {
    const char *name;
    enum opkit_param_type type;
    size_t offset; /* of its member in the struct */
    size_t length; /* how many items a list has; 0: 1 to OPKIT_MAX_ITEMS */
    const void *default_value; /* such a member; NULL: the model has to hold the param */
    /* Which of the node's inputs is the param, if it has so many; or OPKIT_ATTRIBUTE. */
    int input;
};

/* An operator: whom messages are about, and its params. */
struct opkit_operator {
    const char *name;
    const struct opkit_param *params;
    size_t param_count;
    size_t params_size; /* of the struct */
};

/* Values of an attribute, or of a constant input. */
struct opkit_values {
    const char *source; /* "attribute" or "input" */
    rknn_tensor_type type;
    size_t count;
    const void *data;
};

/* Returns from a function of type int at the first thing that fails. */
#define OPKIT_TRY(expression)                  \
    do {                                       \
        const int opkit_status = (expression); \
        if (opkit_status != 0) {               \
            return opkit_status;               \
        }                                      \
    } while (0)

/* Prints "ResizeArea: <message>". */
__attribute__((format(printf, 2, 3))) static inline int opkit_fail(const struct opkit_operator *op,
                                                                   const char *format, ...)
{
    char line[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s: %s\n", op->name, line);
    return OPKIT_FAILED;
}

/* The name of a type, as numpy calls it. */
static inline const char *opkit_type_name(rknn_tensor_type type)
{
    static const char *const names[] = {
        [RKNN_TENSOR_FLOAT32] = "float32", [RKNN_TENSOR_FLOAT16] = "float16",
        [RKNN_TENSOR_INT8] = "int8",       [RKNN_TENSOR_UINT8] = "uint8",
        [RKNN_TENSOR_INT16] = "int16",     [RKNN_TENSOR_UINT16] = "uint16",
        [RKNN_TENSOR_INT32] = "int32",     [RKNN_TENSOR_UINT32] = "uint32",
        [RKNN_TENSOR_INT64] = "int64",     [RKNN_TENSOR_BOOL] = "bool",
    };
    const size_t index = (size_t)type;

    return index < sizeof names / sizeof names[0] ? names[index] : "of an unknown type";
}

/* What is expected of a count, in words. */
struct opkit_range {
    char text[48];
};

static inline struct opkit_range opkit_range(size_t min, size_t max)
{
    struct opkit_range range;

    if (min == max) {
        snprintf(range.text, sizeof range.text, "%zu", min);
    } else {
        snprintf(range.text, sizeof range.text, "%zu to %zu", min, max);
    }
    return range;
}

/* Fails unless the node has from `min` to `max` of its `what`: "inputs". */
static inline int opkit_check_count(const struct opkit_operator *op, const char *what, size_t count,
                                    size_t min, size_t max)
{
    if (min <= count && count <= max) {
        return 0;
    }
    return opkit_fail(op, "the node has %zu %s (expected %s)", count, what,
                      opkit_range(min, max).text);
}

/* ---- Tensors ---- */

/* What the math gets for a tensor of a type; false: the runtime hands over no such tensors. */
static inline bool opkit_find_type(rknn_tensor_type type, enum opkit_type *found)
{
    switch (type) {
    case RKNN_TENSOR_FLOAT32:
        *found = OPKIT_FLOAT32;
        return true;
    case RKNN_TENSOR_INT32:
        *found = OPKIT_INT32;
        return true;
    case RKNN_TENSOR_INT64:
        *found = OPKIT_INT64;
        return true;
    case RKNN_TENSOR_BOOL:
        *found = OPKIT_UINT8;
        return true;
    default:
        return false;
    }
}

/* Sets type, shape and elements of a tensor, which are used where they are: nothing is copied. */
static inline int opkit_open_tensor(const struct opkit_operator *op, const char *name,
                                    const rknn_custom_op_tensor *source,
                                    struct opkit_tensor *tensor)
{
    const rknn_tensor_attr *attr = &source->attr;

    if (!opkit_find_type(attr->type, &tensor->type)) {
        return opkit_fail(op, "tensor '%s' is %s (expected float32, int32, int64 or bool)", name,
                          opkit_type_name(attr->type));
    }
    if (attr->fmt != RKNN_TENSOR_NCHW && attr->fmt != RKNN_TENSOR_UNDEFINED) {
        return opkit_fail(op, "tensor '%s' has the layout %d (expected NCHW or undefined)", name,
                          (int)attr->fmt);
    }
    if (attr->n_dims > OPKIT_MAX_RANK) {
        return opkit_fail(op, "tensor '%s' has %" PRIu32 " dimensions (expected %d at most)", name,
                          attr->n_dims, OPKIT_MAX_RANK);
    }
    tensor->rank = attr->n_dims > 0 ? attr->n_dims : 1; /* a single number may have none */
    tensor->size = 1;
    for (size_t i = 0; i < OPKIT_MAX_RANK; i++) {
        tensor->shape[i] = i < attr->n_dims ? attr->dims[i] : 1;
        tensor->size *= tensor->shape[i];
    }
    if (tensor->size != attr->n_elems) {
        return opkit_fail(op, "tensor '%s' has %" PRIu32 " elements, but its shape has %zu", name,
                          attr->n_elems, tensor->size);
    }
    if (source->mem.virt_addr == NULL) {
        return opkit_fail(op, "tensor '%s' has no memory", name);
    }
    tensor->data = (char *)source->mem.virt_addr + source->mem.offset;
    return 0;
}

/* ---- Params ---- */

/* How the members of a type of param are stored. */
struct opkit_storage {
    size_t size; /* bytes of a member */
    size_t first_item; /* where the items of a list begin, below their count; 0: no list */
    size_t item_size; /* of a list's item, or of the number; 0: no number */
    int64_t min; /* of an integer; floats have two zeros */
    int64_t max;
};

static inline struct opkit_storage opkit_storage_of(enum opkit_param_type type)
{
    static const struct opkit_storage storages[] = {
        [OPKIT_PARAM_BOOL] = {sizeof(bool), 0, sizeof(bool), 0, 1},
        [OPKIT_PARAM_CHAR] = {1, 0, 1, 0, UINT8_MAX},
        [OPKIT_PARAM_INT8] = {1, 0, 1, INT8_MIN, INT8_MAX},
        [OPKIT_PARAM_UINT8] = {1, 0, 1, 0, UINT8_MAX},
        [OPKIT_PARAM_INT16] = {2, 0, 2, INT16_MIN, INT16_MAX},
        [OPKIT_PARAM_UINT16] = {2, 0, 2, 0, UINT16_MAX},
        [OPKIT_PARAM_INT32] = {4, 0, 4, INT32_MIN, INT32_MAX},
        [OPKIT_PARAM_UINT32] = {4, 0, 4, 0, UINT32_MAX},
        [OPKIT_PARAM_INT64] = {8, 0, 8, INT64_MIN, INT64_MAX},
        [OPKIT_PARAM_UINT64] = {8, 0, 8, 0, INT64_MAX},
        [OPKIT_PARAM_FLOAT32] = {4, 0, 4, 0, 0},
        [OPKIT_PARAM_FLOAT64] = {8, 0, 8, 0, 0},
        [OPKIT_PARAM_INT32_ARRAY] = {sizeof(struct opkit_int32_array),
                                     offsetof(struct opkit_int32_array, items), 4, INT32_MIN,
                                     INT32_MAX},
        [OPKIT_PARAM_FLOAT_ARRAY] = {sizeof(struct opkit_float_array),
                                     offsetof(struct opkit_float_array, items), 4, 0, 0},
        [OPKIT_PARAM_STRING] = {sizeof(char *), 0, 0, 0, 0},
    };
    return storages[type];
}

/* Fails at values of another type than what is `expected`, in words. */
static inline int opkit_fail_type(const struct opkit_operator *op, const struct opkit_param *param,
                                  const struct opkit_values *values, const char *expected)
{
    return opkit_fail(op, "%s '%s' is %s (expected %s)", values->source, param->name,
                      opkit_type_name(values->type), expected);
}

/* Stores one of the values, an integer. */
static inline int opkit_store_integer(const struct opkit_operator *op,
                                      const struct opkit_param *param,
                                      const struct opkit_values *values, size_t index, char *place)
{
    const struct opkit_storage storage = opkit_storage_of(param->type);
    const char *data = (const char *)values->data;
    int64_t value = 0;
    int32_t narrow;

    if (values->type == RKNN_TENSOR_INT64) {
        memcpy(&value, data + index * sizeof value, sizeof value);
    } else if (values->type == RKNN_TENSOR_INT32) {
        memcpy(&narrow, data + index * sizeof narrow, sizeof narrow);
        value = narrow;
    } else if (values->type == RKNN_TENSOR_BOOL) {
        value = data[index] != 0;
    } else {
        return opkit_fail_type(op, param, values, "int64, int32 or bool");
    }
    if (value < storage.min || value > storage.max) {
        return opkit_fail(op, "%s '%s' is %" PRId64 " (expected %" PRId64 " to %" PRId64 ")",
                          values->source, param->name, value, storage.min, storage.max);
    }
    memcpy(place, &value, storage.item_size); /* little endian, as all these processors are */
    return 0;
}

/* Stores one of the values, a float. */
static inline int opkit_store_float(const struct opkit_operator *op,
                                    const struct opkit_param *param,
                                    const struct opkit_values *values, size_t index, char *place)
{
    float value;

    if (values->type != RKNN_TENSOR_FLOAT32) {
        return opkit_fail_type(op, param, values, "float32");
    }
    memcpy(&value, (const char *)values->data + index * sizeof value, sizeof value);
    const double wide = value;
    if (param->type == OPKIT_PARAM_FLOAT64) {
        memcpy(place, &wide, sizeof wide);
    } else {
        memcpy(place, &value, sizeof value);
    }
    return 0;
}

/* Stores a number, or the numbers of a list. */
static inline int opkit_store_numbers(const struct opkit_operator *op,
                                      const struct opkit_param *param,
                                      const struct opkit_values *values, char *member)
{
    const struct opkit_storage storage = opkit_storage_of(param->type);
    const bool is_list = storage.first_item != 0;
    const bool is_float = storage.min == storage.max;
    const size_t length = is_list ? param->length : 1;
    const size_t min = length != 0 ? length : 1;
    const size_t max = length != 0 ? length : OPKIT_MAX_ITEMS;

    if (values->count < min || values->count > max) {
        return opkit_fail(op, "%s '%s' has %zu values (expected %s)", values->source, param->name,
                          values->count, opkit_range(min, max).text);
    }
    if (is_list) {
        memcpy(member, &values->count, sizeof values->count);
    }
    for (size_t i = 0; i < values->count; i++) {
        char *place = member + storage.first_item + i * storage.item_size;
        OPKIT_TRY(is_float ? opkit_store_float(op, param, values, i, place)
                           : opkit_store_integer(op, param, values, i, place));
    }
    return 0;
}

/* Stores a copy of characters, which opkit_destroy frees. */
static inline int opkit_store_characters(const struct opkit_operator *op, const char *characters,
                                         size_t length, char *member)
{
    char *copy = (char *)malloc(length + 1);

    if (copy == NULL) {
        return opkit_fail(op, "not enough memory for a text of %zu bytes", length);
    }
    memcpy(copy, characters, length);
    copy[length] = '\0';
    memcpy(member, &copy, sizeof copy);
    return 0;
}

/* Stores a text. Quotes around it are a converter's. */
static inline int opkit_store_text(const struct opkit_operator *op, const struct opkit_param *param,
                                   const struct opkit_values *values, char *member)
{
    const char *characters = values->count > 0 ? (const char *)values->data : "";
    size_t length = values->count;

    if (values->type != RKNN_TENSOR_UINT8) {
        return opkit_fail_type(op, param, values, "uint8, the bytes of a text");
    }
    while (length > 0 && characters[length - 1] == '\0') {
        length--;
    }
    if (length >= 2 && characters[0] == '"' && characters[length - 1] == '"') {
        characters++;
        length -= 2;
    }
    return opkit_store_characters(op, characters, length, member);
}

/* Stores what a model holds for a param. */
static inline int opkit_store(const struct opkit_operator *op, const struct opkit_param *param,
                              const struct opkit_values *values, void *params)
{
    char *member = (char *)params + param->offset;

    return param->type == OPKIT_PARAM_STRING ? opkit_store_text(op, param, values, member)
                                             : opkit_store_numbers(op, param, values, member);
}

/* Stores the default of a param that a node does not have. */
static inline int opkit_store_default(const struct opkit_operator *op,
                                      const struct opkit_param *param, void *params)
{
    char *member = (char *)params + param->offset;

    if (param->default_value == NULL) {
        return opkit_fail(op, "the node has no %s '%s', and op.yml no default for it",
                          param->input == OPKIT_ATTRIBUTE ? "attribute" : "input or attribute",
                          param->name);
    }
    if (param->type == OPKIT_PARAM_STRING) {
        const char *text = *(const char *const *)param->default_value;
        return opkit_store_characters(op, text, strlen(text), member);
    }
    memcpy(member, param->default_value, opkit_storage_of(param->type).size);
    return 0;
}

/* Reads a param from the attribute of its name. An empty list is none. */
static inline int opkit_read_attribute(const struct opkit_operator *op,
                                       const struct opkit_param *param,
                                       rknn_custom_op_context *context, void *params)
{
    /* The runtime leaves it as it is if there is no such attribute. */
    rknn_custom_op_attr attr = {.dtype = RKNN_TENSOR_FLOAT32};

    rknn_custom_op_get_op_attr(context, param->name, &attr);
    const struct opkit_values values = {"attribute", attr.dtype, attr.n_elems, attr.data};
    const bool is_empty_text = values.type == RKNN_TENSOR_UINT8 && values.count == 0;
    if (!is_empty_text && (values.count == 0 || values.data == NULL)) {
        return opkit_store_default(op, param, params);
    }
    return opkit_store(op, param, &values, params);
}

/* Whether one of the inputs of a node is the param. */
static inline bool opkit_is_input(const struct opkit_param *param, uint32_t input_count)
{
    return param->input != OPKIT_ATTRIBUTE && (uint32_t)param->input < input_count;
}

/* Reads the params that are inputs: in each call, because before there is no data. */
static inline int opkit_read_inputs(const struct opkit_operator *op,
                                    const rknn_custom_op_tensor *inputs, uint32_t input_count,
                                    void *params)
{
    for (size_t i = 0; i < op->param_count; i++) {
        const struct opkit_param *param = &op->params[i];
        struct opkit_tensor tensor;

        if (opkit_is_input(param, input_count)) {
            const rknn_custom_op_tensor *input = &inputs[param->input];
            OPKIT_TRY(opkit_open_tensor(op, param->name, input, &tensor));
            const struct opkit_values values = {"input", input->attr.type, tensor.size,
                                                tensor.data};
            OPKIT_TRY(opkit_store(op, param, &values, params));
        }
    }
    return 0;
}

/* ---- The life of a node ---- */

/* Frees the params of a node. */
static inline int opkit_destroy(const struct opkit_operator *op, rknn_custom_op_context *context)
{
    char *params = (char *)context->priv_data;

    for (size_t i = 0; params != NULL && i < op->param_count; i++) {
        if (op->params[i].type == OPKIT_PARAM_STRING) {
            char *text;
            memcpy(&text, params + op->params[i].offset, sizeof text);
            free(text);
        }
    }
    free(params);
    context->priv_data = NULL;
    return 0;
}

/* Reads the attributes of a node, once: into its params, which are the node's private data. */
static inline int opkit_init(const struct opkit_operator *op, rknn_custom_op_context *context,
                             uint32_t input_count)
{
    context->priv_data = calloc(1, op->params_size);
    if (context->priv_data == NULL) {
        return opkit_fail(op, "not enough memory for its params");
    }
    for (size_t i = 0; i < op->param_count; i++) {
        const struct opkit_param *param = &op->params[i];
        if (!opkit_is_input(param, input_count) &&
            opkit_read_attribute(op, param, context, context->priv_data) != 0) {
            opkit_destroy(op, context);
            return OPKIT_FAILED;
        }
    }
    return 0;
}

#endif
