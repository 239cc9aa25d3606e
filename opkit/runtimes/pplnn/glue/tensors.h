/*
 * Conversion between ppl.nn's tensors and the math's tensors, without ppl.nn's headers.
 *
 * The math computes in the memory of ppl.nn's tensors. Only halves are converted: inputs once
 * before the math, outputs once after it, in memory that the kernel keeps. Plain C11 and C++11.
 */
#ifndef OPKIT_PPLNN_TENSORS_H
#define OPKIT_PPLNN_TENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../../../compute/half.h"
#include "../../../compute/scratch.h"
#include "../../../compute/tensor.h"

/* Values of ppl::common::datatype_t: the data types that the math supports. */
enum {
    OPKIT_PPLNN_UINT8 = 1,
    OPKIT_PPLNN_UINT16 = 2,
    OPKIT_PPLNN_UINT32 = 3,
    OPKIT_PPLNN_FLOAT16 = 5,
    OPKIT_PPLNN_FLOAT32 = 6,
    OPKIT_PPLNN_INT8 = 10,
    OPKIT_PPLNN_INT16 = 11,
    OPKIT_PPLNN_INT32 = 12,
    OPKIT_PPLNN_INT64 = 13,
    OPKIT_PPLNN_BOOL = 14
};

/* The rank of an output with a shape that cannot be inferred yet. */
#define OPKIT_PPLNN_UNKNOWN_RANK UINT32_MAX

/* A tensor of ppl.nn, in the format NDARRAY. */
struct opkit_pplnn_tensor {
    uint32_t type; /* ppl::common::datatype_t */
    uint32_t rank; /* 0: a scalar */
    int64_t dims[OPKIT_MAX_RANK]; /* slowest first; below 0: unknown yet */
    void *data;
};

/* Memory that a kernel keeps between its runs. Initialize it with zeros. */
struct opkit_pplnn_memory {
    struct opkit_scratch *tensors; /* for each input, then for each output: halves as floats */
    struct opkit_half_table table; /* the results of an elementwise function */
};

/* A tensor of ppl.nn, and the math's view of it. */
struct opkit_pplnn_view {
    const struct opkit_pplnn_tensor *tensor;
    struct opkit_tensor *view;
    bool is_output;
};

/* Converts a data type to the math's element type. Returns false if it is not supported. */
static inline bool opkit_pplnn_element(uint32_t type, enum opkit_type *element)
{
    static const struct {
        uint32_t type;
        enum opkit_type element;
    } ELEMENTS[] = {
        {OPKIT_PPLNN_UINT8, OPKIT_UINT8},     {OPKIT_PPLNN_UINT16, OPKIT_UINT16},
        {OPKIT_PPLNN_UINT32, OPKIT_UINT32},   {OPKIT_PPLNN_FLOAT16, OPKIT_FLOAT32},
        {OPKIT_PPLNN_FLOAT32, OPKIT_FLOAT32}, {OPKIT_PPLNN_INT8, OPKIT_INT8},
        {OPKIT_PPLNN_INT16, OPKIT_INT16},     {OPKIT_PPLNN_INT32, OPKIT_INT32},
        {OPKIT_PPLNN_INT64, OPKIT_INT64},     {OPKIT_PPLNN_BOOL, OPKIT_UINT8},
    };

    for (size_t i = 0; i < sizeof ELEMENTS / sizeof *ELEMENTS; i++) {
        if (ELEMENTS[i].type == type) {
            *element = ELEMENTS[i].element;
            return true;
        }
    }
    return false;
}

/* Whether all dimensions of the tensors are known, as the operator's shape rule requires. */
static inline bool opkit_pplnn_are_known(const struct opkit_pplnn_tensor *tensors, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < tensors[i].rank; j++) {
            if (tensors[i].dims[j] < 0) {
                return false;
            }
        }
    }
    return true;
}

/* Sets type and shape of a view; data is NULL. A scalar gets rank 1. */
static inline void opkit_pplnn_set_shape(struct opkit_tensor *view,
                                         const struct opkit_pplnn_tensor *tensor)
{
    view->type = OPKIT_FLOAT32;
    (void)opkit_pplnn_element(tensor->type, &view->type);
    view->rank = tensor->rank > 0 ? tensor->rank : 1;
    view->size = 1;
    for (uint32_t i = 0; i < OPKIT_MAX_RANK; i++) {
        view->shape[i] = i < tensor->rank ? (size_t)tensor->dims[i] : 1;
        view->size *= view->shape[i];
    }
    view->data = NULL;
}

/* Copies a shape from a view, set by the operator's shape rule, to the tensor. */
static inline const char *opkit_pplnn_take_shape(struct opkit_pplnn_tensor *tensor,
                                                 const struct opkit_tensor *view)
{
    if (view->rank < 1 || view->rank > OPKIT_MAX_RANK) {
        return "the shape rule must set the rank of every output, 1 to 6";
    }
    tensor->rank = (uint32_t)view->rank;
    for (size_t i = 0; i < view->rank; i++) {
        tensor->dims[i] = (int64_t)view->shape[i];
    }
    return NULL;
}

/*
 * Opens the views: sets types, shapes and data. Tensors of halves get the type `half`:
 * OPKIT_FLOAT32, converted in memory from `scratch`, one for each view; or OPKIT_FLOAT16, in place.
 * Returns NULL, or an error message.
 */
static inline const char *opkit_pplnn_open(const struct opkit_pplnn_view *views, size_t count,
                                           enum opkit_type half, struct opkit_scratch *scratch)
{
    for (size_t i = 0; i < count; i++) {
        struct opkit_tensor *view = views[i].view;

        opkit_pplnn_set_shape(view, views[i].tensor);
        view->data = views[i].tensor->data;
        if (views[i].tensor->type != OPKIT_PPLNN_FLOAT16) {
            continue;
        }
        view->type = half;
        if (half == OPKIT_FLOAT16 || view->size == 0) {
            continue;
        }
        view->data = opkit_reserve(&scratch[i], view->size * sizeof(float));
        if (view->data == NULL) {
            return "not enough memory to convert the halves";
        }
        if (!views[i].is_output) {
            opkit_halves_to_floats((const uint16_t *)views[i].tensor->data, view->float32,
                                   view->size);
        }
    }
    return NULL;
}

/* Converts outputs of halves; the math has written all others in place. */
static inline void opkit_pplnn_write(const struct opkit_pplnn_view *views, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct opkit_tensor *view = views[i].view;
        if (views[i].is_output && view->data != views[i].tensor->data) {
            opkit_floats_to_halves(view->float32, (uint16_t *)views[i].tensor->data, view->size);
        }
    }
}

#endif
