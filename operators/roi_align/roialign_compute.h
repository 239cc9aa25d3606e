/*
 * The math of RoiAlign: regions of images, each resampled to one size.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in roialign_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16.
 *
 * The formula is in the ONNX specification of RoiAlign. The samples of an element of the output are
 * a grid, so that the weight of a pixel is the product of a row's and a column's. Rows and columns
 * of a region are found once for all channels. Then the rows of a channel are combined first, some
 * columns at a time, and the columns of the result next. With positive weights, the largest product
 * is also found in that order.
 */
#ifndef ROIALIGN_COMPUTE_H
#define ROIALIGN_COMPUTE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "generated/roialign.h"
#include "include/opkit/compute/processor.h"

enum {
    ROIALIGN_LANES = 4, /* columns of a vector */
    ROIALIGN_VECTORS = 2, /* side by side */
    ROIALIGN_WIDE = ROIALIGN_LANES * ROIALIGN_VECTORS, /* columns of all of them */
    ROIALIGN_MAX_SAMPLES = 65536 /* of an element along one axis, if sampling_ratio is 0 */
};

typedef float roialign_float4 __attribute__((vector_size(ROIALIGN_LANES * sizeof(float))));
typedef int32_t roialign_int4 __attribute__((vector_size(ROIALIGN_LANES * sizeof(float))));

/* A pixel's row or column, and its weight. */
struct roialign_tap {
    size_t index;
    float weight;
};

/* One axis of a region. */
struct roialign_axis {
    size_t length; /* of the image */
    size_t count; /* elements of the output */
    size_t samples; /* of each element: inside of the image and outside */
    struct roialign_tap *taps; /* two for each sample inside */
    size_t *ends; /* of the taps of each element; the first one's begin at 0 */
};

/* Reads the params. Returns NULL, or an error message. */
static const char *roialign_read(const struct roialign_params *params, bool *is_max,
                                 bool *is_half_pixel)
{
    *is_max = strcmp(params->mode, "max") == 0;
    if (!*is_max && strcmp(params->mode, "avg") != 0) {
        return "mode must be avg or max";
    }
    *is_half_pixel = strcmp(params->coordinate_transformation_mode, "half_pixel") == 0;
    if (!*is_half_pixel &&
        strcmp(params->coordinate_transformation_mode, "output_half_pixel") != 0) {
        return "coordinate_transformation_mode must be half_pixel or output_half_pixel";
    }
    return params->output_height > 0 && params->output_width > 0 && params->sampling_ratio >= 0
               ? NULL
               : "output_height and output_width must be above 0, and sampling_ratio not negative";
}

/* Checks types, shapes and indices. Returns NULL, or an error message. */
static const char *roialign_check(const struct roialign_inputs *inputs,
                                  const struct roialign_params *params,
                                  const struct opkit_tensor *y)
{
    const struct opkit_tensor *x = &inputs->x;
    const struct opkit_tensor *rois = &inputs->rois;
    const struct opkit_tensor *indices = &inputs->batch_indices;

    if (x->type != OPKIT_FLOAT32 || rois->type != OPKIT_FLOAT32 || y->type != OPKIT_FLOAT32) {
        return "x, rois and y must be float16 or float32";
    }
    if (indices->type != OPKIT_INT64) {
        return "batch_indices must be int64";
    }
    if (x->rank != 4 || x->shape[2] < 1 || x->shape[3] < 1) {
        return "x must be [N, C, H, W], with pixels";
    }
    if (rois->rank != 2 || rois->shape[1] != 4 || indices->rank != 1 ||
        indices->shape[0] != rois->shape[0]) {
        return "rois must be [rois, 4], and batch_indices [rois]";
    }
    if (y->rank != 4 || y->shape[0] != rois->shape[0] || y->shape[1] != x->shape[1] ||
        y->shape[2] != (size_t)params->output_height ||
        y->shape[3] != (size_t)params->output_width) {
        return "y must be [rois, C, output_height, output_width]";
    }
    for (size_t i = 0; i < indices->size; i++) {
        if (indices->int64[i] < 0 || (size_t)indices->int64[i] >= x->shape[0]) {
            return "batch_indices must be from 0 to N - 1";
        }
    }
    return NULL;
}

/* Returns the maximum number of taps of an axis. */
static size_t roialign_max_taps(const struct roialign_axis *axis, int64_t sampling_ratio)
{
    /* Without a ratio, samples are at least half a pixel apart, or each element has one. */
    return sampling_ratio > 0 ? 2 * axis->count * (size_t)sampling_ratio
                              : 2 * (axis->count + 2 * (axis->length + 2));
}

/*
 * Finds the samples of a region along one axis. In float, in the order of onnxruntime, because a
 * rounding error may move a sample out of the image. Each statement has at most one product: a
 * compiler may use a fused multiply-add.
 */
static void roialign_find(struct roialign_axis *axis, float begin, float end,
                          const struct roialign_params *params, bool is_half_pixel)
{
    const float shift = is_half_pixel ? 0.5F : 0.0F;
    const float scaled_begin = begin * params->spatial_scale;
    const float scaled_end = end * params->spatial_scale;
    const float start = scaled_begin - shift;
    const float difference = scaled_end - shift - start;
    const float size = is_half_pixel || difference > 1.0F ? difference : 1.0F;
    const float step = size / (float)axis->count;
    const float limit = (float)ROIALIGN_MAX_SAMPLES;
    const float rounded = ceilf(step);
    const size_t last = axis->length - 1;
    size_t taps = 0;

    axis->samples = (size_t)params->sampling_ratio;
    if (axis->samples == 0 && rounded > 0.0F) { /* false for NaN */
        axis->samples = (size_t)(rounded < limit ? rounded : limit);
    }
    for (size_t i = 0; i < axis->count; i++) {
        const float offset = (float)i * step;
        const float corner = start + offset;

        for (size_t sample = 0; sample < axis->samples; sample++) {
            const float steps = ((float)sample + 0.5F) * step;
            const float place = corner + steps / (float)axis->samples;

            if (place >= -1.0F && place <= (float)axis->length) { /* false for NaN */
                const float inside = place > 0.0F ? place : 0.0F;
                const size_t first = (size_t)inside < last ? (size_t)inside : last;
                const float after = first < last ? inside - (float)first : 0.0F;

                axis->taps[taps].index = first;
                axis->taps[taps++].weight = 1.0F - after;
                axis->taps[taps].index = first < last ? first + 1 : last;
                axis->taps[taps++].weight = after;
            }
        }
        axis->ends[i] = taps;
    }
}

/* Returns the larger one of each two numbers; NaN if one is. */
static inline roialign_float4 roialign_max(roialign_float4 a, roialign_float4 b)
{
    const roialign_int4 is_a = (a >= b) | (a != a);
    return (roialign_float4)(((roialign_int4)a & is_a) | ((roialign_int4)b & ~is_a));
}

/*
 * Combines rows of a channel: their weighted sum or largest product. `x` has the columns in the
 * first row of `width` pixels: `lanes` of them, or all of several vectors, a constant number.
 */
OPKIT_INLINE void roialign_combine(const struct roialign_tap *taps, size_t count, const float *x,
                                   size_t width, size_t lanes, size_t vectors, bool is_max,
                                   float *combined)
{
    roialign_float4 results[ROIALIGN_VECTORS] = {{0.0F}};

    for (size_t i = 0; i < count; i++) {
        const float *source = x + taps[i].index * width;

        for (size_t j = 0; j < vectors; j++) {
            roialign_float4 pixels = {0.0F, 0.0F, 0.0F, 0.0F}, result = results[j];

            if (lanes == ROIALIGN_LANES) {
                memcpy(&pixels, source + j * ROIALIGN_LANES, sizeof pixels);
            } else {
                memcpy(&pixels, source, lanes * sizeof *source);
            }
            pixels *= taps[i].weight;
            results[j] = !is_max ? result + pixels : i > 0 ? roialign_max(result, pixels) : pixels;
        }
    }
    memcpy(combined, results, vectors * lanes * sizeof *combined);
}

/* The rows and columns of a region. */
struct roialign_region {
    struct roialign_axis rows, columns;
    size_t first, end; /* the range of columns: at least ROIALIGN_LANES, if the image has them */
    bool is_max;
    float *combined; /* for each column of the image: its pixels in the rows of an element */
};

/* Finds the range of columns. */
static void roialign_find_range(struct roialign_region *region)
{
    const struct roialign_axis *columns = &region->columns;
    const size_t taps = columns->ends[columns->count - 1];
    const size_t wanted =
        columns->length < ROIALIGN_LANES ? columns->length : (size_t)ROIALIGN_LANES;

    region->first = columns->length - wanted;
    region->end = 0;
    for (size_t i = 0; i < taps; i++) {
        const size_t index = columns->taps[i].index;

        region->first = index < region->first ? index : region->first;
        region->end = index >= region->end ? index + 1 : region->end;
    }
    if (region->end < region->first + wanted) {
        region->end = region->first + wanted;
    }
}

/* Combines the rows of an element, for all columns of a region in one channel. */
OPKIT_INLINE void roialign_combine_rows(const struct roialign_region *region,
                                        const struct roialign_tap *taps, size_t count,
                                        const float *x, bool is_max)
{
    const size_t width = region->columns.length;
    const size_t lanes = width < ROIALIGN_LANES ? width : (size_t)ROIALIGN_LANES;
    size_t next = region->first;

    for (; lanes == ROIALIGN_LANES && next + ROIALIGN_WIDE <= region->end; next += ROIALIGN_WIDE) {
        roialign_combine(taps, count, x + next, width, ROIALIGN_LANES, ROIALIGN_VECTORS, is_max,
                         region->combined + next);
    }
    for (; next < region->end; next += lanes) {
        /* The last columns are combined together with some before them. */
        const size_t column = next + lanes <= region->end ? next : region->end - lanes;

        if (lanes == ROIALIGN_LANES) {
            roialign_combine(taps, count, x + column, width, ROIALIGN_LANES, 1, is_max,
                             region->combined + column);
        } else {
            roialign_combine(taps, count, x + column, width, lanes, 1, is_max,
                             region->combined + column);
        }
    }
}

/* Returns an element of the output from its columns. */
static float roialign_pool(const struct roialign_region *region, const struct roialign_tap *taps,
                           size_t count)
{
    float result = region->combined[taps[0].index] * taps[0].weight;

    for (size_t i = 1; i < count; i++) {
        const float product = region->combined[taps[i].index] * taps[i].weight;

        if (!region->is_max) {
            result += product;
        } else if (product > result || isnan(product)) {
            result = product;
        }
    }
    return result;
}

/* Computes one channel of a region. */
static void roialign_channel(const struct roialign_region *region, const float *x, float *y)
{
    const struct roialign_axis *rows = &region->rows, *columns = &region->columns;
    const size_t samples = rows->samples * columns->samples; /* of an element */

    for (size_t i = 0; i < rows->count; i++) {
        const size_t begin = i > 0 ? rows->ends[i - 1] : 0;
        const size_t row_taps = rows->ends[i] - begin;

        if (region->is_max) {
            roialign_combine_rows(region, rows->taps + begin, row_taps, x, true);
        } else {
            roialign_combine_rows(region, rows->taps + begin, row_taps, x, false);
        }
        for (size_t j = 0; j < columns->count; j++) {
            const size_t first = j > 0 ? columns->ends[j - 1] : 0;
            const size_t taps = columns->ends[j] - first;
            float result = 0.0F;

            if (row_taps > 0 && taps > 0) {
                result = roialign_pool(region, columns->taps + first, taps);
                if (!region->is_max) {
                    result /= (float)samples;
                } else if (row_taps * taps < 4 * samples && result < 0.0F) {
                    result = 0.0F; /* a sample outside */
                }
            }
            y[i * columns->count + j] = result;
        }
    }
}

/* Allocates the lists of a region, in one block of memory, which is returned; NULL: no memory. */
static void *roialign_allocate(struct roialign_region *region, int64_t sampling_ratio)
{
    const size_t row_taps = roialign_max_taps(&region->rows, sampling_ratio);
    const size_t column_taps = roialign_max_taps(&region->columns, sampling_ratio);
    const size_t ends = region->rows.count + region->columns.count;
    const size_t width = region->columns.length;
    char *memory =
        (char *)malloc((row_taps + column_taps) * sizeof *region->rows.taps +
                       ends * sizeof *region->rows.ends + width * sizeof *region->combined);

    if (memory != NULL) {
        region->rows.taps = (struct roialign_tap *)(void *)memory;
        region->columns.taps = region->rows.taps + row_taps;
        region->rows.ends = (size_t *)(void *)(region->columns.taps + column_taps);
        region->columns.ends = region->rows.ends + region->rows.count;
        region->combined = (float *)(void *)(region->columns.ends + region->columns.count);
    }
    return memory;
}

/*
 * Computes the outputs:
 *
 *   inputs->x                 images, [N, C, H, W]
 *   inputs->rois              the regions, [rois, 4]: x1, y1, x2, y2
 *   inputs->batch_indices     the image of each region, [rois]
 *   params->coordinate_transformation_mode    "half_pixel", "output_half_pixel"
 *   params->mode              "avg", "max"
 *   params->output_height     rows of y
 *   params->output_width      columns of y
 *   params->sampling_ratio    samples of an element along each axis; 0: one for each pixel
 *   params->spatial_scale     pixels of x per unit of rois
 *   outputs->y                [rois, C, output_height, output_width]
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *roialign_compute(const struct roialign_inputs *inputs,
                                    const struct roialign_params *params,
                                    struct roialign_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->x;
    const struct opkit_tensor *y = &outputs->y;
    struct roialign_region region;
    bool is_half_pixel;

    const char *problem = roialign_read(params, &region.is_max, &is_half_pixel);
    if (problem == NULL) {
        problem = roialign_check(inputs, params, y);
    }
    if (problem != NULL) {
        return problem;
    }

    const size_t pixels = x->shape[2] * x->shape[3];
    const size_t elements = y->shape[2] * y->shape[3];
    region.rows.length = x->shape[2];
    region.columns.length = x->shape[3];
    region.rows.count = y->shape[2];
    region.columns.count = y->shape[3];
    void *memory = roialign_allocate(&region, params->sampling_ratio);
    if (memory == NULL) {
        return "out of memory";
    }
    for (size_t i = 0; i < y->shape[0]; i++) {
        const float *roi = inputs->rois.float32 + 4 * i;
        const size_t image = (size_t)inputs->batch_indices.int64[i];

        roialign_find(&region.rows, roi[1], roi[3], params, is_half_pixel);
        roialign_find(&region.columns, roi[0], roi[2], params, is_half_pixel);
        roialign_find_range(&region);
        for (size_t channel = 0; channel < y->shape[1]; channel++) {
            roialign_channel(&region, x->float32 + (image * y->shape[1] + channel) * pixels,
                             y->float32 + (i * y->shape[1] + channel) * elements);
        }
    }
    free(memory);
    return NULL;
}

#endif
