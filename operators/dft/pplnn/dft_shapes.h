/*
 * The shape rule of DFT, for runtimes that infer shapes at run time.
 *
 * output is the shape of input, with the length of the transforms along the axis: of onesided ones
 * the first half. The last dimension is 2, but 1 for the inverse of onesided transforms.
 */
#ifndef DFT_SHAPES_H
#define DFT_SHAPES_H

#include "../generated/dft.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *dft_shapes(const struct dft_inputs *inputs, const struct dft_params *params,
                              struct dft_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->input;
    struct opkit_tensor *y = &outputs->output;
    const int64_t rank = (int64_t)x->rank;

    if (rank < 2) {
        return "input must be [..., 1] or [..., 2]";
    }
    if (params->axis == -1 && rank > 3) {
        return "axis must be given for input of more than 3 dimensions";
    }
    const int64_t given = params->axis < 0 ? params->axis + rank : params->axis;
    const int64_t axis = params->axis == -1 ? rank - 2 : given;
    if (axis < 0 || axis > rank - 2) {
        return "axis must be a dimension of input but the last one";
    }

    const bool is_real = params->inverse == 1 && params->onesided == 1;
    if (params->onesided == 1 && x->shape[rank - 1] != (is_real ? 2U : 1U)) {
        return is_real ? "input must be complex, [..., 2]" : "input must be real, [..., 1]";
    }
    const size_t side = x->shape[axis];
    const size_t whole = is_real ? 2 * (side - 1) : side;
    if (params->dft_length < 0 || (params->dft_length == 0 && whole == 0)) {
        return "dft_length must be above 0";
    }
    const size_t length = params->dft_length > 0 ? (size_t)params->dft_length : whole;
    y->rank = x->rank;
    for (size_t i = 0; i < x->rank; i++) {
        y->shape[i] = x->shape[i];
    }
    y->shape[axis] = params->onesided == 1 && !is_real ? length / 2 + 1 : length;
    y->shape[rank - 1] = is_real ? 1 : 2;
    return NULL;
}

#endif
