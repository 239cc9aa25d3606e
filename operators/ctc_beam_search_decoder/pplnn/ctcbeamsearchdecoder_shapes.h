/*
 * The shape rule of CTCBeamSearchDecoder, for runtimes that infer shapes at run time.
 *
 * classes_index is [N, top_paths, T]; count and log_probability are [N, top_paths].
 */
#ifndef CTCBEAMSEARCHDECODER_SHAPES_H
#define CTCBEAMSEARCHDECODER_SHAPES_H

#include "../generated/ctcbeamsearchdecoder.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *ctcbeamsearchdecoder_shapes(const struct ctcbeamsearchdecoder_inputs *inputs,
                                               const struct ctcbeamsearchdecoder_params *params,
                                               struct ctcbeamsearchdecoder_outputs *outputs)
{
    const struct opkit_tensor *data = &inputs->data;

    if (data->rank != 3) {
        return "data must be [N, T, classes]";
    }
    outputs->classes_index.rank = 3;
    outputs->classes_index.shape[0] = data->shape[0];
    outputs->classes_index.shape[1] = (size_t)params->top_paths;
    outputs->classes_index.shape[2] = data->shape[1];
    outputs->count.rank = outputs->log_probability.rank = 2;
    outputs->count.shape[0] = outputs->log_probability.shape[0] = data->shape[0];
    outputs->count.shape[1] = outputs->log_probability.shape[1] = (size_t)params->top_paths;
    return NULL;
}

#endif
