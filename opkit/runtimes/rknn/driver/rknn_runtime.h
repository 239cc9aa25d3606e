/*
 * The part of librknn_runtime's interface that runs a model with whole, unconverted tensors, as
 * measured on version 1.7.5. Functions return 0 or a negative error.
 */
#ifndef OPKIT_RKNN_RUNTIME_H
#define OPKIT_RKNN_RUNTIME_H

#include <stdint.h>

typedef uintptr_t rknn_context;

typedef struct rknn_input {
    uint32_t index;
    void *buf;
    uint32_t size; /* bytes */
    uint8_t pass_through; /* the bytes are the tensor's */
    int32_t type; /* unused with pass_through, like fmt */
    int32_t fmt;
} rknn_input;

typedef struct rknn_output {
    uint8_t want_float; /* convert to float */
    uint8_t is_prealloc; /* the caller gives buf and size */
    uint32_t index;
    void *buf;
    uint32_t size; /* bytes; 0 after the call: the runtime does not support the type */
} rknn_output;

int rknn_init(rknn_context *context, void *model, uint32_t size, uint32_t flags);
int rknn_destroy(rknn_context context);
int rknn_inputs_set(rknn_context context, uint32_t count, rknn_input inputs[]);
int rknn_run(rknn_context context, void *extension);
int rknn_outputs_get(rknn_context context, uint32_t count, rknn_output outputs[], void *extension);
int rknn_outputs_release(rknn_context context, uint32_t count, rknn_output outputs[]);

#endif
