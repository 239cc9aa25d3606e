/*
 * The math of DeformConv: a convolution whose kernel's elements move by offsets that are inputs.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in deformconv_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16.
 *
 * The formula is in the ONNX specification of DeformConv. The output is computed for a block of its
 * locations at a time. The pixels around each sample and their weights are the same for all
 * channels of an offset group, so they are found once. Then the samples of some channels are put
 * into a matrix, which stays in the cache, and multiplied by the kernels.
 *
 * Sums are floats; those of each matrix are added to the output.
 */
#ifndef DEFORMCONV_COMPUTE_H
#define DEFORMCONV_COMPUTE_H

#include <math.h>
#include <string.h>

#include "generated/deformconv.h"
#include "opkit/compute/processor.h"

enum {
    DEFORMCONV_SAMPLES = 2048, /* of a block: its locations times the kernel's elements */
    DEFORMCONV_LOCATIONS = 64, /* of a block, at most */
    DEFORMCONV_MATRIX = 16384, /* floats */
    DEFORMCONV_ROWS = 6, /* of a tile of the output: kernels */
    DEFORMCONV_LANES = 8, /* columns of a vector, of which a tile has 1 or 2: locations */
    DEFORMCONV_MAX_ELEMENTS = DEFORMCONV_SAMPLES / DEFORMCONV_LANES /* of a kernel */
};

/* A vector of sums: two registers where the processor's have 4 floats. */
typedef float deformconv_vector __attribute__((vector_size(DEFORMCONV_LANES * sizeof(float))));

/* One dimension of the images. */
struct deformconv_dimension {
    size_t image;
    size_t kernel;
    size_t output;
    int64_t stride;
    int64_t dilation;
    int64_t pad; /* before the image */
};

struct deformconv_layout {
    struct deformconv_dimension rows, columns;
    size_t elements; /* of a kernel, in one channel */
    size_t pixels; /* of a channel of x */
    size_t locations; /* of a channel of y */
    size_t channels, kernels; /* of x and y, in all groups */
    size_t group_channels, group_kernels; /* of each group */
    size_t offset_channels; /* of each offset group */
    size_t block; /* locations: a multiple of DEFORMCONV_LANES */
};

/* A sample's two neighbors along one dimension: of those outside, the weight is 0. */
struct deformconv_neighbors {
    size_t first; /* the other one is next to it, if the image has more than one */
    float weights[2];
};

/* For each element of the kernel: the samples of the block's locations. */
struct deformconv_samples {
    uint32_t upper[DEFORMCONV_SAMPLES]; /* the left one of the two upper neighbors */
    uint32_t lower[DEFORMCONV_SAMPLES];
    float upper_weights[DEFORMCONV_SAMPLES][2];
    float lower_weights[DEFORMCONV_SAMPLES][2];
};

static inline size_t deformconv_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns an item of a list, or its only one. */
static inline int64_t deformconv_item(const struct opkit_int32_array *list, size_t i)
{
    return list->items[list->count > 1 ? i : 0];
}

/* Reads the params of one dimension. Returns NULL, or an error message. */
static const char *deformconv_read_dimension(const struct deformconv_params *params,
                                             const struct deformconv_inputs *inputs, size_t i,
                                             struct deformconv_dimension *found)
{
    const int64_t kernel_shape = deformconv_item(&params->kernel_shape, i);
    const int64_t pad_after = deformconv_item(&params->pads, 2 + i);

    found->image = inputs->x.shape[2 + i];
    found->kernel = inputs->w.shape[2 + i];
    found->stride = deformconv_item(&params->strides, i);
    found->dilation = deformconv_item(&params->dilations, i);
    found->pad = deformconv_item(&params->pads, i);
    if (kernel_shape != 0 && kernel_shape != (int64_t)found->kernel) {
        return "kernel_shape must be that of w";
    }
    if (found->stride < 1 || found->dilation < 1 || found->pad < 0 || pad_after < 0) {
        return "strides and dilations must be above 0, and pads not negative";
    }
    const int64_t extent = found->dilation * ((int64_t)found->kernel - 1) + 1;
    const int64_t room = (int64_t)found->image + found->pad + pad_after - extent;
    if (room < 0) {
        return "a kernel must fit into the image with its pads";
    }
    found->output = (size_t)(room / found->stride) + 1;
    return NULL;
}

/* Reads the groups. Returns NULL, or an error message. */
static const char *deformconv_read_groups(const struct deformconv_params *params,
                                          const struct deformconv_inputs *inputs,
                                          struct deformconv_layout *layout)
{
    const size_t channels = inputs->x.shape[1];
    const size_t kernels = inputs->w.shape[0];

    if (params->group < 1 || params->offset_group < 1) {
        return "group and offset_group must be above 0";
    }
    const size_t group = (size_t)params->group;
    const size_t offset_group = (size_t)params->offset_group;
    if (channels % group != 0 || kernels % group != 0 || channels % offset_group != 0) {
        return "the channels must be a multiple of group and offset_group, and the M of w of group";
    }
    layout->channels = channels;
    layout->kernels = kernels;
    layout->group_channels = channels / group;
    layout->group_kernels = kernels / group;
    layout->offset_channels = channels / offset_group;
    return layout->group_channels == inputs->w.shape[1]
               ? NULL
               : "w must be [M, C / group, kernel height, kernel width]";
}

/* Reads params and shapes of inputs. Returns NULL, or an error message. */
static const char *deformconv_read(const struct deformconv_params *params,
                                   const struct deformconv_inputs *inputs,
                                   struct deformconv_layout *layout)
{
    if (inputs->x.rank != 4 || inputs->w.rank != 4) {
        return "x and w must have 4 dimensions: images of 2 dimensions";
    }
    if ((params->kernel_shape.count != 1 && params->kernel_shape.count != 2) ||
        (params->dilations.count != 1 && params->dilations.count != 2) ||
        (params->strides.count != 1 && params->strides.count != 2) ||
        (params->pads.count != 1 && params->pads.count != 4)) {
        return "kernel_shape, dilations and strides must have 2 items, and pads 4";
    }
    const char *problem = deformconv_read_dimension(params, inputs, 0, &layout->rows);
    if (problem == NULL) {
        problem = deformconv_read_dimension(params, inputs, 1, &layout->columns);
    }
    if (problem == NULL) {
        problem = deformconv_read_groups(params, inputs, layout);
    }
    if (problem != NULL) {
        return problem;
    }
    layout->elements = layout->rows.kernel * layout->columns.kernel;
    layout->pixels = layout->rows.image * layout->columns.image;
    layout->locations = layout->rows.output * layout->columns.output;
    if (layout->elements < 1 || layout->elements > DEFORMCONV_MAX_ELEMENTS) {
        return "kernels must have 1 to 256 elements";
    }
    if (layout->pixels < 1 || layout->pixels > UINT32_MAX) {
        return "the images of x must have 1 to 2^32 - 1 pixels";
    }
    const size_t room = deformconv_min(DEFORMCONV_SAMPLES / layout->elements, DEFORMCONV_LOCATIONS);
    const size_t needed = layout->locations + DEFORMCONV_LANES - 1; /* rounded up, below */
    layout->block = deformconv_min(room, needed) / DEFORMCONV_LANES * DEFORMCONV_LANES;
    return NULL;
}

/* Whether a tensor of 4 dimensions has the images and locations of the output. */
static bool deformconv_is_map(const struct opkit_tensor *tensor, size_t images, size_t channels,
                              const struct deformconv_layout *layout)
{
    return tensor->type == OPKIT_FLOAT32 && tensor->rank == 4 && tensor->shape[0] == images &&
           tensor->shape[1] == channels && tensor->shape[2] == layout->rows.output &&
           tensor->shape[3] == layout->columns.output;
}

/* Checks types, and the shapes of other tensors than x and w. Returns NULL, or an error message. */
static const char *deformconv_check(const struct deformconv_inputs *inputs,
                                    const struct deformconv_params *params,
                                    const struct deformconv_outputs *outputs,
                                    const struct deformconv_layout *layout)
{
    const size_t images = inputs->x.shape[0];
    const size_t kernels = inputs->w.shape[0];
    const size_t samples = (size_t)params->offset_group * layout->elements;

    if (!deformconv_is_map(&inputs->offset, images, 2 * samples, layout)) {
        return "offset must be [N, offset_group * kernel elements * 2, H_out, W_out]";
    }
    if (!deformconv_is_map(&inputs->mask, images, samples, layout)) {
        return "mask must be [N, offset_group * kernel elements, H_out, W_out]";
    }
    if (inputs->b.size != kernels) {
        return "b must be [M]";
    }
    return deformconv_is_map(&outputs->y, images, kernels, layout)
               ? NULL
               : "y must be [N, M, H_out, W_out]";
}

/*
 * Finds the neighbors of a sample along one dimension. A neighbor outside of the image is replaced
 * by one inside, with the weight 0, so that every sample has two. NaN gives weights of NaN.
 */
static inline void deformconv_find(float location, size_t image, struct deformconv_neighbors *found)
{
    const float length = (float)image;
    const float clipped = location < -1.0F ? -1.0F : location > length ? length : location;
    const float left = floorf(clipped);
    const float after = clipped - left;
    const int64_t last = image > 1 ? (int64_t)image - 2 : 0; /* of the first neighbors */
    const int64_t index = clipped == clipped ? (int64_t)left : 0; /* -1 to the length */
    const int64_t first = index < 0 ? 0 : index > last ? last : index;

    found->first = (size_t)first;
    found->weights[0] = found->weights[1] = 0.0F;
    if (index >= 0 && index < (int64_t)image) {
        found->weights[index - first] = 1.0F - after;
    }
    if (index + 1 < (int64_t)image) {
        found->weights[index + 1 - first] = after;
    }
}

/* Finds the samples of a block for one element of the kernel, from the index `first` on. */
static void deformconv_find_element(const struct deformconv_layout *layout, const float *offset,
                                    const float *mask, size_t element, size_t start, size_t count,
                                    struct deformconv_samples *samples)
{
    const struct deformconv_dimension *rows = &layout->rows, *columns = &layout->columns;
    const int64_t row_shift = (int64_t)(element / columns->kernel) * rows->dilation - rows->pad;
    const int64_t column_shift =
        (int64_t)(element % columns->kernel) * columns->dilation - columns->pad;
    const float *row_offsets = offset + 2 * element * layout->locations;
    const float *column_offsets = row_offsets + layout->locations;
    const float *factors = mask + element * layout->locations;
    const size_t below = rows->image > 1 ? columns->image : 0;
    size_t row = start / columns->output, column = start % columns->output;

    for (size_t i = 0; i < count; i++) {
        const size_t sample = element * layout->block + i;
        const float y = (float)((int64_t)row * rows->stride + row_shift);
        const float x = (float)((int64_t)column * columns->stride + column_shift);
        struct deformconv_neighbors down, across;

        deformconv_find(y + row_offsets[start + i], rows->image, &down);
        deformconv_find(x + column_offsets[start + i], columns->image, &across);
        const size_t upper = down.first * columns->image + across.first;
        samples->upper[sample] = (uint32_t)upper;
        samples->lower[sample] = (uint32_t)(upper + below);
        for (size_t side = 0; side < 2; side++) {
            const float weight = across.weights[side] * factors[start + i];

            samples->upper_weights[sample][side] = down.weights[0] * weight;
            samples->lower_weights[sample][side] = down.weights[1] * weight;
        }
        if (++column == columns->output) {
            column = 0;
            row++;
        }
    }
}

/* Some channels of one group, and what they add to a block of the output. */
struct deformconv_part {
    const struct deformconv_layout *layout;
    const struct deformconv_samples *samples;
    const float *x; /* [channels, pixels] */
    size_t channels;
    const float *w; /* of the group, from the first of the channels on */
    float *y; /* the block in the first output of the group */
    size_t count; /* locations */
};

/* Four floats, and the results of their comparisons. */
typedef float deformconv_float4 __attribute__((vector_size(16)));
typedef int32_t deformconv_int4 __attribute__((vector_size(16)));

/* Returns pixels times weights; pixels of weight 0 count as 0, also if they are not finite. */
OPKIT_INLINE deformconv_float4 deformconv_weigh(deformconv_float4 pixels, const float *weights)
{
    deformconv_float4 factors;

    memcpy(&factors, weights, sizeof factors);
    return (deformconv_float4)((deformconv_int4)(pixels * factors) & (factors != 0.0F));
}

/* Returns the sums of the upper and of the lower neighbors of two samples: left, right each. */
OPKIT_INLINE deformconv_float4 deformconv_pair(const struct deformconv_samples *samples, size_t i,
                                               const float *x, size_t right)
{
    const float *a = x + samples->upper[i], *b = x + samples->upper[i + 1];
    const float *c = x + samples->lower[i], *d = x + samples->lower[i + 1];
    const deformconv_float4 upper = {a[0], a[right], b[0], b[right]};
    const deformconv_float4 lower = {c[0], c[right], d[0], d[right]};

    return deformconv_weigh(upper, samples->upper_weights[i]) +
           deformconv_weigh(lower, samples->lower_weights[i]);
}

/*
 * Interpolates `count` samples of one channel, a multiple of 4. `right` is the distance of the
 * right neighbors.
 */
OPKIT_INLINE void deformconv_interpolate(const struct deformconv_samples *samples, size_t count,
                                         const float *x, size_t right, float *y)
{
    for (size_t i = 0; i < count; i += 4) {
        const deformconv_float4 a = deformconv_pair(samples, i, x, right);
        const deformconv_float4 b = deformconv_pair(samples, i + 2, x, right);
        const deformconv_float4 lefts = {a[0], a[2], b[0], b[2]};
        const deformconv_float4 rights = {a[1], a[3], b[1], b[3]};
        const deformconv_float4 sums = lefts + rights;

        memcpy(y + i, &sums, sizeof sums);
    }
}

/* Adds the first `count` columns of a row of a tile to the output. */
OPKIT_INLINE void deformconv_add(const deformconv_vector *sums, float *y, size_t count)
{
    deformconv_vector row = *sums;

    if (count == DEFORMCONV_LANES) {
        deformconv_vector old;

        memcpy(&old, y, sizeof old);
        row += old;
        memcpy(y, &row, sizeof row);
    } else {
        for (size_t i = 0; i < count; i++) {
            y[i] += row[i];
        }
    }
}

/*
 * Adds a tile of the product of the kernels and a matrix to the output. `kernels` and `columns` are
 * those of the tile that exist: the last kernel stands for the missing ones. A row of the tile has
 * `vectors` vectors, 1 or 2. Inlined, so that all sums are in registers.
 */
OPKIT_INLINE void deformconv_tile(const struct deformconv_part *part, const float *matrix,
                                  const float *w, size_t kernels, float *y, size_t columns,
                                  size_t vectors)
{
    OPKIT_FUSED
    const size_t step = part->layout->group_channels * part->layout->elements;
    const size_t depth = part->channels * part->layout->elements;
    const float *rows[DEFORMCONV_ROWS];
    deformconv_vector sums[DEFORMCONV_ROWS][2] = {{{0.0F}}};

    for (size_t row = 0; row < DEFORMCONV_ROWS; row++) {
        rows[row] = w + deformconv_min(row, kernels - 1) * step;
    }
    for (size_t i = 0; i < depth; i++) {
        deformconv_vector samples[2];

        memcpy(samples, matrix + i * part->layout->block, vectors * sizeof *samples);
        for (size_t row = 0; row < DEFORMCONV_ROWS; row++) {
            for (size_t vector = 0; vector < vectors; vector++) {
                sums[row][vector] += samples[vector] * rows[row][i];
            }
        }
    }
    for (size_t row = 0; row < kernels; row++) {
        float *to = y + row * part->layout->locations;

        deformconv_add(&sums[row][0], to, deformconv_min(columns, DEFORMCONV_LANES));
        if (vectors == 2) {
            deformconv_add(&sums[row][1], to + DEFORMCONV_LANES, columns - DEFORMCONV_LANES);
        }
    }
}

/*
 * Adds some channels to the output: their samples become a matrix, which the kernels multiply, in
 * tiles of 1 or 2 `vectors`.
 */
OPKIT_INLINE void deformconv_add_part(const struct deformconv_part *part, size_t vectors)
{
    const struct deformconv_layout *layout = part->layout;
    const size_t samples = layout->elements * layout->block;
    /* A row for each element of each channel, at the start of a cache line. */
    float matrix[DEFORMCONV_MATRIX] __attribute__((aligned(64)));

    for (size_t i = 0; i < part->channels; i++) {
        const float *x = part->x + i * layout->pixels;

        if (layout->columns.image > 1) {
            deformconv_interpolate(part->samples, samples, x, 1, matrix + i * samples);
        } else {
            deformconv_interpolate(part->samples, samples, x, 0, matrix + i * samples);
        }
    }
    for (size_t kernel = 0; kernel < layout->group_kernels; kernel += DEFORMCONV_ROWS) {
        const size_t kernels = deformconv_min(layout->group_kernels - kernel, DEFORMCONV_ROWS);
        const float *w = part->w + kernel * layout->group_channels * layout->elements;
        float *y = part->y + kernel * layout->locations;
        size_t i = 0;

        for (; vectors == 2 && i + DEFORMCONV_LANES < part->count; i += 2 * DEFORMCONV_LANES) {
            deformconv_tile(part, matrix + i, w, kernels, y + i,
                            deformconv_min(part->count - i, 2 * DEFORMCONV_LANES), 2);
        }
        for (; i < part->count; i += DEFORMCONV_LANES) {
            deformconv_tile(part, matrix + i, w, kernels, y + i,
                            deformconv_min(part->count - i, DEFORMCONV_LANES), 1);
        }
    }
}

static void deformconv_add_baseline(const struct deformconv_part *part)
{
    deformconv_add_part(part, 1);
}

#if defined(OPKIT_AVX2)
/* The same for processors with AVX2: a vector is one register, so that there are enough for 2. */
OPKIT_AVX2 static void deformconv_add_avx2(const struct deformconv_part *part)
{
    deformconv_add_part(part, 2);
}
#endif

static void deformconv_dispatch(const struct deformconv_part *part)
{
#if defined(OPKIT_AVX2)
    if (opkit_has_avx2()) {
        deformconv_add_avx2(part);
        return;
    }
#endif
    deformconv_add_baseline(part);
}

/* One image of each tensor, and the tensors that are the same for all. */
struct deformconv_image {
    const float *x, *w, *offset, *b, *mask;
    float *y;
};

/* Computes a block of all channels of y: `count` locations. */
static void deformconv_block(const struct deformconv_layout *layout,
                             const struct deformconv_image *image, size_t start, size_t count,
                             struct deformconv_samples *samples)
{
    const size_t max_channels = DEFORMCONV_MATRIX / (layout->elements * layout->block);
    size_t end;

    for (size_t kernel = 0; kernel < layout->kernels; kernel++) {
        for (size_t i = 0; i < count; i++) {
            image->y[kernel * layout->locations + start + i] = image->b[kernel];
        }
    }
    for (size_t channel = 0; channel < layout->channels; channel = end) {
        const size_t group = channel / layout->group_channels;
        const size_t offset_group = channel / layout->offset_channels;
        const size_t kernel = group * layout->group_kernels;

        if (channel % layout->offset_channels == 0) {
            const size_t map = offset_group * layout->elements * layout->locations;

            for (size_t element = 0; element < layout->elements; element++) {
                deformconv_find_element(layout, image->offset + 2 * map, image->mask + map, element,
                                        start, count, samples);
            }
        }
        end = deformconv_min((group + 1) * layout->group_channels,
                             (offset_group + 1) * layout->offset_channels);
        end = deformconv_min(end, channel + max_channels);
        const struct deformconv_part part = {
            layout,
            samples,
            image->x + channel * layout->pixels,
            end - channel,
            image->w + (kernel * layout->group_channels + channel % layout->group_channels) *
                           layout->elements,
            image->y + kernel * layout->locations + start,
            count,
        };
        deformconv_dispatch(&part);
    }
}

/*
 * Computes the outputs:
 *
 *   inputs->x               images, [N, C, H, W]
 *   inputs->w               the kernels, [M, C / group, kernel height, kernel width]
 *   inputs->offset          [N, offset_group * kernel elements * 2, H_out, W_out]
 *   inputs->b               the bias, [M]
 *   inputs->mask            [N, offset_group * kernel elements, H_out, W_out]
 *   params->dilations       the distances of a kernel's elements
 *   params->group           the groups of channels with kernels of their own
 *   params->kernel_shape    that of w, or 0
 *   params->offset_group    the groups of channels with offsets and masks of their own
 *   params->pads            rows and columns of zeros, before and then after
 *   params->strides         the distances of a kernel's positions
 *   outputs->y              [N, M, H_out, W_out]
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *deformconv_compute(const struct deformconv_inputs *inputs,
                                      const struct deformconv_params *params,
                                      struct deformconv_outputs *outputs)
{
    struct deformconv_layout layout;
    struct deformconv_samples samples;

    if (inputs->x.type != OPKIT_FLOAT32 || inputs->w.type != OPKIT_FLOAT32 ||
        inputs->b.type != OPKIT_FLOAT32) {
        return "all tensors must be float16 or float32";
    }
    const char *problem = deformconv_read(params, inputs, &layout);
    if (problem == NULL) {
        problem = deformconv_check(inputs, params, outputs, &layout);
    }
    if (problem != NULL) {
        return problem;
    }

    const size_t images = inputs->x.shape[0];
    memset(&samples, 0, sizeof samples);
    for (size_t i = 0; i < images; i++) {
        const struct deformconv_image image = {
            inputs->x.float32 + i * (inputs->x.size / images),
            inputs->w.float32,
            inputs->offset.float32 + i * (inputs->offset.size / images),
            inputs->b.float32,
            inputs->mask.float32 + i * (inputs->mask.size / images),
            outputs->y.float32 + i * (outputs->y.size / images),
        };

        for (size_t start = 0; start < layout.locations; start += layout.block) {
            const size_t rest = layout.locations - start;

            deformconv_block(&layout, &image, start, deformconv_min(rest, layout.block), &samples);
        }
    }
    return NULL;
}

#endif
