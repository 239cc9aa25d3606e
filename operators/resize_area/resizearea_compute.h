/*
 * The math of ResizeArea: each output pixel is the mean of its source area.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in resizearea_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16.
 *
 * Along one axis, output index i covers the half-open interval [i * scale, (i + 1) * scale) of the
 * source; a partly covered source element has the covered fraction as its weight. Sums are in
 * TensorFlow's order: a float32 result equals that of TensorFlow's own kernel bit for bit.
 */
#ifndef RESIZEAREA_COMPUTE_H
#define RESIZEAREA_COMPUTE_H

#include "generated/resizearea.h"

/*
 * The source elements of one output index: begin to end - 1. The first and the last have a weight
 * of their own; all others have weight 1.
 */
struct resizearea_span {
    size_t begin;
    size_t end;
    float first;
    float last;
};

/* Returns the length of [cell, cell + 1) within [begin, end); `scale` is end - begin. */
static float resizearea_covered(size_t cell, float begin, float end, float scale)
{
    const float left = (float)cell;
    const float right = (float)(cell + 1);

    if (left < begin) {
        return right > end ? scale : right - begin;
    }
    return right > end ? end - left : 1.0F;
}

/* Returns the span of an output index. */
static struct resizearea_span resizearea_span_of(size_t index, float scale)
{
    const float begin = (float)index * scale;
    const float end = (float)(index + 1) * scale;
    struct resizearea_span span;

    span.begin = (size_t)begin; /* floor and ceil of non-negative numbers */
    span.end = (size_t)end;
    if ((float)span.end < end) {
        span.end++;
    }
    span.first = resizearea_covered(span.begin, begin, end, scale);
    span.last = resizearea_covered(span.end - 1, begin, end, scale);
    return span;
}

static float resizearea_weight(const struct resizearea_span *span, size_t cell)
{
    if (cell == span->begin) {
        return span->first;
    }
    return cell == span->end - 1 ? span->last : 1.0F;
}

/* With align_corners, areas extend past the end: the last element repeats there. */
static size_t resizearea_clamp(size_t cell, size_t length)
{
    return cell < length ? cell : length - 1;
}

/* Returns the number of source elements per output index, along one axis. */
static float resizearea_scale(size_t source_length, size_t length, bool align_corners)
{
    if (align_corners && length > 1 && source_length > 1) {
        return (float)(source_length - 1) / (float)(length - 1);
    }
    return (float)source_length / (float)length;
}

/*
 * Adds weighted elements: total[i] += source[i] * weight. Product and sum are two statements: in
 * one, a compiler may use a fused multiply-add, which rounds once instead of twice.
 */
static void resizearea_add(float *total, const float *source, float weight, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const float product = source[i] * weight;
        total[i] += product;
    }
}

/*
 * Returns the axis of the rows in input and output (columns are the next axis): 1 for shapes in
 * NHWC, 2 for NCHW, 0 for neither. If both match, both give the same result: then height and
 * channels are equal, and only the shared axis changes.
 */
static size_t resizearea_row_axis(const struct opkit_tensor *input,
                                  const struct opkit_tensor *output,
                                  const struct opkit_int32_array *size)
{
    const size_t height = (size_t)size->items[0];
    const size_t width = (size_t)size->items[1];
    const size_t *from = input->shape;
    const size_t *to = output->shape;

    if (from[0] != to[0]) {
        return 0;
    }
    if (to[1] == height && to[2] == width && to[3] == from[3]) {
        return 1;
    }
    return to[1] == from[1] && to[2] == height && to[3] == width ? 2 : 0;
}

/* Data shared by all images. Lengths are in pixels; a pixel has `channels` floats. */
struct resizearea_plan {
    size_t images;
    size_t channels;
    size_t height, width;
    size_t output_height, output_width;
    float y_scale, x_scale; /* source elements per output index */
    float mean; /* 1 / source area of an output pixel */
};

/* Checks tensors and params; computes the plan. Returns NULL, or an error message. */
static const char *resizearea_prepare(const struct opkit_tensor *input,
                                      const struct opkit_tensor *output,
                                      const struct resizearea_params *params,
                                      struct resizearea_plan *plan)
{
    if (input->type != OPKIT_FLOAT32 || output->type != OPKIT_FLOAT32) {
        return "input and output must be float16 or float32";
    }
    if (input->rank != 4 || output->rank != 4) {
        return "input and output must have 4 dimensions";
    }
    if (input->size == 0) {
        return "input must have elements";
    }
    if (params->size.count != 2) {
        return "size must have 2 items, height and width";
    }
    const size_t axis = resizearea_row_axis(input, output, &params->size);
    if (axis == 0) {
        return "output must have the shape of input, with height and width replaced by size";
    }

    /* Treat NCHW as NHWC with one channel, and each channel as an image. */
    plan->images = axis == 1 ? input->shape[0] : input->shape[0] * input->shape[1];
    plan->channels = axis == 1 ? input->shape[3] : 1;
    plan->height = input->shape[axis];
    plan->width = input->shape[axis + 1];
    plan->output_height = output->shape[axis];
    plan->output_width = output->shape[axis + 1];
    plan->y_scale = resizearea_scale(plan->height, plan->output_height, params->align_corners);
    plan->x_scale = resizearea_scale(plan->width, plan->output_width, params->align_corners);
    plan->mean = 1.0F / (plan->y_scale * plan->x_scale);
    return NULL;
}

#define RESIZEAREA_TILE 512 /* floats */

/*
 * A part of each output row that is adjacent in memory: some columns, or, of pixels with many
 * channels, some channels of one column.
 */
struct resizearea_tile {
    size_t column, columns;
    size_t channel, channels;
    struct resizearea_span spans[RESIZEAREA_TILE]; /* the source of each column */
    float row[RESIZEAREA_TILE]; /* buffer: one row of the input, resized to these columns */
};

/* Resizes one row of the input to the columns of a tile. */
static void resizearea_row(const struct resizearea_plan *plan, struct resizearea_tile *tile,
                           const float *source)
{
    for (size_t i = 0; i < tile->columns * tile->channels; i++) {
        tile->row[i] = 0.0F;
    }
    for (size_t x = 0; x < tile->columns; x++) {
        const struct resizearea_span *span = &tile->spans[x];

        for (size_t cell = span->begin; cell < span->end; cell++) {
            const size_t pixel = resizearea_clamp(cell, plan->width);
            resizearea_add(tile->row + x * tile->channels,
                           source + pixel * plan->channels + tile->channel,
                           resizearea_weight(span, cell), tile->channels);
        }
    }
}

/* Computes a tile of one image. */
static void resizearea_image(const struct resizearea_plan *plan, struct resizearea_tile *tile,
                             const float *source, float *target)
{
    const size_t pitch = plan->width * plan->channels;
    const size_t count = tile->columns * tile->channels;
    size_t buffered_row = plan->height; /* none yet */

    target += tile->column * plan->channels + tile->channel;
    for (size_t y = 0; y < plan->output_height; y++) {
        const struct resizearea_span span = resizearea_span_of(y, plan->y_scale);

        for (size_t i = 0; i < count; i++) {
            target[i] = 0.0F;
        }
        for (size_t cell = span.begin; cell < span.end; cell++) {
            const size_t source_row = resizearea_clamp(cell, plan->height);

            /* Neighboring output rows often use the same source row. */
            if (source_row != buffered_row) {
                resizearea_row(plan, tile, source + source_row * pitch);
                buffered_row = source_row;
            }
            resizearea_add(target, tile->row, resizearea_weight(&span, cell), count);
        }
        for (size_t i = 0; i < count; i++) {
            target[i] *= plan->mean;
        }
        target += plan->output_width * plan->channels;
    }
}

static size_t resizearea_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Computes all images, tile by tile. */
static void resizearea_images(const struct resizearea_plan *plan, const struct opkit_tensor *input,
                              const struct opkit_tensor *output)
{
    const size_t channels = resizearea_min(plan->channels, RESIZEAREA_TILE);
    const size_t columns = RESIZEAREA_TILE / channels;
    const size_t images = plan->images;
    struct resizearea_tile tile;

    for (tile.channel = 0; tile.channel < plan->channels; tile.channel += channels) {
        tile.channels = resizearea_min(channels, plan->channels - tile.channel);
        for (tile.column = 0; tile.column < plan->output_width; tile.column += columns) {
            tile.columns = resizearea_min(columns, plan->output_width - tile.column);
            for (size_t x = 0; x < tile.columns; x++) {
                tile.spans[x] = resizearea_span_of(tile.column + x, plan->x_scale);
            }
            for (size_t image = 0; image < images; image++) {
                resizearea_image(plan, &tile, input->float32 + image * (input->size / images),
                                 output->float32 + image * (output->size / images));
            }
        }
    }
}

/*
 * Computes the outputs:
 *
 *   inputs->input            images, rank 4, NHWC or NCHW
 *   params->size             height and width of the output, in pixels
 *   params->align_corners    whether to align the centers of the corner pixels
 *   outputs->output          the images with height and width replaced by size
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *resizearea_compute(const struct resizearea_inputs *inputs,
                                      const struct resizearea_params *params,
                                      struct resizearea_outputs *outputs)
{
    struct resizearea_plan plan;

    const char *problem = resizearea_prepare(&inputs->input, &outputs->output, params, &plan);
    if (problem == NULL) {
        resizearea_images(&plan, &inputs->input, &outputs->output);
    }
    return problem;
}

#endif
