/*
 * The math of DecodeBoxes: the box coder of Faster R-CNN and SSD.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in decodeboxes_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16. The math is in double,
 * because a box edge is the difference of large numbers.
 */
#ifndef DECODEBOXES_COMPUTE_H
#define DECODEBOXES_COMPUTE_H

#include <math.h>

#include "generated/decodeboxes.h"

/* A box along one axis: rows or columns, in pixels. */
struct decodeboxes_range {
    double start;
    double end;
};

/* Clips a value to 0 to `limit`. NaN stays NaN, like in numpy.clip. */
static double decodeboxes_clip(double value, double limit)
{
    if (value < 0.0) {
        return 0.0;
    }
    return value > limit ? limit : value;
}

/* Moves and scales an anchor along one axis of the image, which has `length` pixels. */
static struct decodeboxes_range decodeboxes_decode(struct decodeboxes_range anchor, double shift,
                                                   double log_scale, int32_t length,
                                                   const struct decodeboxes_params *params)
{
    const double anchor_size = anchor.end - anchor.start + params->offset;
    const double center = anchor.start + 0.5 * anchor_size + shift * anchor_size;
    const double limit = params->max_log_scale;
    const double size = anchor_size * exp(log_scale > limit ? limit : log_scale);
    struct decodeboxes_range box;

    box.start = center - 0.5 * size;
    box.end = center + 0.5 * size - params->offset;
    if (params->clip) {
        box.start = decodeboxes_clip(box.start, (double)length - params->offset);
        box.end = decodeboxes_clip(box.end, (double)length - params->offset);
    }
    return box;
}

/* Checks the shapes: deltas [..., N, 4], anchors [N, 4], boxes like deltas, areas [..., N]. */
static bool decodeboxes_shapes_fit(const struct decodeboxes_inputs *inputs,
                                   const struct decodeboxes_outputs *outputs)
{
    const struct opkit_tensor *deltas = &inputs->deltas;
    const struct opkit_tensor *anchors = &inputs->anchors;
    const size_t rank = deltas->rank;

    if (rank < 3 || anchors->rank != 2) {
        return false;
    }
    if (outputs->boxes.rank != rank || outputs->areas.rank != rank - 1) {
        return false;
    }
    for (size_t axis = 0; axis < rank; axis++) {
        if (outputs->boxes.shape[axis] != deltas->shape[axis]) {
            return false;
        }
        if (axis < rank - 1 && outputs->areas.shape[axis] != deltas->shape[axis]) {
            return false;
        }
    }
    return anchors->shape[0] == deltas->shape[rank - 2] && anchors->shape[1] == 4 &&
           deltas->shape[rank - 1] == 4;
}

/*
 * Computes the outputs:
 *
 *   inputs->deltas           the head's predictions, [..., N, 4]: ty, tx, th, tw
 *   inputs->anchors          [N, 4]: top, left, bottom, right, in pixels
 *   params->image_size       height and width of the image, in pixels
 *   params->clip             whether to clip boxes to the image
 *   params->offset           1 if bottom and right are the last pixels of the box, else 0
 *   params->min_size         boxes with a smaller height or width, in pixels, get the area 0
 *   params->max_log_scale    upper limit of th and tw, which keeps exp from overflowing
 *   params->area_scale       factor of the areas, so that they fit a half
 *   outputs->boxes           the shape of deltas: top, left, bottom, right, in pixels
 *   outputs->areas           [..., N]
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *decodeboxes_compute(const struct decodeboxes_inputs *inputs,
                                       const struct decodeboxes_params *params,
                                       struct decodeboxes_outputs *outputs)
{
    if (inputs->deltas.type != OPKIT_FLOAT32 || inputs->anchors.type != OPKIT_FLOAT32 ||
        outputs->boxes.type != OPKIT_FLOAT32 || outputs->areas.type != OPKIT_FLOAT32) {
        return "all tensors must be float16 or float32";
    }
    if (!decodeboxes_shapes_fit(inputs, outputs)) {
        return "deltas and boxes must be [..., N, 4], anchors [N, 4] and areas [..., N]";
    }
    const int32_t *image_size = params->image_size.items;
    if (params->image_size.count != 2 || image_size[0] < 1 || image_size[1] < 1) {
        return "image_size must have 2 items, height and width, both above 0";
    }
    if (params->offset > 1) {
        return "offset must be 0 or 1";
    }

    const size_t anchor_count = inputs->anchors.shape[0];
    for (size_t i = 0; i < outputs->areas.size; i++) {
        const float *delta = inputs->deltas.float32 + i * 4;
        const float *anchor = inputs->anchors.float32 + i % anchor_count * 4;
        const struct decodeboxes_range anchor_rows = {anchor[0], anchor[2]};
        const struct decodeboxes_range anchor_columns = {anchor[1], anchor[3]};
        const struct decodeboxes_range rows =
            decodeboxes_decode(anchor_rows, delta[0], delta[2], image_size[0], params);
        const struct decodeboxes_range columns =
            decodeboxes_decode(anchor_columns, delta[1], delta[3], image_size[1], params);
        const double height = rows.end - rows.start + params->offset;
        const double width = columns.end - columns.start + params->offset;
        const bool too_small = height < params->min_size || width < params->min_size;
        float *box = outputs->boxes.float32 + i * 4;

        box[0] = (float)rows.start;
        box[1] = (float)columns.start;
        box[2] = (float)rows.end;
        box[3] = (float)columns.end;
        outputs->areas.float32[i] = too_small ? 0.0F : (float)(height * width * params->area_scale);
    }
    return NULL;
}

#endif
