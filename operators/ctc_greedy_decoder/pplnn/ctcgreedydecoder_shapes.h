/*
 * The shape rule of CTCGreedyDecoder, for runtimes that infer shapes at run time.
 *
 * classes_index is [N, T]; count and score are [N].
 */
#ifndef CTCGREEDYDECODER_SHAPES_H
#define CTCGREEDYDECODER_SHAPES_H

#include "../generated/ctcgreedydecoder.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *ctcgreedydecoder_shapes(const struct ctcgreedydecoder_inputs *inputs,
                                           const struct ctcgreedydecoder_params *params,
                                           struct ctcgreedydecoder_outputs *outputs)
{
    const struct opkit_tensor *data = &inputs->data;

    (void)params;
    if (data->rank != 3) {
        return "data must be [N, T, classes]";
    }
    outputs->classes_index.rank = 2;
    outputs->classes_index.shape[0] = data->shape[0];
    outputs->classes_index.shape[1] = data->shape[1];
    outputs->count.rank = outputs->score.rank = 1;
    outputs->count.shape[0] = outputs->score.shape[0] = data->shape[0];
    return NULL;
}

#endif
