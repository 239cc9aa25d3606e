/*
 * The shape rule of STFT, for runtimes that infer shapes at run time.
 *
 * output is [N, frames, bins, 2].
 */
#ifndef STFT_SHAPES_H
#define STFT_SHAPES_H

#include "../generated/stft.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *stft_shapes(const struct stft_inputs *inputs, const struct stft_params *params,
                               struct stft_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->signal;
    const size_t length = inputs->window.shape[0];

    if (x->rank != 3) {
        return "signal must be [N, length, 1] or [N, length, 2]";
    }
    if (params->frame_step < 1) {
        return "frame_step must be above 0";
    }
    if (length > x->shape[1]) {
        return "a frame must fit into signal";
    }
    outputs->output.rank = 4;
    outputs->output.shape[0] = x->shape[0];
    outputs->output.shape[1] = (x->shape[1] - length) / (size_t)params->frame_step + 1;
    outputs->output.shape[2] = params->onesided == 1 ? length / 2 + 1 : length;
    outputs->output.shape[3] = 2;
    return NULL;
}

#endif
