/*
 * The math of SkipSimplifiedLayerNormalization: a sum, with root mean square 1 in each row.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in skipsimplifiedlayernormalization_reference.py sees them: `shape[0]` to `shape[rank - 1]`,
 * `size` elements in all. Floating-point tensors are arrays of float, also if the model has
 * float16.
 */
#ifndef SKIPSIMPLIFIEDLAYERNORMALIZATION_COMPUTE_H
#define SKIPSIMPLIFIEDLAYERNORMALIZATION_COMPUTE_H

#include "generated/skipsimplifiedlayernormalization.h"
#include "include/opkit/compute/reduce.h"

/* Whether a tensor has one number for each column of another. */
static bool skipsimplifiedlayernormalization_is_row(const struct opkit_tensor *tensor,
                                                    const struct opkit_tensor *x)
{
    return tensor->type == OPKIT_FLOAT32 && tensor->rank == 1 &&
           tensor->size == x->shape[x->rank - 1];
}

/* Whether skip has the shape of x, or that without its batches. */
static bool skipsimplifiedlayernormalization_fits(const struct opkit_tensor *skip,
                                                  const struct opkit_tensor *x)
{
    const size_t rank = skip->rank;
    const bool is_whole = rank == 3 && x->rank == 3 && skip->shape[0] == x->shape[0];

    return skip->type == OPKIT_FLOAT32 &&
           (rank == 2 || is_whole || (rank == 3 && skip->shape[0] == 1)) &&
           skip->shape[rank - 2] == x->shape[x->rank - 2] &&
           skip->shape[rank - 1] == x->shape[x->rank - 1];
}

/* Checks the tensors. Returns NULL, or an error message. */
static const char *skipsimplifiedlayernormalization_check(
    const struct skipsimplifiedlayernormalization_inputs *inputs,
    const struct skipsimplifiedlayernormalization_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->input, *y = &outputs->output;
    const struct opkit_tensor *sum = &outputs->input_skip_bias_sum;

    if (x->type != OPKIT_FLOAT32) {
        return "all tensors must be float16 or float32";
    }
    if (x->rank != 2 && x->rank != 3) {
        return "input must be [N, S, hidden] or [S, hidden]";
    }
    if (!skipsimplifiedlayernormalization_fits(&inputs->skip, x)) {
        return "skip must have the shape of input, or be [1, S, hidden] or [S, hidden]";
    }
    if (!skipsimplifiedlayernormalization_is_row(&inputs->gamma, x)) {
        return "gamma must be [hidden]";
    }
    if (!skipsimplifiedlayernormalization_is_row(&inputs->bias, x)) {
        return "bias must be [hidden]";
    }
    return y->type == OPKIT_FLOAT32 && sum->type == OPKIT_FLOAT32 && y->size == x->size &&
                   sum->size == x->size
               ? NULL
               : "output and input_skip_bias_sum must have the shape of input";
}

/*
 * Computes the outputs:
 *
 *   inputs->input                   [N, S, hidden] or [S, hidden]
 *   inputs->skip                    its shape, or [1, S, hidden] or [S, hidden]
 *   inputs->gamma                   the factors of the result, [hidden]
 *   inputs->bias                    [hidden]
 *   params->epsilon                 added to the mean of the squares
 *   outputs->output                 the shape of input
 *   outputs->input_skip_bias_sum    the sum before the normalization
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *skipsimplifiedlayernormalization_compute(
    const struct skipsimplifiedlayernormalization_inputs *inputs,
    const struct skipsimplifiedlayernormalization_params *params,
    struct skipsimplifiedlayernormalization_outputs *outputs)
{
    const char *problem = skipsimplifiedlayernormalization_check(inputs, outputs);
    if (problem != NULL) {
        return problem;
    }

    const size_t hidden = inputs->gamma.size;
    const float *gamma = inputs->gamma.float32, *bias = inputs->bias.float32;
    for (size_t begin = 0; begin < inputs->input.size; begin += hidden) {
        const float *x = inputs->input.float32 + begin;
        const float *skip = inputs->skip.float32 + begin % inputs->skip.size;
        float *sum = outputs->input_skip_bias_sum.float32 + begin;

        for (size_t i = 0; i < hidden; i++) {
            sum[i] = x[i] + skip[i] + bias[i];
        }
        opkit_normalize_rms_widest(sum, gamma, hidden, params->epsilon,
                                   outputs->output.float32 + begin);
    }
    return NULL;
}

#endif
