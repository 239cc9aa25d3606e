/*
 * The math of Exp: e to the power of x, element by element.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in exp_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16.
 */
#ifndef EXP_COMPUTE_H
#define EXP_COMPUTE_H

#include "generated/exp.h"
#include "include/opkit/compute/elementwise.h"
#include "include/opkit/compute/math.h"

OPKIT_ELEMENT_LOOP void exp_of_floats(const float *x, float *result, size_t count)
{
    opkit_exp_row(x, result, count); /* expf is a call, which compilers cannot vectorize */
}
OPKIT_WIDEST(exp_of_floats, (const float *x, float *result, size_t count), (x, result, count))

/*
 * Computes the outputs:
 *
 *   inputs->input      x, any shape
 *   outputs->output    e to the power of x, the shape of input
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *exp_compute(const struct exp_inputs *inputs, const struct exp_params *params,
                               struct exp_outputs *outputs)
{
    const struct opkit_tensor *input = &inputs->input;
    const struct opkit_tensor *output = &outputs->output;
    (void)params;

    if (input->type != OPKIT_FLOAT32 || output->type != OPKIT_FLOAT32) {
        return "input must be float16 or float32, and output the same";
    }
    if (input->size != output->size) {
        return "input and output must have the same shape";
    }
    exp_of_floats_widest(input->float32, output->float32, output->size);
    return NULL;
}

#endif
