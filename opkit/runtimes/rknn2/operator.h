/*
 * What a generated file says of its custom operator, and messages about it.
 *
 * Each function of opkit's that returns an int returns 0; or it prints one line to stderr, which
 * names the operator and the tensor or attribute, and returns OPKIT_FAILED.
 */
#ifndef OPKIT_OPERATOR_H
#define OPKIT_OPERATOR_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../../compute/tensor.h"

enum {
    OPKIT_FAILED = -1,
    OPKIT_ATTRIBUTE = -1 /* in the place of an input's index */
};

/* What op.yml says of the elements of a tensor. */
enum opkit_dtype {
    OPKIT_DTYPE_FLOAT32, /* float16, too: the runtime has no halves here */
    OPKIT_DTYPE_INT32,
    OPKIT_DTYPE_INT64,
    OPKIT_DTYPE_BOOL,
    OPKIT_DTYPE_ANY /* nothing: the math gets what the runtime hands over */
};

/* An input or an output. */
struct opkit_tensor_row {
    const char *name;
    enum opkit_dtype dtype;
    size_t offset; /* of its member in the struct of inputs or outputs */
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
    size_t offset; /* of its member in the struct of params */
    size_t length; /* how many items a list has; 0: 1 or more */
    const void *default_value; /* such a member; NULL: the model has to hold the param */
    /* Which of the node's inputs is the param, if it has so many; or OPKIT_ATTRIBUTE. */
    int input;
};

/* An operator: whom messages are about, its tensors and its params. */
struct opkit_operator {
    const char *name;
    const struct opkit_tensor_row *inputs;
    size_t input_count;
    const struct opkit_tensor_row *outputs;
    size_t output_count;
    const struct opkit_param *params;
    size_t param_count;
    size_t params_size; /* of the struct */
};

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

/* What is expected of a count, in words. */
struct opkit_range {
    char text[48];
};

static inline struct opkit_range opkit_range(size_t min, size_t max)
{
    struct opkit_range range;

    if (min == max) {
        snprintf(range.text, sizeof range.text, "%zu", min);
    } else if (max == SIZE_MAX) {
        snprintf(range.text, sizeof range.text, "%zu or more", min);
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

#endif
