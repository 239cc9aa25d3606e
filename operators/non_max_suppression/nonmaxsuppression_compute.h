/*
 * The math of NonMaxSuppression: the boxes with the best scores that overlap little.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in nonmaxsuppression_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in
 * all. Floating-point tensors are arrays of float, also if the model has float16.
 *
 * The candidates of a class are a heap. The best one is compared with the selected boxes, several
 * at once.
 */
#ifndef NONMAXSUPPRESSION_COMPUTE_H
#define NONMAXSUPPRESSION_COMPUTE_H

#include <stdlib.h>

#include "generated/nonmaxsuppression.h"
#include "include/opkit/compute/boxes.h"

/* The work on one class after another. */
struct nonmaxsuppression_work {
    uint64_t *heap;
    size_t count; /* of entries */
    struct opkit_boxes selected;
};

/* Reads a box of 4 numbers. Each statement has one operation: no fused multiply-add. */
static struct opkit_box nonmaxsuppression_read(const float *x, bool is_center)
{
    if (!is_center) {
        return opkit_box_of(x[1], x[0], x[3], x[2]);
    }
    const float half_width = x[2] / 2.0F;
    const float half_height = x[3] / 2.0F;
    struct opkit_box box;

    box.left = x[0] - half_width;
    box.right = x[0] + half_width;
    box.top = x[1] - half_height;
    box.bottom = x[1] + half_height;
    const float width = box.right - box.left;
    const float height = box.bottom - box.top;
    box.area = width * height;
    return box;
}

/* Whether a box overlaps one of the selected ones too much. */
static bool nonmaxsuppression_is_suppressed(const struct opkit_box *box,
                                            const struct opkit_boxes *selected, float threshold)
{
    for (size_t start = 0; start < selected->count; start += OPKIT_BOXES) {
        const size_t rest = selected->count - start;
        const size_t count = rest < OPKIT_BOXES ? rest : (size_t)OPKIT_BOXES;
        unsigned found = 0;

        for (size_t i = 0; i < count; i++) {
            found |= opkit_overlap(box, selected, start + i) > threshold;
        }
        if (found) {
            return true;
        }
    }
    return false;
}

/* Makes a heap of the boxes with scores above a threshold: of equal ones, the first is better. */
static void nonmaxsuppression_start(struct nonmaxsuppression_work *work, const float *scores,
                                    size_t boxes, float threshold)
{
    work->count = 0;
    work->selected.count = 0;
    for (size_t i = 0; i < boxes; i++) {
        work->heap[work->count] = opkit_candidate(scores[i], (uint32_t)i);
        work->count += scores[i] > threshold;
    }
    opkit_heap_candidates(work->heap, work->count);
}

/* Checks types, shapes and params. Returns NULL, or an error message. */
static const char *nonmaxsuppression_check(const struct nonmaxsuppression_inputs *inputs,
                                           const struct nonmaxsuppression_params *params,
                                           const struct nonmaxsuppression_outputs *outputs)
{
    const struct opkit_tensor *boxes = &inputs->boxes;
    const struct opkit_tensor *scores = &inputs->scores;
    const struct opkit_tensor *rows = &outputs->selected_indices;

    if (boxes->type != OPKIT_FLOAT32 || scores->type != OPKIT_FLOAT32) {
        return "boxes and scores must be float16 or float32";
    }
    if (rows->type != OPKIT_INT64 || outputs->count.type != OPKIT_INT64) {
        return "selected_indices and count must be int64";
    }
    if (boxes->rank != 3 || boxes->shape[2] != 4) {
        return "boxes must be [N, boxes, 4]";
    }
    if (scores->rank != 3 || scores->shape[0] != boxes->shape[0] ||
        scores->shape[2] != boxes->shape[1]) {
        return "scores must be [N, classes, boxes], with the N and boxes of boxes";
    }
    if (boxes->shape[1] > UINT32_MAX) {
        return "boxes must be less than 2^32";
    }
    if (params->max_output_boxes_per_class < 1) {
        return "max_output_boxes_per_class must be 1 or more";
    }
    if (!(params->iou_threshold >= 0.0F && params->iou_threshold <= 1.0F)) {
        return "iou_threshold must be 0 to 1";
    }
    return params->center_point_box == 0 || params->center_point_box == 1
               ? NULL
               : "center_point_box must be 0 or 1";
}

/* Selects boxes of one class; writes rows and returns their number. */
static size_t nonmaxsuppression_class(struct nonmaxsuppression_work *work, const float *boxes,
                                      const struct nonmaxsuppression_params *params,
                                      size_t max_count, size_t image, size_t label, int64_t *rows)
{
    size_t count = 0;

    while (count < max_count && work->count > 0) {
        const size_t index = opkit_take_candidate(work->heap, &work->count);
        const struct opkit_box box =
            nonmaxsuppression_read(boxes + 4 * index, params->center_point_box == 1);

        if (!nonmaxsuppression_is_suppressed(&box, &work->selected, params->iou_threshold)) {
            opkit_select_box(&work->selected, &box);
            rows[3 * count] = (int64_t)image;
            rows[3 * count + 1] = (int64_t)label;
            rows[3 * count + 2] = (int64_t)index;
            count++;
        }
    }
    return count;
}

/*
 * Computes the outputs:
 *
 *   inputs->boxes                 [N, boxes, 4]: y1, x1, y2, x2; or center_x, center_y, w, h
 *   inputs->scores                [N, classes, boxes]
 *   params->max_output_boxes_per_class    the maximum number of boxes of each class of an image
 *   params->iou_threshold         the maximum intersection over union of two boxes of a class
 *   params->score_threshold       boxes need a higher score
 *   params->center_point_box      1: boxes have a center and a size; 0: two opposite corners
 *   outputs->selected_indices     [rows, 3]: image, class, box; then rows of -1
 *   outputs->count                [1]: the number of rows with boxes
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *nonmaxsuppression_compute(const struct nonmaxsuppression_inputs *inputs,
                                             const struct nonmaxsuppression_params *params,
                                             struct nonmaxsuppression_outputs *outputs)
{
    const char *problem = nonmaxsuppression_check(inputs, params, outputs);
    if (problem != NULL) {
        return problem;
    }

    const size_t images = inputs->scores.shape[0];
    const size_t labels = inputs->scores.shape[1];
    const size_t boxes = inputs->scores.shape[2];
    const size_t limit = (size_t)params->max_output_boxes_per_class;
    const size_t max_count = limit < boxes ? limit : boxes;
    const size_t size = outputs->selected_indices.size;
    int64_t *rows = outputs->selected_indices.int64;
    size_t count = 0;
    if (size != images * labels * max_count * 3 || outputs->count.size != 1) {
        return "selected_indices must be [N * classes * max boxes, 3], and count [1]";
    }

    struct nonmaxsuppression_work work;
    work.heap = (uint64_t *)malloc(boxes * sizeof *work.heap);
    if (!opkit_allocate_boxes(&work.selected, max_count) || work.heap == NULL) {
        free(work.selected.memory);
        free(work.heap);
        return "out of memory";
    }
    for (size_t i = 0; i < images * labels; i++) {
        const size_t image = i / labels;
        const float *image_boxes = inputs->boxes.float32 + image * boxes * 4;

        nonmaxsuppression_start(&work, inputs->scores.float32 + i * boxes, boxes,
                                params->score_threshold);
        count += nonmaxsuppression_class(&work, image_boxes, params, max_count, image, i % labels,
                                         rows + 3 * count);
    }
    free(work.selected.memory);
    free(work.heap);
    outputs->count.int64[0] = (int64_t)count;
    for (size_t i = 3 * count; i < size; i++) {
        rows[i] = -1;
    }
    return NULL;
}

#endif
