/*
 * The shape rule of CenterCropPad, for runtimes that infer shapes at run time.
 *
 * output_data has the shape of input_data, with `shape` along the axes.
 */
#ifndef CENTERCROPPAD_SHAPES_H
#define CENTERCROPPAD_SHAPES_H

#include "../centercroppad_compute.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *centercroppad_shapes(const struct centercroppad_inputs *inputs,
                                        const struct centercroppad_params *params,
                                        struct centercroppad_outputs *outputs)
{
    outputs->output_data.rank = inputs->input_data.rank;
    return centercroppad_shape(&inputs->input_data, params, outputs->output_data.shape);
}

#endif
