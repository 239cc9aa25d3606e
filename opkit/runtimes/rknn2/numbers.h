/*
 * Numbers on their way between the types of the runtime and those of op.yml.
 *
 * librknnrt 1.6.0 hands over all tensors as float32, whatever the model says of them. A conversion
 * is exact, or fails. From 2^24 on, neighboring integers are the same float32: whoever reads such a
 * one cannot tell which integer it was.
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

#define OPKIT_FLOAT_INTEGERS ((1 << 24) - 1) /* the largest that no other one is rounded to */

/* The types of numbers that pass between the runtime and an operator. */
struct opkit_number_type {
    rknn_tensor_type runtime; /* what the runtime calls it */
    enum opkit_type math; /* what the math calls it */
    size_t size; /* bytes */
    int64_t min; /* of integers; of floats both are 0 */
    int64_t max;
};

static const struct opkit_number_type opkit_number_types[] = {
    [OPKIT_DTYPE_FLOAT32] = {RKNN_TENSOR_FLOAT32, OPKIT_FLOAT32, 4, 0, 0},
    [OPKIT_DTYPE_INT32] = {RKNN_TENSOR_INT32, OPKIT_INT32, 4, INT32_MIN, INT32_MAX},
    [OPKIT_DTYPE_INT64] = {RKNN_TENSOR_INT64, OPKIT_INT64, 8, INT64_MIN, INT64_MAX},
    [OPKIT_DTYPE_BOOL] = {RKNN_TENSOR_BOOL, OPKIT_UINT8, 1, 0, 1},
};

/* The dtype of a type of the runtime; OPKIT_DTYPE_ANY: the runtime hands over no such numbers. */
static inline enum opkit_dtype opkit_find_dtype(rknn_tensor_type type)
{
    for (int dtype = 0; dtype < OPKIT_DTYPE_ANY; dtype++) {
        if (opkit_number_types[dtype].runtime == type) {
            return (enum opkit_dtype)dtype;
        }
    }
    return OPKIT_DTYPE_ANY;
}

/* The name of a type of the runtime, as numpy calls it. */
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

/* Returns one of an array of numbers. */
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

/* Converts to an integer from `min` to `max`; false: the number is none, or may be another one. */
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

/* Converts to a float; false: float32 does not have the integer. */
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
 * Fails at a number that is not one of a type. `where` names it: "attribute 'size'". The limits are
 * those of an integer type; of a float type both are 0.
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
