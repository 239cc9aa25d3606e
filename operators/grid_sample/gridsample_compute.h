/*
 * The math of GridSample: pixels of images, interpolated at the locations of a grid.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in gridsample_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16.
 *
 * The formula is in the ONNX specification of GridSample. A location of the grid is the same for
 * all channels. So the pixels around it and their weights are found once, for a block of locations
 * at a time, which stays in the cache; then each channel is a sum of products. Two neighbors in a
 * row of pixels are a pair, which is loaded at once.
 *
 * Images of 2 dimensions are those of 3 dimensions with a single slice.
 */
#ifndef GRIDSAMPLE_COMPUTE_H
#define GRIDSAMPLE_COMPUTE_H

#include <math.h>
#include <string.h>

#include "generated/gridsample.h"
#include "include/opkit/compute/processor.h"

/* ---- Params and shapes ----------------------------------------------------------------------- */

enum {
    GRIDSAMPLE_NEAREST = 1, /* the modes: neighbors of a location along an axis */
    GRIDSAMPLE_LINEAR = 2,
    GRIDSAMPLE_CUBIC = 4
};

enum gridsample_padding {
    GRIDSAMPLE_ZEROS,
    GRIDSAMPLE_BORDER,
    GRIDSAMPLE_REFLECTION
};

/* The params, and the size of the images. */
struct gridsample_method {
    int neighbors; /* along an axis: the mode */
    enum gridsample_padding padding;
    bool align_corners;
    size_t axes; /* 2 or 3 */
    size_t slices, rows, columns;
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

/* Checks types and shapes, and reads the size of the images. Returns NULL, or an error message. */
static const char *gridsample_check(const struct opkit_tensor *x, const struct opkit_tensor *grid,
                                    const struct opkit_tensor *y, struct gridsample_method *method)
{
    const size_t axes = x->rank - 2;

    if (x->type != OPKIT_FLOAT32 || grid->type != OPKIT_FLOAT32 || y->type != OPKIT_FLOAT32) {
        return "x, grid and y must be float16 or float32";
    }
    if ((x->rank != 4 && x->rank != 5) || grid->rank != x->rank || y->rank != x->rank) {
        return "x and grid must have 4 dimensions, or 5";
    }
    if (axes == 3 && method->neighbors == GRIDSAMPLE_CUBIC) {
        return "mode must be linear or nearest for x of 5 dimensions";
    }
    if (grid->shape[0] != x->shape[0] || grid->shape[1 + axes] != axes) {
        return "grid must be [N, D_out, H_out, W_out, 3], or [N, H_out, W_out, 2], with the N of x";
    }
    if (y->shape[0] != x->shape[0] || y->shape[1] != x->shape[1]) {
        return "y must be [N, C, ...], as x";
    }
    for (size_t i = 0; i < axes; i++) {
        if (y->shape[2 + i] != grid->shape[1 + i]) {
            return "y must have the size of grid";
        }
    }
    method->axes = axes;
    method->slices = axes == 3 ? x->shape[2] : 1;
    method->rows = x->shape[axes];
    method->columns = x->shape[axes + 1];
    const size_t pixels = method->slices * method->rows * method->columns;
    return pixels > 0 && pixels <= UINT32_MAX ? NULL
                                              : "the images of x must have 1 to 2^32 - 1 pixels";
}

/* ---- The neighbors of a location ------------------------------------------------------------- */

/* The neighbors along one axis: each is beside the one before it, or the same. */
struct gridsample_neighbors {
    size_t count;
    size_t index[GRIDSAMPLE_CUBIC];
    double weight[GRIDSAMPLE_CUBIC];
};

/* Neighbors along the columns in pairs, which are loaded at once. */
struct gridsample_pairs {
    size_t count;
    size_t left[GRIDSAMPLE_CUBIC / 2];
    double weights[GRIDSAMPLE_CUBIC / 2][2];
};

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

/* Writes the weights of neighbors. `after`: the location, from the neighbor at its left. */
static void gridsample_weights(double after, const struct gridsample_method *method,
                               double *weights)
{
    const double before = 1.0 - after;
    const double outer = -0.75; /* the factor of the cubic kernel's outer parts */

    if (method->neighbors == GRIDSAMPLE_NEAREST) {
        weights[0] = isnan(after) ? after : 1.0;
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

/* Returns the index of the pixel in the place of one outside of the image. */
static int64_t gridsample_pad(int64_t index, int64_t length, const struct gridsample_method *method)
{
    const int64_t period = gridsample_period(length, method);

    if (method->padding != GRIDSAMPLE_REFLECTION) {
        return index < 0 ? 0 : length - 1;
    }
    if (period == 0) {
        return 0;
    }
    const int64_t rest = index % period; /* from -period to period */
    const int64_t first = rest < 0 ? rest + period : rest;
    return first < length ? first : period - first - (method->align_corners ? 0 : 1);
}

/* Finds the neighbors of a normalized position along one axis. NaN gives weights of NaN. */
static void gridsample_find(float position, size_t size, const struct gridsample_method *method,
                            struct gridsample_neighbors *found)
{
    const int64_t length = (int64_t)size;
    const double location =
        gridsample_approach(gridsample_locate(position, length, method), length, method);
    int64_t left = 0;

    if (!isnan(location)) {
        left = (int64_t)location;
        left -= (double)left > location; /* the floor: conversions round toward zero */
        if (method->neighbors == GRIDSAMPLE_NEAREST) {
            left = (int64_t)rint(location); /* ties to even, as the specification demands */
        }
    }
    found->count = (size_t)method->neighbors;
    gridsample_weights(location - (double)left, method, found->weight);
    left -= method->neighbors == GRIDSAMPLE_CUBIC;
    for (size_t i = 0; i < found->count; i++) {
        const int64_t index = left + (int64_t)i;

        found->index[i] = (size_t)index;
        if (index < 0 || index >= length) {
            found->index[i] = (size_t)gridsample_pad(index, length, method);
            if (method->padding == GRIDSAMPLE_ZEROS) {
                found->weight[i] = 0.0;
            }
        }
    }
}

/* Makes pairs of neighbors. `last` is the last index of a left pixel. */
static void gridsample_make_pairs(const struct gridsample_neighbors *found, size_t last,
                                  struct gridsample_pairs *pairs)
{
    pairs->count = found->count / 2;
    for (size_t i = 0; i < pairs->count; i++) {
        const size_t first = found->index[2 * i], second = found->index[2 * i + 1];
        const size_t lower = first < second ? first : second;
        const size_t left = lower < last ? lower : last;

        pairs->left[i] = left;
        pairs->weights[i][0] = pairs->weights[i][1] = 0.0;
        pairs->weights[i][first - left] = found->weight[2 * i];
        pairs->weights[i][second - left] += found->weight[2 * i + 1];
    }
    if (found->count == GRIDSAMPLE_NEAREST) {
        pairs->count = 1;
        pairs->left[0] = found->index[0];
        pairs->weights[0][0] = found->weight[0];
        pairs->weights[0][1] = 0.0;
    }
}

/* ---- Blocks of locations --------------------------------------------------------------------- */

enum {
    GRIDSAMPLE_BLOCK = 4096, /* pairs */
    GRIDSAMPLE_STEP = 4 /* locations side by side */
};

/*
 * Pairs of neighbors in a row of pixels: the first pair of each location, the second one, ... In
 * the nearest mode a pair is one pixel.
 */
struct gridsample_block {
    size_t locations;
    size_t pairs; /* of each location */
    size_t step; /* from a location's pair to its next one: a multiple of GRIDSAMPLE_STEP */
    size_t right; /* the distance of the pixels of a pair: 1, or 0 in images of one column */
    uint32_t offsets[GRIDSAMPLE_BLOCK]; /* of the left pixel in a channel */
    float weights[GRIDSAMPLE_BLOCK][2];
};

/* Prepares blocks for a method. */
static void gridsample_start(struct gridsample_block *block, const struct gridsample_method *method)
{
    const size_t neighbors = (size_t)method->neighbors;
    const size_t rows = method->axes == 3 ? neighbors * neighbors : neighbors;

    block->pairs = method->neighbors == GRIDSAMPLE_NEAREST ? 1 : rows * neighbors / 2;
    block->step = GRIDSAMPLE_BLOCK / block->pairs;
    block->right = method->columns > 1 ? 1 : 0;
}

/* Sets the count of locations, and clears those after them in the last step. */
static void gridsample_resize(struct gridsample_block *block, size_t locations)
{
    block->locations = locations;
    for (size_t i = locations; i % GRIDSAMPLE_STEP != 0; i++) {
        for (size_t pair = i; pair < block->pairs * block->step; pair += block->step) {
            block->offsets[pair] = 0;
            block->weights[pair][0] = block->weights[pair][1] = 0.0F;
        }
    }
}

/* Finds the pairs around one location of a block. `position` is of columns, rows and slices. */
static void gridsample_find_pairs(struct gridsample_block *block, size_t location,
                                  const float *position, const struct gridsample_method *method)
{
    struct gridsample_neighbors columns, rows, slices = {1, {0}, {1.0}};
    struct gridsample_pairs pairs;
    size_t pair = location;

    gridsample_find(position[0], method->columns, method, &columns);
    gridsample_find(position[1], method->rows, method, &rows);
    if (method->axes == 3) {
        gridsample_find(position[2], method->slices, method, &slices);
    }
    gridsample_make_pairs(&columns, method->columns > 1 ? method->columns - 2 : 0, &pairs);
    for (size_t slice = 0; slice < slices.count; slice++) {
        for (size_t row = 0; row < rows.count; row++) {
            const double weight = slices.weight[slice] * rows.weight[row];
            const size_t first =
                (slices.index[slice] * method->rows + rows.index[row]) * method->columns;

            for (size_t i = 0; i < pairs.count; i++, pair += block->step) {
                block->offsets[pair] = (uint32_t)(first + pairs.left[i]);
                block->weights[pair][0] = (float)(weight * pairs.weights[i][0]);
                block->weights[pair][1] = (float)(weight * pairs.weights[i][1]);
            }
        }
    }
}

/* The same, quickly, for bilinear pairs inside of an image, as most. Returns whether these are. */
static bool gridsample_find_inside(struct gridsample_block *block, size_t location,
                                   const float *position, const struct gridsample_method *method)
{
    const size_t next = location + block->step;
    const float x = gridsample_locate(position[0], (int64_t)method->columns, method);
    const float y = gridsample_locate(position[1], (int64_t)method->rows, method);

    if (method->neighbors != GRIDSAMPLE_LINEAR || method->axes != 2 ||
        !(x >= 0.0F && x < (float)(method->columns - 1)) ||
        !(y >= 0.0F && y < (float)(method->rows - 1))) {
        return false;
    }
    const int64_t column = (int64_t)x, row = (int64_t)y;
    const double right = (double)x - (double)column, left = 1.0 - right;
    const double lower = (double)y - (double)row, upper = 1.0 - lower;
    block->offsets[location] = (uint32_t)((size_t)row * method->columns + (size_t)column);
    block->offsets[next] = block->offsets[location] + (uint32_t)method->columns;
    block->weights[location][0] = (float)(upper * left);
    block->weights[location][1] = (float)(upper * right);
    block->weights[next][0] = (float)(lower * left);
    block->weights[next][1] = (float)(lower * right);
    return true;
}

/* ---- Channels -------------------------------------------------------------------------------- */

/* Four floats, and the results of their comparisons. */
typedef float gridsample_float4 __attribute__((vector_size(16)));
typedef int32_t gridsample_int4 __attribute__((vector_size(16)));

/* Returns the products of the pixels of two pairs; pixels of weight 0 count as 0, even infinity. */
OPKIT_INLINE gridsample_float4 gridsample_weigh(const struct gridsample_block *block, size_t pair,
                                                const float *x, size_t right)
{
    const float *a = x + block->offsets[pair], *b = x + block->offsets[pair + 1];
    const gridsample_float4 pixels = {a[0], a[right], b[0], b[right]};
    gridsample_float4 weights;

    memcpy(&weights, block->weights[pair], sizeof weights);
    return (gridsample_float4)((gridsample_int4)(pixels * weights) & (weights != 0.0F));
}

/* Interpolates GRIDSAMPLE_STEP locations of one channel. */
OPKIT_INLINE gridsample_float4 gridsample_sum(const struct gridsample_block *block, size_t i,
                                              size_t pairs, const float *x, size_t right)
{
    gridsample_float4 a = {0.0F, 0.0F, 0.0F, 0.0F}, b = a;

    for (size_t pair = i; pair < pairs * block->step; pair += block->step) {
        a += gridsample_weigh(block, pair, x, right);
        b += gridsample_weigh(block, pair + 2, x, right);
    }
    const gridsample_float4 lefts = {a[0], a[2], b[0], b[2]};
    const gridsample_float4 rights = {a[1], a[3], b[1], b[3]};
    return lefts + rights;
}

/*
 * Computes a block of two channels. Constant `pairs` and `right` let compilers unroll the loop over
 * pairs, load the pixels of a pair at once, and offsets and weights once for both channels.
 */
OPKIT_INLINE void gridsample_interpolate(const struct gridsample_block *block, size_t pairs,
                                         size_t right, const float *x, size_t x_channel, float *y,
                                         size_t y_channel)
{
    for (size_t i = 0; i < block->locations; i += GRIDSAMPLE_STEP) {
        const size_t rest = block->locations - i;
        const gridsample_float4 first = gridsample_sum(block, i, pairs, x, right);
        const gridsample_float4 second = gridsample_sum(block, i, pairs, x + x_channel, right);

        if (rest >= GRIDSAMPLE_STEP) {
            memcpy(y + i, &first, sizeof first);
            memcpy(y + y_channel + i, &second, sizeof second);
        } else {
            memcpy(y + i, &first, rest * sizeof *y);
            memcpy(y + y_channel + i, &second, rest * sizeof *y);
        }
    }
}

/* The same in the nearest mode, where weights are 1, 0 outside, or NaN. */
static void gridsample_copy(const struct gridsample_block *block, const float *x, size_t x_channel,
                            float *y, size_t y_channel)
{
    for (size_t i = 0; i < block->locations; i++) {
        const float weight = block->weights[i][0];
        const float *pixel = x + block->offsets[i];
        const float first = pixel[0], second = pixel[x_channel];

        y[i] = weight == 1.0F ? first : weight;
        y[y_channel + i] = weight == 1.0F ? second : weight;
    }
}

/* Computes a block of two channels. */
static void gridsample_channels(const struct gridsample_block *block, const float *x,
                                size_t x_channel, float *y, size_t y_channel)
{
    if (block->pairs == 1) {
        gridsample_copy(block, x, x_channel, y, y_channel);
    } else if (block->right == 0) {
        gridsample_interpolate(block, block->pairs, 0, x, x_channel, y, y_channel);
    } else if (block->pairs == 2) { /* linear, 2 dimensions */
        gridsample_interpolate(block, 2, 1, x, x_channel, y, y_channel);
    } else if (block->pairs == 4) { /* linear, 3 dimensions */
        gridsample_interpolate(block, 4, 1, x, x_channel, y, y_channel);
    } else { /* cubic, 2 dimensions */
        gridsample_interpolate(block, 8, 1, x, x_channel, y, y_channel);
    }
}

/*
 * Computes the outputs:
 *
 *   inputs->x                [N, C, H, W], or [N, C, D, H, W]
 *   inputs->grid             [N, H_out, W_out, 2]: column and row; -1 to 1 is from edge to edge; or
 *                            [N, D_out, H_out, W_out, 3]: column, row and slice
 *   params->align_corners    1: -1 and 1 are the centers of the corner pixels; 0: their corners
 *   params->mode             "linear" or "bilinear", "cubic" or "bicubic", "nearest"
 *   params->padding_mode     "zeros", "border", "reflection"
 *   outputs->y               [N, C, H_out, W_out], or [N, C, D_out, H_out, W_out]
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
        problem = gridsample_check(x, &inputs->grid, y, &method);
    }
    if (problem != NULL) {
        return problem;
    }

    const size_t channels = x->shape[1];
    const size_t pixels = method.slices * method.rows * method.columns;
    const size_t locations = inputs->grid.size / inputs->grid.shape[0] / method.axes;
    gridsample_start(&block, &method);
    for (size_t image = 0; image < x->shape[0]; image++) {
        const float *grid = inputs->grid.float32 + image * locations * method.axes;

        for (size_t start = 0; start < locations; start += block.step) {
            const size_t rest = locations - start;

            gridsample_resize(&block, rest < block.step ? rest : block.step);
            for (size_t i = 0; i < block.locations; i++) {
                const float *position = grid + (start + i) * method.axes;

                if (!gridsample_find_inside(&block, i, position, &method)) {
                    gridsample_find_pairs(&block, i, position, &method);
                }
            }
            for (size_t channel = 0; channel < channels; channel += 2) {
                const size_t map = image * channels + channel;
                const size_t other = channel + 1 < channels ? 1 : 0; /* or the same once more */

                gridsample_channels(&block, x->float32 + map * pixels, other * pixels,
                                    y->float32 + map * locations + start, other * locations);
            }
        }
    }
    return NULL;
}

#endif
