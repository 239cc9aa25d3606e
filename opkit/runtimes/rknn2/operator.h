/*
 * Description of a custom operator, which the generated file defines; error messages; memory.
 *
 * Functions of opkit that return an int return 0; on an error they print one line to stderr, with
 * the names of operator and tensor or attribute, and return OPKIT_FAILED.
 */
#ifndef OPKIT_OPERATOR_H
#define OPKIT_OPERATOR_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../compute/scratch.h"
#include "../../compute/tensor.h"

enum {
    OPKIT_FAILED = -1,
    OPKIT_ATTRIBUTE = -1 /* instead of an input's index */
};

/* The dtype of a tensor in op.yml. */
enum opkit_dtype {
    OPKIT_DTYPE_FLOAT32, /* also for float16: the runtime passes no halves */
    OPKIT_DTYPE_INT32,
    OPKIT_DTYPE_INT64,
    OPKIT_DTYPE_BOOL,
    OPKIT_DTYPE_ANY /* not declared: the math gets the runtime's type */
};

/* An input or an output. */
struct opkit_tensor_row {
    const char *name;
    enum opkit_dtype dtype;
    size_t offset; /* of its member in the struct of inputs or outputs */
};

/* The type of a param, and of its member in the operator's struct of params. */
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

/* A param: its source in the model, and its member in the struct of params. */
struct opkit_param {
    const char *name;
    enum opkit_param_type type;
    size_t offset; /* of its member in the struct of params */
    size_t length; /* number of items of a list; 0: 1 or more */
    const void *default_value; /* of the member's type; NULL: the param is required */
    /* Index of the node's input for the param, if the node has that input; or OPKIT_ATTRIBUTE. */
    int input;
};

/* An operator: its name in messages, its tensors and its params. */
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

/* Text for an expected range of a count. */
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

/* Fails unless the node has `min` to `max` items. `what` names them in the message: "inputs". */
static inline int opkit_check_count(const struct opkit_operator *op, const char *what, size_t count,
                                    size_t min, size_t max)
{
    if (min <= count && count <= max) {
        return 0;
    }
    return opkit_fail(op, "the node has %zu %s (expected %s)", count, what,
                      opkit_range(min, max).text);
}

/* ---- Memory of a node, or of the calls of a node: blocks that are used in order, and kept ---- */

struct opkit_block {
    struct opkit_block *next;
    struct opkit_scratch scratch;
};

/* Initialize it with zeros. */
struct opkit_memory {
    struct opkit_memory *next; /* in a list of its owner */
    struct opkit_block *first;
    struct opkit_block *last_used; /* NULL: no block is in use */
};

/*
 * Returns memory that is valid until opkit_reuse or opkit_free, or NULL after a message if out of
 * memory.
 */
static inline void *opkit_allocate(const struct opkit_operator *op, struct opkit_memory *memory,
                                   size_t size)
{
    struct opkit_block **link =
        memory->last_used != NULL ? &memory->last_used->next : &memory->first;

    if (*link == NULL) {
        *link = (struct opkit_block *)calloc(1, sizeof **link);
    }
    void *bytes = *link != NULL ? opkit_reserve(&(*link)->scratch, size) : NULL;
    if (bytes == NULL) {
        opkit_fail(op, "not enough memory for %zu bytes", size);
        return NULL;
    }
    memory->last_used = *link;
    return bytes;
}

/* Makes all blocks available for other allocations, which need no malloc if they are as large. */
static inline void opkit_reuse(struct opkit_memory *memory)
{
    memory->last_used = NULL;
}

static inline void opkit_free(struct opkit_memory *memory)
{
    while (memory->first != NULL) {
        struct opkit_block *block = memory->first;
        memory->first = block->next;
        opkit_release_scratch(&block->scratch);
        free(block);
    }
    memory->last_used = NULL;
}

#endif
