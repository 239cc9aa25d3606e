/* Conversion between the runtime's tensors and the math's tensors. */
#ifndef OPKIT_TENSORS_H
#define OPKIT_TENSORS_H

#include "numbers.h"

/* Reports an element of a tensor that a dtype cannot represent. */
static inline int opkit_fail_tensor_number(const struct opkit_operator *op, const char *name,
                                           size_t index, struct opkit_number number,
                                           enum opkit_dtype dtype)
{
    char where[512];

    snprintf(where, sizeof where, "tensor '%s', element %zu,", name, index);
    return opkit_fail_number(op, where, number, opkit_number_types[dtype].min,
                             opkit_number_types[dtype].max);
}

/* Converts the elements of a tensor from one type to another. */
static inline int opkit_convert(const struct opkit_operator *op, const char *name, size_t count,
                                enum opkit_dtype from, const void *source, enum opkit_dtype to,
                                void *target)
{
    const struct opkit_number_type *type = &opkit_number_types[to];
    const struct opkit_number_type *origin = &opkit_number_types[from];

    for (size_t i = 0; i < count; i++) {
        const struct opkit_number number = opkit_load_number(from, source, i);
        char *place = (char *)target + i * type->size;
        int64_t whole;
        float real;

        if (!number.is_real && (number.whole < origin->min || number.whole > origin->max)) {
            return opkit_fail_tensor_number(op, name, i, number, from);
        }
        if (to == OPKIT_DTYPE_FLOAT32) {
            if (!opkit_to_real(number, &real)) {
                return opkit_fail_tensor_number(op, name, i, number, to);
            }
            memcpy(place, &real, sizeof real);
        } else {
            if (!opkit_to_whole(number, type->min, type->max, &whole)) {
                return opkit_fail_tensor_number(op, name, i, number, to);
            }
            memcpy(place, &whole, type->size); /* little endian, as all these processors are */
        }
    }
    return 0;
}

/* Sets the shape of a tensor. */
static inline int opkit_set_shape(const struct opkit_operator *op, const char *name,
                                  const rknn_tensor_attr *attr, struct opkit_tensor *tensor)
{
    if (attr->fmt != RKNN_TENSOR_NCHW && attr->fmt != RKNN_TENSOR_UNDEFINED) {
        return opkit_fail(op, "tensor '%s' has the layout %d (expected NCHW or undefined)", name,
                          (int)attr->fmt);
    }
    if (attr->n_dims > OPKIT_MAX_RANK) {
        return opkit_fail(op, "tensor '%s' has %" PRIu32 " dimensions (expected %d at most)", name,
                          attr->n_dims, OPKIT_MAX_RANK);
    }
    tensor->rank = attr->n_dims > 0 ? attr->n_dims : 1; /* a scalar may have no dimensions */
    tensor->size = 1;
    for (size_t i = 0; i < OPKIT_MAX_RANK; i++) {
        tensor->shape[i] = i < attr->n_dims ? attr->dims[i] : 1;
        tensor->size *= tensor->shape[i];
    }
    if (tensor->size != attr->n_elems) {
        return opkit_fail(op, "tensor '%s' has %" PRIu32 " elements, but its shape has %zu", name,
                          attr->n_elems, tensor->size);
    }
    return 0;
}

/* Returns the elements of a tensor of the runtime. */
static inline void *opkit_elements(const rknn_custom_op_tensor *source)
{
    return (char *)source->mem.virt_addr + source->mem.offset;
}

/*
 * Sets type, shape and elements of a tensor. The elements are used in place. If op.yml declares
 * another dtype, they get uninitialized memory of the call.
 */
static inline int opkit_open_tensor(const struct opkit_operator *op,
                                    const struct opkit_tensor_row *row,
                                    const rknn_custom_op_tensor *source,
                                    struct opkit_memory *memory, struct opkit_tensor *tensor)
{
    const enum opkit_dtype given = opkit_find_dtype(source->attr.type);
    const enum opkit_dtype dtype = row->dtype == OPKIT_DTYPE_ANY ? given : row->dtype;

    if (given == OPKIT_DTYPE_ANY) {
        return opkit_fail(op, "tensor '%s' is %s (expected float32, int32, int64 or bool)",
                          row->name, opkit_type_name(source->attr.type));
    }
    OPKIT_TRY(opkit_set_shape(op, row->name, &source->attr, tensor));
    if (source->mem.virt_addr == NULL && tensor->size > 0) {
        return opkit_fail(op, "tensor '%s' has no memory", row->name);
    }
    tensor->type = opkit_number_types[dtype].math;
    if (dtype == given || tensor->size == 0) {
        tensor->data = opkit_elements(source);
        return 0;
    }
    tensor->data = opkit_allocate(op, memory, tensor->size * opkit_number_types[dtype].size);
    return tensor->data != NULL ? 0 : OPKIT_FAILED;
}

/* Converts an input from the runtime's type to the dtype of op.yml. */
static inline int opkit_read_tensor(const struct opkit_operator *op,
                                    const struct opkit_tensor_row *row,
                                    const rknn_custom_op_tensor *source,
                                    struct opkit_tensor *tensor)
{
    const void *elements = opkit_elements(source);

    return tensor->data == elements
               ? 0
               : opkit_convert(op, row->name, tensor->size, opkit_find_dtype(source->attr.type),
                               elements, row->dtype, tensor->data);
}

/* Converts an output from the dtype of op.yml to the runtime's type. */
static inline int opkit_write_tensor(const struct opkit_operator *op,
                                     const struct opkit_tensor_row *row,
                                     const struct opkit_tensor *tensor,
                                     const rknn_custom_op_tensor *target)
{
    void *elements = opkit_elements(target);

    return tensor->data == elements
               ? 0
               : opkit_convert(op, row->name, tensor->size, row->dtype, tensor->data,
                               opkit_find_dtype(target->attr.type), elements);
}

#endif
