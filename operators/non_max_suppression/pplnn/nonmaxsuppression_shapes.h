/*
 * The shape rule of NonMaxSuppression, for runtimes that infer shapes at run time.
 *
 * selected_indices is [N * classes * max boxes of a class, 3], and count [1].
 */
#ifndef NONMAXSUPPRESSION_SHAPES_H
#define NONMAXSUPPRESSION_SHAPES_H

#include "../generated/nonmaxsuppression.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *nonmaxsuppression_shapes(const struct nonmaxsuppression_inputs *inputs,
                                            const struct nonmaxsuppression_params *params,
                                            struct nonmaxsuppression_outputs *outputs)
{
    const struct opkit_tensor *scores = &inputs->scores;

    if (scores->rank != 3) {
        return "scores must be [N, classes, boxes], with the N and boxes of boxes";
    }
    if (params->max_output_boxes_per_class < 1) {
        return "max_output_boxes_per_class must be 1 or more";
    }
    const size_t limit = (size_t)params->max_output_boxes_per_class;
    const size_t max_count = limit < scores->shape[2] ? limit : scores->shape[2];
    outputs->selected_indices.rank = 2;
    outputs->selected_indices.shape[0] = scores->shape[0] * scores->shape[1] * max_count;
    outputs->selected_indices.shape[1] = 3;
    outputs->count.rank = 1;
    outputs->count.shape[0] = 1;
    return NULL;
}

#endif
