/*
 * The shape rule of ResizeArea, for runtimes that infer shapes at run time.
 *
 * output has the shape of input, with height and width replaced by size.
 */
#ifndef RESIZEAREA_SHAPES_H
#define RESIZEAREA_SHAPES_H

#include <string.h>

#include "../generated/resizearea.h"

enum {
    RESIZEAREA_ROWS = 1 /* the dimension of the height: 1 for NHWC, 2 for NCHW */
};

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *resizearea_shapes(const struct resizearea_inputs *inputs,
                                     const struct resizearea_params *params,
                                     struct resizearea_outputs *outputs)
{
    if (inputs->input.rank != 4) {
        return "input must have 4 dimensions";
    }
    outputs->output.rank = 4;
    memcpy(outputs->output.shape, inputs->input.shape, sizeof inputs->input.shape);
    for (size_t i = 0; i < 2; i++) {
        if (params->size.items[i] < 1) {
            return "size must be above 0";
        }
        outputs->output.shape[RESIZEAREA_ROWS + i] = (size_t)params->size.items[i];
    }
    return NULL;
}

#endif
