/*
 * The shape rule of DetectionOutput, for runtimes that infer shapes at run time.
 *
 * Each image has max_output_boxes rows.
 */
#ifndef DETECTIONOUTPUT_SHAPES_H
#define DETECTIONOUTPUT_SHAPES_H

#include "../generated/detectionoutput.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *detectionoutput_shapes(const struct detectionoutput_inputs *inputs,
                                          const struct detectionoutput_params *params,
                                          struct detectionoutput_outputs *outputs)
{
    const size_t images = inputs->boxes.shape[0];

    outputs->num_detections.rank = outputs->detection_scores.rank = 2;
    outputs->detection_classes.rank = 2;
    outputs->detection_boxes.rank = 3;
    outputs->num_detections.shape[0] = outputs->detection_boxes.shape[0] = images;
    outputs->detection_scores.shape[0] = outputs->detection_classes.shape[0] = images;
    outputs->num_detections.shape[1] = 1;
    outputs->detection_boxes.shape[1] = (size_t)params->max_output_boxes;
    outputs->detection_boxes.shape[2] = 4;
    outputs->detection_scores.shape[1] = (size_t)params->max_output_boxes;
    outputs->detection_classes.shape[1] = (size_t)params->max_output_boxes;
    return NULL;
}

#endif
