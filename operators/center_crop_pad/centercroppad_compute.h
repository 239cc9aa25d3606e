/*
 * The math of CenterCropPad: the center of a tensor, cropped or with 0 around it.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in centercroppad_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Elements are copied, so that any type will do.
 */
#ifndef CENTERCROPPAD_COMPUTE_H
#define CENTERCROPPAD_COMPUTE_H

#include <string.h>

#include "generated/centercroppad.h"

/* The part of a dimension that is copied. */
struct centercroppad_range {
    size_t from; /* its start in the input */
    size_t to; /* its start in the output */
    size_t count;
};

static struct centercroppad_range centercroppad_center(size_t input, size_t output)
{
    struct centercroppad_range range;

    range.from = input > output ? (input - output) / 2 : 0;
    range.to = input < output ? (output - input) / 2 : 0;
    range.count = input < output ? input : output;
    return range;
}

/* Computes the shape of the output. Returns NULL, or an error message. */
static const char *centercroppad_shape(const struct opkit_tensor *x,
                                       const struct centercroppad_params *params, size_t *shape)
{
    const int64_t rank = (int64_t)x->rank;
    const bool are_all = params->axes.items[0] == INT32_MIN;
    const size_t count = are_all ? x->rank : params->axes.count;
    bool is_set[OPKIT_MAX_RANK] = {false};

    if (params->shape.count != count) {
        return "shape must have an item for each axis";
    }
    memcpy(shape, x->shape, sizeof x->shape);
    for (size_t i = 0; i < count; i++) {
        const int64_t given = are_all ? (int64_t)i : params->axes.items[i];
        const int64_t axis = given < 0 ? given + rank : given;

        if (axis < 0 || axis >= rank || is_set[axis]) {
            return "axes must be different dimensions of input_data: from -rank to rank - 1";
        }
        if (params->shape.items[i] < 1) {
            return "shape must be above 0";
        }
        is_set[axis] = true;
        shape[axis] = (size_t)params->shape.items[i];
    }
    return NULL;
}

/*
 * Computes the outputs:
 *
 *   inputs->input_data      any shape
 *   params->shape           the size of output_data along each of the axes
 *   params->axes            the axes; negative: counted from the last one; INT32_MIN: all
 *   outputs->output_data    the shape of input_data, with `shape` along the axes
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *centercroppad_compute(const struct centercroppad_inputs *inputs,
                                         const struct centercroppad_params *params,
                                         struct centercroppad_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->input_data;
    const struct opkit_tensor *y = &outputs->output_data;
    const size_t element = opkit_element_size(x->type);
    const size_t last = x->rank - 1;
    struct centercroppad_range ranges[OPKIT_MAX_RANK];
    size_t shape[OPKIT_MAX_RANK];
    size_t position[OPKIT_MAX_RANK] = {0};
    size_t rows = 1;

    const char *problem = centercroppad_shape(x, params, shape);
    if (problem != NULL) {
        return problem;
    }
    if (y->type != x->type || y->rank != x->rank || memcmp(y->shape, shape, sizeof shape) != 0) {
        return "output_data must be of the type of input_data, with `shape` along the axes";
    }

    for (size_t i = 0; i < x->rank; i++) {
        ranges[i] = centercroppad_center(x->shape[i], y->shape[i]);
        rows *= i < last ? ranges[i].count : 1;
    }
    memset(y->data, 0, y->size * element);
    for (size_t row = 0; row < rows; row++) {
        size_t from = 0, to = 0;

        for (size_t i = 0; i < last; i++) {
            from = (from + ranges[i].from + position[i]) * x->shape[i + 1];
            to = (to + ranges[i].to + position[i]) * y->shape[i + 1];
        }
        memcpy((char *)y->data + (to + ranges[last].to) * element,
               (const char *)x->data + (from + ranges[last].from) * element,
               ranges[last].count * element);
        for (size_t i = last; i > 0 && ++position[i - 1] == ranges[i - 1].count; i--) {
            position[i - 1] = 0;
        }
    }
    return NULL;
}

#endif
