/*
 * The harness' table of an operator: functions of its glue, and layout of its params. The file
 * generated/<op>_pplnn.cc has the table. Plain C11 and C++11.
 */
#ifndef OPKIT_PPLNN_OPERATOR_H
#define OPKIT_PPLNN_OPERATOR_H

#include "../glue/tensors.h"

enum opkit_pplnn_kind {
    OPKIT_PPLNN_SCALAR,
    OPKIT_PPLNN_INTS,
    OPKIT_PPLNN_FLOATS,
    OPKIT_PPLNN_STRING
};

/* A member of the operator's struct of params. */
struct opkit_pplnn_param {
    const char *name;
    enum opkit_pplnn_kind kind;
    size_t offset;
    size_t size; /* of a scalar */
};

struct opkit_pplnn_operator {
    unsigned input_count;
    unsigned output_count;
    unsigned param_count;
    size_t params_size;
    const struct opkit_pplnn_param *params;
    /*
     * Both return NULL, or an error message. `params` is the operator's own struct.
     */
    const char *(*infer_shapes)(const struct opkit_pplnn_tensor *inputs, const void *params,
                                struct opkit_pplnn_tensor *outputs);
    const char *(*run)(const struct opkit_pplnn_tensor *inputs, const void *params,
                       const struct opkit_pplnn_tensor *outputs, struct opkit_pplnn_memory *memory);
};

#endif
