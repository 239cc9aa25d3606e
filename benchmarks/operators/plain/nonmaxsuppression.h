#include <math.h>
#include <string.h>

static float overlap(const float *a, const float *b)
{
    const float height = fminf(a[2], b[2]) - fmaxf(a[0], b[0]);
    const float width = fminf(a[3], b[3]) - fmaxf(a[1], b[1]);

    if (height <= 0.0F || width <= 0.0F) {
        return 0.0F;
    }
    return height * width /
           ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - height * width);
}

/* Selects the best box that is left, and removes the boxes that overlap it. */
static void plain(const struct nonmaxsuppression_inputs *inputs,
                  const struct nonmaxsuppression_params *params,
                  const struct nonmaxsuppression_outputs *outputs)
{
    const float *boxes = inputs->boxes.float32, *scores = inputs->scores.float32;
    const size_t count = inputs->scores.size;
    static bool is_removed[65536];
    size_t rows = 0;

    memset(is_removed, 0, sizeof is_removed);
    while (rows < (size_t)params->max_output_boxes_per_class) {
        size_t best = count;

        for (size_t i = 0; i < count; i++) {
            if (!is_removed[i] && scores[i] > params->score_threshold &&
                (best == count || scores[i] > scores[best])) {
                best = i;
            }
        }
        if (best == count) {
            break;
        }
        outputs->selected_indices.int64[3 * rows] = 0;
        outputs->selected_indices.int64[3 * rows + 1] = 0;
        outputs->selected_indices.int64[3 * rows++ + 2] = (int64_t)best;
        for (size_t i = 0; i < count; i++) {
            is_removed[i] |= overlap(boxes + 4 * best, boxes + 4 * i) > params->iou_threshold;
        }
        is_removed[best] = true;
    }
    outputs->count.int64[0] = (int64_t)rows;
    for (size_t i = 3 * rows; i < outputs->selected_indices.size; i++) {
        outputs->selected_indices.int64[i] = -1;
    }
}
