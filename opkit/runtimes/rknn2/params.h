/* Conversion of params from a node's attributes and constant inputs to the operator's struct. */
#ifndef OPKIT_PARAMS_H
#define OPKIT_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "numbers.h"

/* ---- JSON strings: RKNN-Toolkit2 writes them into models as values of text attributes ---- */

/* The unread characters between the quotes. */
struct opkit_json {
    const char *next;
    const char *end;
};

/* Reads the four hexadecimal digits of \uXXXX. */
static inline bool opkit_read_hex(struct opkit_json *json, uint32_t *unit)
{
    static const char DIGITS[] = "0123456789abcdef0123456789ABCDEF";

    *unit = 0;
    for (int i = 0; i < 4; i++) {
        const char *digit =
            json->next < json->end ? memchr(DIGITS, *json->next, sizeof DIGITS - 1) : NULL;
        if (digit == NULL) {
            return false;
        }
        *unit = *unit * 16 + (uint32_t)(digit - DIGITS) % 16;
        json->next++;
    }
    return true;
}

/* Reads a code point after \u: one unit, or a pair of surrogates. */
static inline bool opkit_read_code_point(struct opkit_json *json, uint32_t *code)
{
    uint32_t low;

    if (!opkit_read_hex(json, code)) {
        return false;
    }
    if (*code < 0xD800 || *code > 0xDFFF) {
        return *code != 0; /* U+0000 would terminate the C string */
    }
    if (*code > 0xDBFF || json->end - json->next < 2 || memcmp(json->next, "\\u", 2) != 0) {
        return false;
    }
    json->next += 2;
    if (!opkit_read_hex(json, &low) || low < 0xDC00 || low > 0xDFFF) {
        return false;
    }
    *code = 0x10000 + ((*code - 0xD800) << 10) + (low - 0xDC00);
    return true;
}

/* Writes a code point in UTF-8. Returns the address after it. */
static inline char *opkit_write_utf8(uint32_t code, char *text)
{
    const int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const uint8_t FIRST[] = {0x00, 0xC0, 0xE0, 0xF0};

    *text++ = (char)(FIRST[more] | (code >> (6 * more)));
    for (int i = more - 1; i >= 0; i--) {
        *text++ = (char)(0x80 | (code >> (6 * i) & 0x3F));
    }
    return text;
}

/* Reads an escape sequence after its backslash, and appends the character to `text`. */
static inline bool opkit_read_escape(struct opkit_json *json, char **text)
{
    static const char NAMES[] = "\"\\/bfnrt";
    static const char MEANINGS[] = "\"\\/\b\f\n\r\t";
    uint32_t code;

    if (json->next == json->end) {
        return false;
    }
    const char name = *json->next++;
    const char *found = memchr(NAMES, name, sizeof NAMES - 1);
    if (found != NULL) {
        *(*text)++ = MEANINGS[found - NAMES];
        return true;
    }
    if (name != 'u' || !opkit_read_code_point(json, &code)) {
        return false;
    }
    *text = opkit_write_utf8(code, *text);
    return true;
}

/*
 * Decodes a JSON string of `length` bytes, quotes included, to UTF-8 with a terminating zero.
 * `text` must have `length` bytes. Returns NULL, or the address of the first malformed character.
 */
static inline const char *opkit_decode_json(const char *string, size_t length, char *text)
{
    struct opkit_json json = {string + 1, string + length - 1};

    if (length < 2 || string[0] != '"' || *json.end != '"') {
        return string;
    }
    while (json.next < json.end) {
        const char *start = json.next++;
        if ((uint8_t)*start < ' ' || *start == '"') {
            return start;
        }
        if (*start != '\\') {
            *text++ = *start;
        } else if (!opkit_read_escape(&json, &text)) {
            return start;
        }
    }
    *text = '\0';
    return NULL;
}

/* ---- Params ---- */

/* The values of an attribute, or of a constant input. */
struct opkit_values {
    const char *source; /* "attribute" or "input" */
    bool is_input; /* inputs have the runtime's type, not the model's */
    rknn_tensor_type type;
    size_t count;
    const void *data;
};

/* A struct of params, and the memory for strings and lists. */
struct opkit_target {
    void *params;
    struct opkit_memory *memory;
};

/* The storage of a param in the struct. */
struct opkit_storage {
    size_t size; /* bytes of the member */
    size_t item_size; /* of a list's item, or of the number; 0 for strings */
    int64_t min; /* for integers; for floats both limits are 0 */
    int64_t max;
};

static inline struct opkit_storage opkit_storage_of(enum opkit_param_type type)
{
    static const struct opkit_storage storages[] = {
        [OPKIT_PARAM_BOOL] = {sizeof(bool), sizeof(bool), 0, 1},
        [OPKIT_PARAM_CHAR] = {1, 1, 0, UINT8_MAX},
        [OPKIT_PARAM_INT8] = {1, 1, INT8_MIN, INT8_MAX},
        [OPKIT_PARAM_UINT8] = {1, 1, 0, UINT8_MAX},
        [OPKIT_PARAM_INT16] = {2, 2, INT16_MIN, INT16_MAX},
        [OPKIT_PARAM_UINT16] = {2, 2, 0, UINT16_MAX},
        [OPKIT_PARAM_INT32] = {4, 4, INT32_MIN, INT32_MAX},
        [OPKIT_PARAM_UINT32] = {4, 4, 0, UINT32_MAX},
        [OPKIT_PARAM_INT64] = {8, 8, INT64_MIN, INT64_MAX},
        [OPKIT_PARAM_UINT64] = {8, 8, 0, INT64_MAX},
        [OPKIT_PARAM_FLOAT32] = {4, 4, 0, 0},
        [OPKIT_PARAM_FLOAT64] = {8, 8, 0, 0},
        [OPKIT_PARAM_INT32_ARRAY] = {sizeof(struct opkit_int32_array), 4, INT32_MIN, INT32_MAX},
        [OPKIT_PARAM_FLOAT_ARRAY] = {sizeof(struct opkit_float_array), 4, 0, 0},
        [OPKIT_PARAM_STRING] = {sizeof(char *), 0, 0, 0},
    };
    return storages[type];
}

/* Reports values of a wrong type; `expected` describes the right types. */
static inline int opkit_fail_type(const struct opkit_operator *op, const struct opkit_param *param,
                                  const struct opkit_values *values, const char *expected)
{
    return opkit_fail(op, "%s '%s' is %s (expected %s)", values->source, param->name,
                      opkit_type_name(values->type), expected);
}

/* Fails unless attributes have the param's type, and inputs are numbers. */
static inline int opkit_check_number_type(const struct opkit_operator *op,
                                          const struct opkit_param *param,
                                          const struct opkit_values *values)
{
    const struct opkit_storage storage = opkit_storage_of(param->type);
    const bool is_float = storage.min == storage.max;
    const enum opkit_dtype dtype = opkit_find_dtype(values->type);

    if (dtype == OPKIT_DTYPE_ANY ||
        (!values->is_input && is_float != (dtype == OPKIT_DTYPE_FLOAT32))) {
        return opkit_fail_type(op, param, values, is_float ? "float32" : "int64, int32 or bool");
    }
    return 0;
}

/* Stores the number at `index` of the values. */
static inline int opkit_store_number(const struct opkit_operator *op,
                                     const struct opkit_param *param,
                                     const struct opkit_values *values, size_t index, char *place)
{
    const struct opkit_storage storage = opkit_storage_of(param->type);
    const struct opkit_number number =
        opkit_load_number(opkit_find_dtype(values->type), values->data, index);
    const bool is_float = storage.min == storage.max;
    int64_t whole;
    float real;

    if (!is_float && opkit_to_whole(number, storage.min, storage.max, &whole)) {
        memcpy(place, &whole, storage.item_size); /* little endian, as all these processors are */
    } else if (is_float && opkit_to_real(number, &real)) {
        const double wide = real;
        memcpy(place, storage.item_size == sizeof wide ? (const void *)&wide : &real,
               storage.item_size);
    } else {
        char where[512];
        snprintf(where, sizeof where, "%s '%s'", values->source, param->name);
        return opkit_fail_number(op, where, number, storage.min, storage.max);
    }
    return 0;
}

/* Stores a number. */
static inline int opkit_store_scalar(const struct opkit_operator *op,
                                     const struct opkit_param *param,
                                     const struct opkit_values *values, char *member)
{
    if (values->count != 1) {
        return opkit_fail(op, "%s '%s' has %zu values (expected 1)", values->source, param->name,
                          values->count);
    }
    return opkit_store_number(op, param, values, 0, member);
}

/* Stores a list of numbers. */
static inline int opkit_store_list(const struct opkit_operator *op, const struct opkit_param *param,
                                   const struct opkit_values *values, struct opkit_memory *memory,
                                   char *member)
{
    const size_t min = param->length != 0 ? param->length : 1;
    const size_t max = param->length != 0 ? param->length : SIZE_MAX;
    const size_t item_size = opkit_storage_of(param->type).item_size;

    if (values->count < min || values->count > max) {
        return opkit_fail(op, "%s '%s' has %zu values (expected %s)", values->source, param->name,
                          values->count, opkit_range(min, max).text);
    }
    char *items = (char *)opkit_allocate(op, memory, values->count * item_size);
    if (items == NULL) {
        return OPKIT_FAILED;
    }
    for (size_t i = 0; i < values->count; i++) {
        OPKIT_TRY(opkit_store_number(op, param, values, i, items + i * item_size));
    }
    if (param->type == OPKIT_PARAM_INT32_ARRAY) {
        const struct opkit_int32_array list = {values->count, (const int32_t *)(void *)items};
        memcpy(member, &list, sizeof list);
    } else {
        const struct opkit_float_array list = {values->count, (const float *)(void *)items};
        memcpy(member, &list, sizeof list);
    }
    return 0;
}

/* Stores a string: decodes it if it is a JSON string, with quotes; otherwise copies it. */
static inline int opkit_store_text(const struct opkit_operator *op, const struct opkit_param *param,
                                   const struct opkit_values *values, struct opkit_memory *memory,
                                   char *member)
{
    const char *characters = values->count > 0 ? (const char *)values->data : "";
    size_t length = values->count;

    if (values->type != RKNN_TENSOR_UINT8) {
        return opkit_fail_type(op, param, values, "uint8, the bytes of a string");
    }
    while (length > 0 && characters[length - 1] == '\0') {
        length--;
    }
    char *text = (char *)opkit_allocate(op, memory, length + 1);
    if (text == NULL) {
        return OPKIT_FAILED;
    }
    if (length > 0 && characters[0] == '"') {
        const char *problem = opkit_decode_json(characters, length, text);
        if (problem != NULL) {
            return opkit_fail(op, "%s '%s' is a malformed JSON string at byte %zu: %.*s",
                              values->source, param->name, (size_t)(problem - characters),
                              (int)(characters + length - problem), problem);
        }
    } else {
        memcpy(text, characters, length);
        text[length] = '\0';
    }
    memcpy(member, &text, sizeof text);
    return 0;
}

/* Stores the values of a param. */
static inline int opkit_store(const struct opkit_operator *op, const struct opkit_param *param,
                              const struct opkit_values *values, struct opkit_target target)
{
    char *member = (char *)target.params + param->offset;

    if (param->type == OPKIT_PARAM_STRING) {
        return opkit_store_text(op, param, values, target.memory, member);
    }
    OPKIT_TRY(opkit_check_number_type(op, param, values));
    if (param->type == OPKIT_PARAM_INT32_ARRAY || param->type == OPKIT_PARAM_FLOAT_ARRAY) {
        return opkit_store_list(op, param, values, target.memory, member);
    }
    return opkit_store_scalar(op, param, values, member);
}

/* Stores the default of a missing param. String or items are not copied. */
static inline int opkit_store_default(const struct opkit_operator *op,
                                      const struct opkit_param *param, struct opkit_target target)
{
    if (param->default_value == NULL) {
        return opkit_fail(op, "the node has no %s '%s', and op.yml has no default for it",
                          param->input == OPKIT_ATTRIBUTE ? "attribute" : "input or attribute",
                          param->name);
    }
    memcpy((char *)target.params + param->offset, param->default_value,
           opkit_storage_of(param->type).size);
    return 0;
}

/* Whether an input of the node is the param. */
static inline bool opkit_is_input(const struct opkit_param *param, uint32_t input_count)
{
    return param->input != OPKIT_ATTRIBUTE && (uint32_t)param->input < input_count;
}

/* Reads a param from its attribute. An empty list counts as missing. */
static inline int opkit_read_attribute(const struct opkit_operator *op,
                                       const struct opkit_param *param,
                                       rknn_custom_op_context *context, struct opkit_target target)
{
    /* For a missing attribute, the runtime returns no elements; it may not write to `attr`. */
    rknn_custom_op_attr attr = {.dtype = RKNN_TENSOR_FLOAT32};

    rknn_custom_op_get_op_attr(context, param->name, &attr);
    const struct opkit_values values = {"attribute", false, attr.dtype, attr.n_elems, attr.data};
    const bool is_empty_text = values.type == RKNN_TENSOR_UINT8 && values.count == 0;
    if (!is_empty_text && (values.count == 0 || values.data == NULL)) {
        return opkit_store_default(op, param, target);
    }
    return opkit_store(op, param, &values, target);
}

#endif
