/*
 * The shape rule of RNN, for runtimes that infer shapes at run time.
 *
 * y has a state for each position, direction and batch; y_h has the last ones.
 */
#ifndef RNN_SHAPES_H
#define RNN_SHAPES_H

#include "../generated/rnn.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *rnn_shapes(const struct rnn_inputs *inputs, const struct rnn_params *params,
                              struct rnn_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->x, *r = &inputs->r;
    const bool is_batch_first = params->layout == 1;

    if (x->rank != 3) {
        return "x must be [S, N, inputs], or with layout 1 [N, S, inputs]";
    }
    if (r->rank != 3) {
        return "r must be [directions, hidden, hidden]";
    }
    const size_t directions = r->shape[0], hidden = r->shape[2];

    outputs->y.rank = 4;
    outputs->y.shape[0] = x->shape[0];
    outputs->y.shape[1] = is_batch_first ? x->shape[1] : directions;
    outputs->y.shape[2] = is_batch_first ? directions : x->shape[1];
    outputs->y.shape[3] = hidden;
    outputs->y_h.rank = 3;
    outputs->y_h.shape[0] = is_batch_first ? x->shape[0] : directions;
    outputs->y_h.shape[1] = is_batch_first ? directions : x->shape[1];
    outputs->y_h.shape[2] = hidden;
    return NULL;
}

#endif
