/*
 * The math of DetectionOutput: the end of a detector, from the outputs of its heads on.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in detectionoutput_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in
 * all. Floating-point tensors are arrays of float, also if the model has float16.
 *
 * The scores of an image that are high enough are a heap. Only boxes of scores that are taken from
 * it are computed, because most never are.
 */
#ifndef DETECTIONOUTPUT_COMPUTE_H
#define DETECTIONOUTPUT_COMPUTE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "generated/detectionoutput.h"
#include "include/opkit/compute/boxes.h"
#include "include/opkit/compute/math.h"

/* The work on one image after another. */
struct detectionoutput_work {
    const float *boxes, *scores;
    const float *anchors; /* NULL: none */
    size_t count, classes; /* of boxes */
    float threshold; /* of the input's scores */
    uint64_t *heap;
    size_t candidates;
    struct opkit_boxes selected;
    int32_t *labels; /* of the selected boxes */
};

/* Returns the threshold of the input's scores. */
static float detectionoutput_threshold(const struct detectionoutput_params *params)
{
    const double threshold = (double)params->score_threshold;

    if (params->score_activation == 0) {
        return params->score_threshold;
    }
    return threshold > 0.0 ? (float)(log(threshold) - log1p(-threshold)) : -HUGE_VALF;
}

/* Whether a score makes a detection possible. */
static inline bool detectionoutput_is_candidate(const struct detectionoutput_work *work, size_t i,
                                                int64_t background)
{
    return work->scores[i] >= work->threshold && (int64_t)(i % work->classes) != background;
}

/* Makes a heap of the scores that are high enough. Returns whether there was memory. */
static bool detectionoutput_start(struct detectionoutput_work *work, int64_t background)
{
    const size_t size = work->count * work->classes;
    size_t count = 0;

    for (size_t i = 0; i < size; i++) {
        count += detectionoutput_is_candidate(work, i, background);
    }
    work->selected.count = work->candidates = 0;
    work->heap = (uint64_t *)malloc((count + 1) * sizeof *work->heap);
    for (size_t i = 0; i < size && work->heap != NULL; i++) {
        if (detectionoutput_is_candidate(work, i, background)) {
            work->heap[work->candidates++] = opkit_candidate(work->scores[i], (uint32_t)i);
        }
    }
    opkit_heap_candidates(work->heap, work->candidates);
    return work->heap != NULL;
}

/* Writes the corners of a box. Each statement has one operation: no fused multiply-add. */
static void detectionoutput_decode(const struct detectionoutput_work *work, size_t index,
                                   bool is_center, float *corners)
{
    const float *box = work->boxes + 4 * index;
    const float *anchor = work->anchors == NULL ? NULL : work->anchors + 4 * index;

    for (size_t i = 0; i < 2; i++) {
        float low = box[i], high = box[i + 2];

        if (is_center) {
            if (anchor != NULL) {
                const float move = low * anchor[i + 2];

                low = move + anchor[i];
                high = anchor[i + 2] * opkit_exp(high);
            }
            const float half = high * 0.5F;

            high = low + half;
            low = low - half;
        } else if (anchor != NULL) {
            const float from = opkit_lower(low, high), to = opkit_higher(low, high);

            low = from + opkit_lower(anchor[i], anchor[i + 2]);
            high = to + opkit_higher(anchor[i], anchor[i + 2]);
        }
        corners[i] = low;
        corners[i + 2] = high;
    }
}

/* Whether a box overlaps a selected one of its class too much. */
static bool detectionoutput_is_suppressed(const struct detectionoutput_work *work,
                                          const struct opkit_box *box, int32_t label,
                                          bool is_agnostic, float threshold)
{
    for (size_t start = 0; start < work->selected.count; start += OPKIT_BOXES) {
        const size_t rest = work->selected.count - start;
        const size_t count = rest < OPKIT_BOXES ? rest : (size_t)OPKIT_BOXES;
        unsigned found = 0;

        for (size_t i = 0; i < count; i++) {
            const bool is_other = (work->labels[start + i] != label) & !is_agnostic;

            found |= (opkit_overlap(box, &work->selected, start + i) >= threshold) & !is_other;
        }
        if (found) {
            return true;
        }
    }
    return false;
}

/* Selects the boxes of an image; writes its rows and returns their number. */
static size_t detectionoutput_select(struct detectionoutput_work *work,
                                     const struct detectionoutput_params *params, float *boxes,
                                     float *scores)
{
    const size_t limit = (size_t)params->max_output_boxes;

    while (work->selected.count < limit && work->candidates > 0) {
        const size_t index = opkit_take_candidate(work->heap, &work->candidates);
        const size_t row = work->selected.count;
        const int32_t label = (int32_t)(index % work->classes);
        float *corners = boxes + 4 * row;

        detectionoutput_decode(work, index / work->classes, params->box_coding == 1, corners);
        const struct opkit_box box = opkit_box_of(corners[0], corners[1], corners[2], corners[3]);
        if (!detectionoutput_is_suppressed(work, &box, label, params->class_agnostic == 1,
                                           params->iou_threshold)) {
            const float score = work->scores[index];

            work->labels[row] = label;
            scores[row] = params->score_activation == 1 ? opkit_sigmoid(score) : score;
            opkit_select_box(&work->selected, &box);
        }
    }
    return work->selected.count;
}

/* Checks types and shapes. Returns NULL, or an error message. */
static const char *detectionoutput_check(const struct detectionoutput_inputs *inputs,
                                         const struct detectionoutput_params *params,
                                         const struct detectionoutput_outputs *outputs)
{
    const struct opkit_tensor *boxes = &inputs->boxes, *scores = &inputs->scores;
    const struct opkit_tensor *anchors = &inputs->anchors;
    const size_t rows = boxes->shape[0] * (size_t)params->max_output_boxes;

    (void)params->plugin_version;
    if (boxes->type != OPKIT_FLOAT32 || scores->type != OPKIT_FLOAT32 ||
        anchors->type != OPKIT_FLOAT32) {
        return "all inputs must be float16 or float32";
    }
    if (boxes->rank != 3 || boxes->shape[2] != 4) {
        return "boxes must be [N, boxes, 4]";
    }
    if (scores->rank != 3 || scores->shape[0] != boxes->shape[0] ||
        scores->shape[1] != boxes->shape[1]) {
        return "scores must be [N, boxes, classes]";
    }
    if (scores->shape[1] * scores->shape[2] > UINT32_MAX || scores->shape[2] > INT32_MAX) {
        return "an image must have less than 2^32 scores";
    }
    const bool is_there = anchors->rank == 3 && anchors->shape[1] == boxes->shape[1] &&
                          anchors->shape[2] == 4 &&
                          (anchors->shape[0] == 1 || anchors->shape[0] == boxes->shape[0]);
    if (!is_there && (anchors->rank != 1 || anchors->size != 1)) {
        return "anchors must be [1 or N, boxes, 4]";
    }
    return outputs->num_detections.type == OPKIT_INT32 &&
                   outputs->detection_boxes.type == OPKIT_FLOAT32 &&
                   outputs->detection_scores.type == OPKIT_FLOAT32 &&
                   outputs->detection_classes.type == OPKIT_INT32 &&
                   outputs->num_detections.size == boxes->shape[0] &&
                   outputs->detection_boxes.size == 4 * rows &&
                   outputs->detection_scores.size == rows && outputs->detection_classes.size == rows
               ? NULL
               : "num_detections must be [N, 1], and the others [N, max_output_boxes, ...]";
}

/*
 * Computes the outputs:
 *
 *   inputs->boxes                 [N, boxes, 4]; with anchors, their changes
 *   inputs->scores                [N, boxes, classes]
 *   inputs->anchors               [1 or N, boxes, 4], or [1]: none
 *   params->background_class      the class that is no detection; -1: none
 *   params->box_coding            0: two opposite corners; 1: a center and a size
 *   params->class_agnostic        1: boxes of different classes overlap, too
 *   params->iou_threshold         boxes overlap with this intersection over union, or a larger one
 *   params->max_output_boxes      the rows of each image
 *   params->plugin_version        has no effect
 *   params->score_activation      1: a score is the sigmoid of the input's
 *   params->score_threshold       boxes need this score, or a higher one
 *   outputs->num_detections       [N, 1]
 *   outputs->detection_boxes      [N, max_output_boxes, 4]: corners; then zeros
 *   outputs->detection_scores     [N, max_output_boxes]; then zeros
 *   outputs->detection_classes    [N, max_output_boxes]; then -1
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *detectionoutput_compute(const struct detectionoutput_inputs *inputs,
                                           const struct detectionoutput_params *params,
                                           struct detectionoutput_outputs *outputs)
{
    const char *problem = detectionoutput_check(inputs, params, outputs);
    if (problem != NULL) {
        return problem;
    }

    struct detectionoutput_work work;
    const size_t limit = (size_t)params->max_output_boxes;
    const size_t stride = inputs->anchors.shape[0] == 1 ? 0 : inputs->anchors.shape[1] * 4;
    work.count = inputs->scores.shape[1];
    work.classes = inputs->scores.shape[2];
    work.threshold = detectionoutput_threshold(params);
    if (!opkit_allocate_boxes(&work.selected, limit)) {
        return "out of memory";
    }
    for (size_t i = 0; i < inputs->scores.shape[0]; i++) {
        float *boxes = outputs->detection_boxes.float32 + i * limit * 4;
        float *scores = outputs->detection_scores.float32 + i * limit;

        work.boxes = inputs->boxes.float32 + i * work.count * 4;
        work.scores = inputs->scores.float32 + i * work.count * work.classes;
        work.anchors = inputs->anchors.rank == 3 ? inputs->anchors.float32 + i * stride : NULL;
        work.labels = outputs->detection_classes.int32 + i * limit;
        if (!detectionoutput_start(&work, params->background_class)) {
            free(work.selected.memory);
            return "out of memory";
        }
        const size_t count = detectionoutput_select(&work, params, boxes, scores);

        free(work.heap);
        outputs->num_detections.int32[i] = (int32_t)count;
        memset(boxes + 4 * count, 0, 4 * (limit - count) * sizeof *boxes);
        for (size_t row = count; row < limit; row++) {
            scores[row] = 0.0F;
            work.labels[row] = -1;
        }
    }
    free(work.selected.memory);
    return NULL;
}

#endif
