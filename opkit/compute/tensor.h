/*
 * Tensors and arrays for an operator's math, independent of the runtime.
 *
 * Plain C11 and C++11, so that the math can be compiled, tested and reused anywhere.
 */
#ifndef OPKIT_TENSOR_H
#define OPKIT_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OPKIT_MAX_RANK 6 /* dimensions of a tensor; a runtime may support fewer */

/* Returns the status from the calling function, unless it is 0. */
#define OPKIT_TRY(call)                  \
    do {                                 \
        const int opkit_status = (call); \
        if (opkit_status != 0) {         \
            return opkit_status;         \
        }                                \
    } while (0)

/* Element types of a tensor. */
enum opkit_type {
    OPKIT_FLOAT32,
    OPKIT_INT8,
    OPKIT_UINT8,
    OPKIT_INT16,
    OPKIT_UINT16,
    OPKIT_INT32,
    OPKIT_UINT32,
    OPKIT_INT64,
    OPKIT_FLOAT16 /* only in generated code; a function of yours gets floats instead */
};

/* A dense tensor: the last dimension varies fastest, without gaps. */
struct opkit_tensor {
    /* Half-precision tensors arrive as OPKIT_FLOAT32, booleans as OPKIT_UINT8 (0 or 1). */
    enum opkit_type type;
    size_t rank; /* 1 to OPKIT_MAX_RANK */
    /* In numpy's order: the slowest dimension first. Entries past the rank are 1. */
    size_t shape[OPKIT_MAX_RANK];
    size_t size; /* number of elements: the product of the shape */
    union { /* the elements; use the member of `type` */
        void *data;
        float *float32;
        int8_t *int8;
        uint8_t *uint8;
        int16_t *int16;
        uint16_t *uint16;
        int32_t *int32;
        uint32_t *uint32;
        int64_t *int64;
        uint16_t *float16; /* the bits of each half: half.h */
    };
};

/* An array parameter. Its items are valid during the call only; copy them to keep them. */
struct opkit_int32_array {
    size_t count;
    const int32_t *items; /* items[0] to items[count - 1] */
};

/* An array parameter of floating-point numbers. */
struct opkit_float_array {
    size_t count;
    const float *items;
};

/*
 * Whether none of the tensors of a struct has elements: of outputs, there is nothing to compute.
 * `size` is that of the struct, which has no other members.
 */
static inline bool opkit_are_empty(const void *tensors, size_t size)
{
    const struct opkit_tensor *tensor = (const struct opkit_tensor *)tensors;

    for (size_t i = 0; i < size / sizeof *tensor; i++) {
        if (tensor[i].size > 0) {
            return false;
        }
    }
    return true;
}

/* Returns the size of one element, in bytes. */
static inline size_t opkit_element_size(enum opkit_type type)
{
    switch (type) {
    case OPKIT_INT8:
    case OPKIT_UINT8:
        return 1;
    case OPKIT_INT16:
    case OPKIT_UINT16:
    case OPKIT_FLOAT16:
        return 2;
    case OPKIT_FLOAT32:
    case OPKIT_INT32:
    case OPKIT_UINT32:
        return 4;
    case OPKIT_INT64:
        return 8;
    }
    return 0;
}

/* Returns ONNX's number of an element type. */
static inline int64_t opkit_onnx_type(enum opkit_type type)
{
    switch (type) {
    case OPKIT_FLOAT32:
        return 1;
    case OPKIT_UINT8:
        return 2;
    case OPKIT_INT8:
        return 3;
    case OPKIT_UINT16:
        return 4;
    case OPKIT_INT16:
        return 5;
    case OPKIT_INT32:
        return 6;
    case OPKIT_INT64:
        return 7;
    case OPKIT_FLOAT16:
        return 10;
    case OPKIT_UINT32:
        return 12;
    }
    return 0;
}

#endif
