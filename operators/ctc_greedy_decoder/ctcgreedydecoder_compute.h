/*
 * The math of CTCGreedyDecoder: the labels of the best path through a sequence of scores.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in ctcgreedydecoder_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in
 * all. Floating-point tensors are arrays of float, also if the model has float16.
 */
#ifndef CTCGREEDYDECODER_COMPUTE_H
#define CTCGREEDYDECODER_COMPUTE_H

#include <math.h>

#include "generated/ctcgreedydecoder.h"

enum {
    CTCGREEDYDECODER_LANES = 16 /* maxima side by side: a compiler makes vectors of them */
};

/* Returns the index of the largest number, the first of equal ones; NaN is below all others. */
static size_t ctcgreedydecoder_best(const float *x, size_t count)
{
    float best[CTCGREEDYDECODER_LANES];
    float max = -HUGE_VALF;
    size_t i = 0;

    for (size_t j = 0; j < CTCGREEDYDECODER_LANES; j++) {
        best[j] = max;
    }
    for (; count - i >= CTCGREEDYDECODER_LANES; i += CTCGREEDYDECODER_LANES) {
        for (size_t j = 0; j < CTCGREEDYDECODER_LANES; j++) {
            best[j] = x[i + j] > best[j] ? x[i + j] : best[j];
        }
    }
    for (size_t j = 0; j < CTCGREEDYDECODER_LANES; j++) {
        max = best[j] > max ? best[j] : max;
    }
    for (; i < count; i++) {
        max = x[i] > max ? x[i] : max;
    }
    for (i = 0; i < count; i++) {
        if (x[i] >= max && max > -HUGE_VALF) {
            return i;
        }
    }
    return 0;
}

/* Writes the labels of a sequence and returns their number. */
static size_t ctcgreedydecoder_decode(const float *data, size_t length, size_t classes,
                                      size_t blank, bool merges, int32_t *labels, float *score)
{
    size_t count = 0, previous = blank;
    double sum = 0.0;

    for (size_t i = 0; i < length; i++) {
        const size_t best = ctcgreedydecoder_best(data + i * classes, classes);

        sum += (double)data[i * classes + best];
        if (best != blank && !(merges && best == previous)) {
            labels[count++] = (int32_t)best;
        }
        previous = best;
    }
    *score = (float)sum;
    return count;
}

/* Checks tensors and params. Returns NULL, or an error message. */
static const char *ctcgreedydecoder_check(const struct ctcgreedydecoder_inputs *inputs,
                                          const struct ctcgreedydecoder_params *params,
                                          const struct ctcgreedydecoder_outputs *outputs)
{
    const struct opkit_tensor *data = &inputs->data, *lengths = &inputs->sequence_length;

    if (data->type != OPKIT_FLOAT32) {
        return "data must be float16 or float32";
    }
    if (data->rank != 3 || data->shape[2] < 1 || data->shape[2] > INT32_MAX) {
        return "data must be [N, T, classes]";
    }
    if (params->blank_index < -1 || params->blank_index >= (int64_t)data->shape[2]) {
        return "blank_index must be -1 or a class";
    }
    if (lengths->type != OPKIT_INT32 || lengths->rank != 1 || lengths->size != data->shape[0]) {
        return "sequence_length must be [N]";
    }
    for (size_t i = 0; i < lengths->size; i++) {
        if (lengths->int32[i] < 0 || (size_t)lengths->int32[i] > data->shape[1]) {
            return "sequence_length must be from 0 to T";
        }
    }
    return outputs->classes_index.type == OPKIT_INT32 && outputs->count.type == OPKIT_INT32 &&
                   outputs->score.type == OPKIT_FLOAT32 &&
                   outputs->classes_index.size == data->shape[0] * data->shape[1] &&
                   outputs->count.size == data->shape[0] && outputs->score.size == data->shape[0]
               ? NULL
               : "classes_index must be [N, T], and count and score [N]";
}

/*
 * Computes the outputs:
 *
 *   inputs->data               the scores of all classes, [N, T, classes]
 *   inputs->sequence_length    the positions of each sequence, [N]
 *   params->blank_index        the class that is no label; -1: the last one
 *   params->merge_repeated     1: of equal labels in a row, only the first one counts
 *   outputs->classes_index     [N, T]: the labels of each sequence; then -1
 *   outputs->count             [N]: the number of labels
 *   outputs->score             [N]: the sum of the scores on the path
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *ctcgreedydecoder_compute(const struct ctcgreedydecoder_inputs *inputs,
                                            const struct ctcgreedydecoder_params *params,
                                            struct ctcgreedydecoder_outputs *outputs)
{
    const char *problem = ctcgreedydecoder_check(inputs, params, outputs);
    if (problem != NULL) {
        return problem;
    }

    const size_t columns = inputs->data.shape[1], classes = inputs->data.shape[2];
    const size_t blank = params->blank_index < 0 ? classes - 1 : (size_t)params->blank_index;
    for (size_t i = 0; i < inputs->data.shape[0]; i++) {
        int32_t *labels = outputs->classes_index.int32 + i * columns;
        size_t count = ctcgreedydecoder_decode(
            inputs->data.float32 + i * columns * classes, (size_t)inputs->sequence_length.int32[i],
            classes, blank, params->merge_repeated == 1, labels, &outputs->score.float32[i]);

        outputs->count.int32[i] = (int32_t)count;
        for (; count < columns; count++) {
            labels[count] = -1;
        }
    }
    return NULL;
}

#endif
