/*
 * Conversion of numbers between the runtime's types and the types of op.yml.
 *
 * librknnrt 1.6.0 passes all tensors as float32, independent of the model. A conversion is exact,
 * or fails. From 2^24 on, neighboring integers have the same float32, so the original integer is
 * ambiguous.
 */
#ifndef OPKIT_NUMBERS_H
#define OPKIT_NUMBERS_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <rknn_custom_op.h>

#include "../../compute/tensor.h"
#include "operator.h"

#define OPKIT_FLOAT_INTEGERS ((1 << 24) - 1) /* no other integer has the same float32 */

/* A type of numbers, of the runtime and of the math. */
struct opkit_number_type {
    rknn_tensor_type runtime; /* in librknnrt */
    enum opkit_type math; /* in the math */
    size_t size; /* bytes */
    int64_t min; /* for integers; for floats both limits are 0 */
    int64_t max;
};

static const struct opkit_number_type opkit_number_types[] = {
    [OPKIT_DTYPE_FLOAT32] = {RKNN_TENSOR_FLOAT32, OPKIT_FLOAT32, 4, 0, 0},
    [OPKIT_DTYPE_INT32] = {RKNN_TENSOR_INT32, OPKIT_INT32, 4, INT32_MIN, INT32_MAX},
    [OPKIT_DTYPE_INT64] = {RKNN_TENSOR_INT64, OPKIT_INT64, 8, INT64_MIN, INT64_MAX},
    [OPKIT_DTYPE_BOOL] = {RKNN_TENSOR_BOOL, OPKIT_UINT8, 1, 0, 1},
};

/* Converts the runtime's type to a dtype. Returns OPKIT_DTYPE_ANY if it is not supported. */
static inline enum opkit_dtype opkit_find_dtype(rknn_tensor_type type)
{
    for (int dtype = 0; dtype < OPKIT_DTYPE_ANY; dtype++) {
        if (opkit_number_types[dtype].runtime == type) {
            return (enum opkit_dtype)dtype;
        }
    }
    return OPKIT_DTYPE_ANY;
}

/* Returns numpy's name of a type of the runtime. */
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

struct opkit_number {
    bool is_real;
    float real;
    int64_t whole;
};

/* Returns the number at `index` of an array. */
static inline struct opkit_number opkit_load_number(enum opkit_dtype dtype, const void *array,
                                                    size_t index)
{
    const char *place = (const char *)array + index * opkit_number_types[dtype].size;
    struct opkit_number number = {.is_real = dtype == OPKIT_DTYPE_FLOAT32};
    int32_t narrow;

    if (number.is_real) {
        memcpy(&number.real, place, sizeof number.real);
    } else if (dtype == OPKIT_DTYPE_INT32) {
        memcpy(&narrow, place, sizeof narrow);
        number.whole = narrow;
    } else if (dtype == OPKIT_DTYPE_INT64) {
        memcpy(&number.whole, place, sizeof number.whole);
    } else {
        number.whole = (uint8_t)*place;
    }
    return number;
}

/* Converts to an integer from `min` to `max`. Returns false if that is impossible or ambiguous. */
static inline bool opkit_to_whole(struct opkit_number number, int64_t min, int64_t max,
                                  int64_t *whole)
{
    *whole = number.whole;
    if (number.is_real) {
        /* NaN compares false. */
        if (!(number.real >= -OPKIT_FLOAT_INTEGERS && number.real <= OPKIT_FLOAT_INTEGERS)) {
            return false;
        }
        *whole = (int64_t)number.real;
        if ((float)*whole != number.real) {
            return false;
        }
    }
    return min <= *whole && *whole <= max;
}

/* Converts to a float. Returns false if float32 cannot represent the integer. */
static inline bool opkit_to_real(struct opkit_number number, float *real)
{
    static const float PAST_INT64 = 9223372036854775808.0F;

    *real = number.real;
    if (number.is_real) {
        return true;
    }
    *real = (float)number.whole;
    return *real < PAST_INT64 && (int64_t)*real == number.whole;
}

/*
 * Reports a number that a type cannot represent. `where` names it, for instance "attribute 'size'".
 * `min` and `max` are the limits of an integer type; both are 0 for a float type.
 */
static inline int opkit_fail_number(const struct opkit_operator *op, const char *where,
                                    struct opkit_number number, int64_t min, int64_t max)
{
    if (number.is_real) {
        min = min > -OPKIT_FLOAT_INTEGERS ? min : -OPKIT_FLOAT_INTEGERS;
        max = max < OPKIT_FLOAT_INTEGERS ? max : OPKIT_FLOAT_INTEGERS;
        return opkit_fail(
            op, "%s is %.9g in float32 (expected a whole number from %" PRId64 " to %" PRId64 ")",
            where, (double)number.real, min, max);
    }
    if (min == max) {
        return opkit_fail(op, "%s is %" PRId64 " (expected an integer that float32 can hold)",
                          where, number.whole);
    }
    return opkit_fail(op, "%s is %" PRId64 " (expected %" PRId64 " to %" PRId64 ")", where,
                      number.whole, min, max);
}

#endif
