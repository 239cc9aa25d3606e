/*
 * The shape rule of CenterCropPad, for runtimes that infer shapes at run time.
 *
 * output_data has the shape of input_data, with `shape` along the axes.
 */
#ifndef CENTERCROPPAD_SHAPES_H
#define CENTERCROPPAD_SHAPES_H

#include <string.h>

#include "../generated/centercroppad.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *centercroppad_shapes(const struct centercroppad_inputs *inputs,
                                        const struct centercroppad_params *params,
                                        struct centercroppad_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->input_data;
    const int64_t rank = (int64_t)x->rank;
    const bool are_all = params->axes.items[0] == INT32_MIN;
    const size_t count = are_all ? x->rank : params->axes.count;

    if (params->shape.count != count) {
        return "shape must have an item for each axis";
    }
    outputs->output_data.rank = x->rank;
    memcpy(outputs->output_data.shape, x->shape, sizeof x->shape);
    for (size_t i = 0; i < count; i++) {
        const int64_t given = are_all ? (int64_t)i : params->axes.items[i];

        if (given < -rank || given >= rank) {
            return "axes must be different dimensions of input_data: from -rank to rank - 1";
        }
        if (params->shape.items[i] < 1) {
            return "shape must be above 0";
        }
        outputs->output_data.shape[given < 0 ? given + rank : given] =
            (size_t)params->shape.items[i];
    }
    return NULL;
}

#endif
