/*
 * The math of GridSample: pixels of images, interpolated at the locations of a grid.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in gridsample_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16.
 *
 * The formula is in the ONNX specification of GridSample. A location of the grid is the same for
 * all channels. So the pixels around it and their weights are computed once, for a block of
 * locations at a time, which stays in the cache; then each channel is a sum of products.
 */
#ifndef GRIDSAMPLE_COMPUTE_H
#define GRIDSAMPLE_COMPUTE_H

#include <math.h>
#include <string.h>

#include "generated/gridsample.h"

enum {
    GRIDSAMPLE_BLOCK = 4096, /* pixels */
    GRIDSAMPLE_NEAREST = 1, /* the modes: neighbors of a location along an axis */
    GRIDSAMPLE_LINEAR = 2,
    GRIDSAMPLE_CUBIC = 4,
    GRIDSAMPLE_OUTSIDE = -1 /* instead of an index: the pixel is 0 */
};

enum gridsample_padding {
    GRIDSAMPLE_ZEROS,
    GRIDSAMPLE_BORDER,
    GRIDSAMPLE_REFLECTION
};

/* The params. */
struct gridsample_method {
    int neighbors; /* along an axis: the mode */
    enum gridsample_padding padding;
    bool align_corners;
};

/* The neighbors of a location along one axis: pixels of the image, at most GRIDSAMPLE_CUBIC. */
struct gridsample_neighbors {
    size_t count;
    size_t index[GRIDSAMPLE_CUBIC];
    double weight[GRIDSAMPLE_CUBIC];
};

/* The pixels around each location of a block, one after another. */
struct gridsample_block {
    size_t locations;
    uint8_t counts[GRIDSAMPLE_BLOCK]; /* pixels of each location */
    size_t offsets[GRIDSAMPLE_BLOCK]; /* of pixels in a channel */
    float weights[GRIDSAMPLE_BLOCK];
};

/* Reads the params. Returns NULL, or an error message. */
static const char *gridsample_read(const struct gridsample_params *params,
                                   struct gridsample_method *method)
{
    if (strcmp(params->mode, "linear") == 0 || strcmp(params->mode, "bilinear") == 0) {
        method->neighbors = GRIDSAMPLE_LINEAR;
    } else if (strcmp(params->mode, "cubic") == 0 || strcmp(params->mode, "bicubic") == 0) {
        method->neighbors = GRIDSAMPLE_CUBIC;
    } else if (strcmp(params->mode, "nearest") == 0) {
        method->neighbors = GRIDSAMPLE_NEAREST;
    } else {
        return "mode must be linear, cubic or nearest";
    }
    if (strcmp(params->padding_mode, "zeros") == 0) {
        method->padding = GRIDSAMPLE_ZEROS;
    } else if (strcmp(params->padding_mode, "border") == 0) {
        method->padding = GRIDSAMPLE_BORDER;
    } else if (strcmp(params->padding_mode, "reflection") == 0) {
        method->padding = GRIDSAMPLE_REFLECTION;
    } else {
        return "padding_mode must be zeros, border or reflection";
    }
    if (params->align_corners != 0 && params->align_corners != 1) {
        return "align_corners must be 0 or 1";
    }
    method->align_corners = params->align_corners == 1;
    return NULL;
}

/* Checks types and shapes. Returns NULL, or an error message. */
static const char *gridsample_check(const struct opkit_tensor *x, const struct opkit_tensor *grid,
                                    const struct opkit_tensor *y)
{
    if (x->type != OPKIT_FLOAT32 || grid->type != OPKIT_FLOAT32 || y->type != OPKIT_FLOAT32) {
        return "x, grid and y must be float16 or float32";
    }
    if (x->rank != 4 || grid->rank != 4 || y->rank != 4) {
        return "x, grid and y must have 4 dimensions; 3-D data is not supported";
    }
    if (grid->shape[0] != x->shape[0] || grid->shape[3] != 2) {
        return "grid must be [N, H_out, W_out, 2], with the N of x";
    }
    if (y->shape[0] != x->shape[0] || y->shape[1] != x->shape[1] || y->shape[2] != grid->shape[1] ||
        y->shape[3] != grid->shape[2]) {
        return "y must be [N, C, H_out, W_out]";
    }
    return x->shape[2] > 0 && x->shape[3] > 0 ? NULL : "the images of x must have pixels";
}

/* Returns the number of pixels after which reflections repeat, along one axis. */
static int64_t gridsample_period(int64_t length, const struct gridsample_method *method)
{
    return method->align_corners ? 2 * (length - 1) : 2 * length;
}

/*
 * Returns the location, in pixels, of a normalized position. In float, in the order of PyTorch and
 * onnxruntime: in the nearest mode, a rounding error in another order would choose another pixel.
 * Each statement is one operation: in one, a compiler may use a fused multiply-add.
 */
static float gridsample_locate(float position, int64_t length,
                               const struct gridsample_method *method)
{
    const float offset = position + 1.0F;

    if (method->align_corners) {
        const float half = offset / 2.0F;
        return half * (float)(length - 1);
    }
    const float pixels = offset * (float)length;
    const float doubled = pixels - 1.0F;
    return doubled / 2.0F;
}

/*
 * Moves a location that is far outside of the image nearer to it, where it has the same result and
 * its index fits an integer. NaN stays NaN; an infinite location becomes NaN if it is reflected.
 */
static double gridsample_approach(double location, int64_t length,
                                  const struct gridsample_method *method)
{
    if (method->padding == GRIDSAMPLE_REFLECTION) {
        const double period = (double)gridsample_period(length, method);
        return fabs(location) < period || period == 0.0 ? location : fmod(location, period);
    }
    /* Beyond these limits, all neighbors are outside of the image. */
    const double low = -3.0;
    const double high = (double)length + 2.0;
    if (location < low) {
        return low;
    }
    return location > high ? high : location;
}

/* Writes the weights of the neighbors. `after`: the location, from the neighbor at its left. */
static void gridsample_weigh(double after, const struct gridsample_method *method, double *weights)
{
    const double before = 1.0 - after;
    const double outer = -0.75; /* the factor of the cubic kernel's outer parts */

    if (method->neighbors == GRIDSAMPLE_NEAREST) {
        weights[0] = 1.0;
    } else if (method->neighbors == GRIDSAMPLE_LINEAR) {
        weights[0] = before;
        weights[1] = after;
    } else {
        weights[0] = outer * after * before * before;
        weights[1] = ((outer + 2.0) * after - (outer + 3.0)) * after * after + 1.0;
        weights[2] = ((outer + 2.0) * before - (outer + 3.0)) * before * before + 1.0;
        weights[3] = outer * before * after * after;
    }
}

/* Returns the index of the pixel at an index that may be outside of the image. */
static int64_t gridsample_pad(int64_t index, int64_t length, const struct gridsample_method *method)
{
    if (index >= 0 && index < length) {
        return index;
    }
    if (method->padding == GRIDSAMPLE_ZEROS) {
        return GRIDSAMPLE_OUTSIDE;
    }
    if (method->padding == GRIDSAMPLE_BORDER) {
        return index < 0 ? 0 : length - 1;
    }
    const int64_t period = gridsample_period(length, method);
    if (period == 0) {
        return 0;
    }
    const int64_t rest = index % period; /* from -period to period */
    const int64_t first = rest < 0 ? rest + period : rest;
    return first < length ? first : period - first - (method->align_corners ? 0 : 1);
}

/* Finds the neighbors of a normalized position along one axis. */
static void gridsample_find(float position, size_t size, const struct gridsample_method *method,
                            struct gridsample_neighbors *found)
{
    const int64_t length = (int64_t)size;
    const double location =
        gridsample_approach(gridsample_locate(position, length, method), length, method);

    found->count = 0;
    if (isnan(location)) { /* any pixel times NaN is NaN */
        found->count = 1;
        found->index[0] = 0;
        found->weight[0] = location;
        return;
    }
    /* rint rounds ties to even, as the specification demands. */
    const bool is_nearest = method->neighbors == GRIDSAMPLE_NEAREST;
    const double left = is_nearest ? rint(location) : floor(location);
    const int64_t first = (int64_t)left - (method->neighbors == GRIDSAMPLE_CUBIC ? 1 : 0);
    double weights[GRIDSAMPLE_CUBIC];

    gridsample_weigh(location - left, method, weights);
    for (int i = 0; i < method->neighbors; i++) {
        const int64_t index = gridsample_pad(first + i, length, method);

        if (index != GRIDSAMPLE_OUTSIDE) {
            found->index[found->count] = (size_t)index;
            found->weight[found->count++] = weights[i];
        }
    }
}

/* Finds the pixels around a block's locations. `grid` has a column and a row for each of them. */
static void gridsample_prepare(struct gridsample_block *block, const float *grid, size_t locations,
                               const struct opkit_tensor *x, const struct gridsample_method *method)
{
    size_t *offset = block->offsets;
    float *weight = block->weights;
    struct gridsample_neighbors rows, columns;

    block->locations = locations;
    for (size_t i = 0; i < locations; i++) {
        gridsample_find(grid[2 * i], x->shape[3], method, &columns);
        gridsample_find(grid[2 * i + 1], x->shape[2], method, &rows);
        block->counts[i] = (uint8_t)(rows.count * columns.count);
        for (size_t row = 0; row < rows.count; row++) {
            for (size_t column = 0; column < columns.count; column++) {
                *offset++ = rows.index[row] * x->shape[3] + columns.index[column];
                *weight++ = (float)(rows.weight[row] * columns.weight[column]);
            }
        }
    }
}

/* Returns the weighted sum of pixels of one channel. */
static inline float gridsample_sum(const float *x, const size_t *offsets, const float *weights,
                                   size_t count)
{
    float sum = count > 0 ? x[offsets[0]] * weights[0] : 0.0F;

    for (size_t i = 1; i < count; i++) {
        sum += x[offsets[i]] * weights[i];
    }
    return sum;
}

/* The same for four pixels, without a loop. */
static inline float gridsample_sum_4(const float *x, const size_t *offsets, const float *weights)
{
    return x[offsets[0]] * weights[0] + x[offsets[1]] * weights[1] + x[offsets[2]] * weights[2] +
           x[offsets[3]] * weights[3];
}

/* Computes a block of one channel. */
static void gridsample_channel(const struct gridsample_block *block, const float *x, float *y)
{
    const size_t *offsets = block->offsets;
    const float *weights = block->weights;

    for (size_t i = 0; i < block->locations; i++) {
        const size_t count = block->counts[i];

        y[i] = gridsample_sum(x, offsets, weights, count);
        offsets += count;
        weights += count;
    }
}

/* Computes a block of four channels: offsets and weights are loaded once for all of them. */
static void gridsample_channels(const struct gridsample_block *block, const float *x,
                                size_t x_channel, float *y, size_t y_channel)
{
    const size_t *offsets = block->offsets;
    const float *weights = block->weights;
    const float *x1 = x + x_channel, *x2 = x1 + x_channel, *x3 = x2 + x_channel;
    float *y1 = y + y_channel, *y2 = y1 + y_channel, *y3 = y2 + y_channel;

    for (size_t i = 0; i < block->locations; i++) {
        const size_t count = block->counts[i];
        float sums[4];

        if (count == 4) {
            sums[0] = gridsample_sum_4(x, offsets, weights);
            sums[1] = gridsample_sum_4(x1, offsets, weights);
            sums[2] = gridsample_sum_4(x2, offsets, weights);
            sums[3] = gridsample_sum_4(x3, offsets, weights);
        } else {
            sums[0] = gridsample_sum(x, offsets, weights, count);
            sums[1] = gridsample_sum(x1, offsets, weights, count);
            sums[2] = gridsample_sum(x2, offsets, weights, count);
            sums[3] = gridsample_sum(x3, offsets, weights, count);
        }
        y[i] = sums[0];
        y1[i] = sums[1];
        y2[i] = sums[2];
        y3[i] = sums[3];
        offsets += count;
        weights += count;
    }
}

/*
 * Computes the outputs:
 *
 *   inputs->x                [N, C, H, W]
 *   inputs->grid             [N, H_out, W_out, 2]: column and row; -1 to 1 is from edge to edge
 *   params->align_corners    1: -1 and 1 are the centers of the corner pixels; 0: their corners
 *   params->mode             "linear" or "bilinear", "cubic" or "bicubic", "nearest"
 *   params->padding_mode     "zeros", "border", "reflection"
 *   outputs->y               [N, C, H_out, W_out]
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *gridsample_compute(const struct gridsample_inputs *inputs,
                                      const struct gridsample_params *params,
                                      struct gridsample_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->x;
    const struct opkit_tensor *y = &outputs->y;
    struct gridsample_method method;
    struct gridsample_block block;

    const char *problem = gridsample_read(params, &method);
    if (problem == NULL) {
        problem = gridsample_check(x, &inputs->grid, y);
    }
    if (problem != NULL) {
        return problem;
    }

    const size_t channels = x->shape[1];
    const size_t x_channel = x->shape[2] * x->shape[3];
    const size_t y_channel = y->shape[2] * y->shape[3];
    const size_t step = GRIDSAMPLE_BLOCK / (size_t)(method.neighbors * method.neighbors);
    for (size_t image = 0; image < x->shape[0]; image++) {
        const float *grid = inputs->grid.float32 + image * y_channel * 2;
        const float *source = x->float32 + image * channels * x_channel;
        float *target = y->float32 + image * channels * y_channel;

        for (size_t start = 0; start < y_channel; start += step) {
            const size_t rest = y_channel - start;
            size_t channel = 0;

            gridsample_prepare(&block, grid + start * 2, rest < step ? rest : step, x, &method);
            for (; channel + 4 <= channels; channel += 4) {
                gridsample_channels(&block, source + channel * x_channel, x_channel,
                                    target + channel * y_channel + start, y_channel);
            }
            for (; channel < channels; channel++) {
                gridsample_channel(&block, source + channel * x_channel,
                                   target + channel * y_channel + start);
            }
        }
    }
    return NULL;
}

#endif
