/*
 * The math of Compress: the slices along an axis that a condition selects.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in compress_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Elements are copied, so that any type will do.
 */
#ifndef COMPRESS_COMPUTE_H
#define COMPRESS_COMPUTE_H

#include <string.h>

#include "generated/compress.h"

enum {
    COMPRESS_CHUNK = 256 /* slices, of which the selected ones are found at a time */
};

/*
 * Computes the outputs:
 *
 *   inputs->input        any shape
 *   params->condition    1 for each slice to take, else 0; later slices are not taken
 *   params->axis         the axis; negative: counted from the last one; INT32_MIN: elements
 *   outputs->output      the selected slices; without an axis, [selected elements]
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *compress_compute(const struct compress_inputs *inputs,
                                    const struct compress_params *params,
                                    struct compress_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->input;
    const struct opkit_tensor *y = &outputs->output;
    const struct opkit_int32_array *condition = &params->condition;
    const int64_t rank = (int64_t)x->rank;
    const bool has_axis = params->axis != INT32_MIN;
    size_t length = x->size; /* slices */
    size_t slice = opkit_element_size(x->type); /* bytes */
    size_t selected = 0;

    if (has_axis && (params->axis < -rank || params->axis >= rank)) {
        return "axis must be a dimension of input: from -rank to rank - 1";
    }
    if (has_axis) {
        const size_t axis = (size_t)(params->axis < 0 ? params->axis + rank : params->axis);

        length = x->shape[axis];
        for (size_t i = axis + 1; i < x->rank; i++) {
            slice *= x->shape[i];
        }
    }
    if (condition->count > length) {
        return "condition must not be longer than the axis";
    }
    for (size_t i = 0; i < condition->count; i++) {
        selected += condition->items[i] != 0;
    }
    if (selected == 0) {
        return "condition must select a slice";
    }
    const size_t bytes = x->size * opkit_element_size(x->type);
    if (y->type != x->type || y->size != x->size / length * selected) {
        return "output must be of the type of input, and have the selected slices";
    }

    char *to = (char *)y->data;
    for (size_t block = 0; block < bytes; block += length * slice) {
        const char *from = (const char *)x->data + block;

        for (size_t i = 0; i < condition->count;) {
            const size_t rest = condition->count - i;
            const size_t end = i + (rest < COMPRESS_CHUNK ? rest : (size_t)COMPRESS_CHUNK);
            const char *found[COMPRESS_CHUNK];
            size_t count = 0;

            for (; i < end; i++) { /* without branches, which processors would guess wrong */
                found[count] = from;
                count += condition->items[i] != 0;
                from += slice;
            }
            for (size_t place = 0; place < count; place++) {
                memcpy(to, found[place], slice);
                to += slice;
            }
        }
    }
    return NULL;
}

#endif
