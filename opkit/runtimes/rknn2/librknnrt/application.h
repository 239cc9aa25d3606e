/*
 * librknnrt's functions for applications, as in the vendor's rknn_api.h: the part that the check
 * calls. Layouts are the same in versions 1.6.0 to 2.3.2. The program finds the functions at run
 * time, in the library that the user names.
 */
#ifndef OPKIT_LIBRKNNRT_APPLICATION_H
#define OPKIT_LIBRKNNRT_APPLICATION_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include <rknn_custom_op.h>

enum {
    RKNN_QUERY_IN_OUT_NUM = 0,
    RKNN_QUERY_INPUT_ATTR = 1,
    RKNN_QUERY_OUTPUT_ATTR = 2,
    RKNN_QUERY_SDK_VERSION = 5
};

struct rknn_counts {
    uint32_t inputs;
    uint32_t outputs;
};

struct rknn_versions {
    char library[256];
    char driver[256];
};

struct rknn_input {
    uint32_t index;
    void *elements;
    uint32_t size;
    uint8_t pass_through;
    rknn_tensor_type type;
    rknn_tensor_format format;
};

struct rknn_output {
    uint8_t wants_float; /* else the elements have the model's type */
    uint8_t is_allocated; /* by the caller */
    uint32_t index;
    void *elements;
    uint32_t size;
};

static_assert(sizeof(struct rknn_input) == (sizeof(void *) == 8 ? 32 : 24), "rknn_input");
static_assert(sizeof(struct rknn_output) == (sizeof(void *) == 8 ? 24 : 16), "rknn_output");

/* Each returns 0, or a negative error; the pointer behind the arguments is for extensions. */
struct rknn_library {
    int (*init)(rknn_context *context, void *model, uint32_t size, uint32_t flags, void *more);
    int (*query)(rknn_context context, int what, void *answer, uint32_t size);
    int (*register_custom_ops)(rknn_context context, rknn_custom_op *operators, uint32_t count);
    void (*get_op_attr)(rknn_custom_op_context *context, const char *name,
                        rknn_custom_op_attr *attribute);
    int (*inputs_set)(rknn_context context, uint32_t count, struct rknn_input *inputs);
    int (*run)(rknn_context context, void *more);
    int (*outputs_get)(rknn_context context, uint32_t count, struct rknn_output *outputs,
                       void *more);
    int (*outputs_release)(rknn_context context, uint32_t count, struct rknn_output *outputs);
    int (*destroy)(rknn_context context);
};

#endif
