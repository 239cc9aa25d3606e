/*
 * The shape rule of Compress, for runtimes that infer shapes at run time.
 *
 * output has the shape of input, with the selected slices; without an axis, [selected elements].
 */
#ifndef COMPRESS_SHAPES_H
#define COMPRESS_SHAPES_H

#include <string.h>

#include "../generated/compress.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *compress_shapes(const struct compress_inputs *inputs,
                                   const struct compress_params *params,
                                   struct compress_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->input;
    const int64_t rank = (int64_t)x->rank;
    size_t selected = 0;

    for (size_t i = 0; i < params->condition.count; i++) {
        selected += params->condition.items[i] != 0;
    }
    if (selected == 0) {
        return "condition must select a slice";
    }
    if (params->axis == INT32_MIN) { /* no axis */
        if (params->condition.count > x->size) {
            return "condition must not be longer than the axis";
        }
        outputs->output.rank = 1;
        outputs->output.shape[0] = selected;
        return NULL;
    }
    if (params->axis < -rank || params->axis >= rank) {
        return "axis must be a dimension of input: from -rank to rank - 1";
    }
    const size_t axis = (size_t)(params->axis < 0 ? params->axis + rank : params->axis);
    if (params->condition.count > x->shape[axis]) {
        return "condition must not be longer than the axis";
    }
    outputs->output.rank = x->rank;
    memcpy(outputs->output.shape, x->shape, sizeof x->shape);
    outputs->output.shape[axis] = selected;
    return NULL;
}

#endif
