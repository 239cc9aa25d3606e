/*
 * The math of RowMean: the mean along the last dimension. The output keeps that dimension, with
 * length 1.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in rowmean_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16.
 */
#ifndef ROWMEAN_COMPUTE_H
#define ROWMEAN_COMPUTE_H

#include "generated/rowmean.h"
#include "include/opkit/compute/reduce.h"

/* Checks that output has the shape of input, with 1 as the last dimension. */
static bool rowmean_shapes_fit(const struct opkit_tensor *input, const struct opkit_tensor *output)
{
    const size_t last = input->rank - 1;

    for (size_t i = 0; i < last && i < output->rank; i++) {
        if (input->shape[i] != output->shape[i]) {
            return false;
        }
    }
    return output->rank == input->rank && output->shape[last] == 1;
}

/*
 * Computes the outputs:
 *
 *   inputs->input      any shape
 *   outputs->output    the shape of input, with 1 as the last dimension
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *rowmean_compute(const struct rowmean_inputs *inputs,
                                   const struct rowmean_params *params,
                                   struct rowmean_outputs *outputs)
{
    const struct opkit_tensor *input = &inputs->input;
    const struct opkit_tensor *output = &outputs->output;
    (void)params;

    if (input->type != OPKIT_FLOAT32 || output->type != OPKIT_FLOAT32) {
        return "input and output must be float16 or float32";
    }
    if (!rowmean_shapes_fit(input, output)) {
        return "output must have the shape of input, with 1 as the last dimension";
    }

    const size_t width = input->shape[input->rank - 1];
    for (size_t row = 0; row < output->size; row++) {
        const double sum = opkit_sum(input->float32 + row * width, width);
        output->float32[row] = (float)(sum / (double)width);
    }
    return NULL;
}

#endif
