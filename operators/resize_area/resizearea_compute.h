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

#include <stdlib.h>

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

/* Returns the spans of all output indices of one axis, to be freed; NULL if out of memory. */
static struct resizearea_span *resizearea_spans(size_t count, float scale)
{
    struct resizearea_span *spans = (struct resizearea_span *)calloc(count, sizeof *spans);

    for (size_t index = 0; spans != NULL && index < count; index++) {
        struct resizearea_span *span = &spans[index];
        const float begin = (float)index * scale;
        const float end = (float)(index + 1) * scale;

        span->begin = (size_t)begin; /* floor and ceil of non-negative numbers */
        span->end = (size_t)end;
        if ((float)span->end < end) {
            span->end++;
        }
        span->first = resizearea_covered(span->begin, begin, end, scale);
        span->last = resizearea_covered(span->end - 1, begin, end, scale);
    }
    return spans;
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

/* Resizes one row of `width` pixels to `output_width`; a pixel has `channels` floats. */
static void resizearea_row(const float *source, size_t width, size_t channels,
                           const struct resizearea_span *spans, size_t output_width, float *row)
{
    for (size_t i = 0; i < output_width * channels; i++) {
        row[i] = 0.0F;
    }
    for (size_t x = 0; x < output_width; x++) {
        for (size_t cell = spans[x].begin; cell < spans[x].end; cell++) {
            resizearea_add(row + x * channels, source + resizearea_clamp(cell, width) * channels,
                           resizearea_weight(&spans[x], cell), channels);
        }
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

/* Data shared by all images. Lengths are in pixels. */
struct resizearea_plan {
    size_t channels;
    size_t height, width;
    size_t output_height, output_width;
    struct resizearea_span *rows, *columns; /* source spans of the output's rows and columns */
    float mean; /* 1 / source area of an output pixel */
    float *row; /* buffer: one row of the input, resized to the output's width */
};

/* Resizes one image. */
static void resizearea_image(const struct resizearea_plan *plan, const float *source, float *target)
{
    const size_t pitch = plan->width * plan->channels;
    const size_t output_pitch = plan->output_width * plan->channels;
    size_t buffered_row = plan->height; /* none yet */

    for (size_t y = 0; y < plan->output_height; y++, target += output_pitch) {
        const struct resizearea_span *span = &plan->rows[y];

        for (size_t i = 0; i < output_pitch; i++) {
            target[i] = 0.0F;
        }
        for (size_t cell = span->begin; cell < span->end; cell++) {
            const size_t source_row = resizearea_clamp(cell, plan->height);

            /* Neighboring output rows often use the same source row. */
            if (source_row != buffered_row) {
                resizearea_row(source + source_row * pitch, plan->width, plan->channels,
                               plan->columns, plan->output_width, plan->row);
                buffered_row = source_row;
            }
            resizearea_add(target, plan->row, resizearea_weight(span, cell), output_pitch);
        }
        for (size_t i = 0; i < output_pitch; i++) {
            target[i] *= plan->mean;
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
    const struct opkit_tensor *input = &inputs->input;
    const struct opkit_tensor *output = &outputs->output;

    if (input->type != OPKIT_FLOAT32 || output->type != OPKIT_FLOAT32) {
        return "input and output must be float16 or float32";
    }
    if (input->rank != 4 || output->rank != 4) {
        return "input and output must have 4 dimensions";
    }
    if (params->size.count != 2) {
        return "size must have 2 items, height and width";
    }
    const size_t axis = resizearea_row_axis(input, output, &params->size);
    if (axis == 0) {
        return "output must have the shape of input, with height and width replaced by size";
    }

    /* Treat NCHW as NHWC with one channel, and each channel as an image. */
    const size_t images = axis == 1 ? input->shape[0] : input->shape[0] * input->shape[1];
    struct resizearea_plan plan;
    plan.channels = axis == 1 ? input->shape[3] : 1;
    plan.height = input->shape[axis];
    plan.width = input->shape[axis + 1];
    plan.output_height = output->shape[axis];
    plan.output_width = output->shape[axis + 1];

    const float y_scale = resizearea_scale(plan.height, plan.output_height, params->align_corners);
    const float x_scale = resizearea_scale(plan.width, plan.output_width, params->align_corners);
    plan.mean = 1.0F / (y_scale * x_scale);
    plan.rows = resizearea_spans(plan.output_height, y_scale);
    plan.columns = resizearea_spans(plan.output_width, x_scale);
    plan.row = (float *)calloc(plan.output_width * plan.channels, sizeof *plan.row);
    const bool has_memory = plan.rows != NULL && plan.columns != NULL && plan.row != NULL;

    for (size_t image = 0; has_memory && image < images; image++) {
        resizearea_image(&plan, input->float32 + image * (input->size / images),
                         output->float32 + image * (output->size / images));
    }
    free(plan.rows);
    free(plan.columns);
    free(plan.row);
    return has_memory ? NULL : "not enough memory for one row of the output";
}

#endif
