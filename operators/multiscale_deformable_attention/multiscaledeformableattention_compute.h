/*
 * The math of MultiscaleDeformableAttention: weighted sums of samples of feature maps.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in multiscaledeformableattention_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size`
 * elements in all. Floating-point tensors are arrays of float, also if the model has float16.
 *
 * The formula is in X. Zhu et al., Deformable DETR (2021), equation 3. For a query and a head, the
 * samples of all levels become one list of pixels and their weights, without those outside of the
 * feature map. The output is the weighted sum of these pixels' channels, and stays in registers.
 */
#ifndef MULTISCALEDEFORMABLEATTENTION_COMPUTE_H
#define MULTISCALEDEFORMABLEATTENTION_COMPUTE_H

#include <math.h>
#include <string.h>

#include "generated/multiscaledeformableattention.h"
#include "opkit/compute/processor.h"

enum {
    ATTENTION_MAX_LEVELS = 8,
    ATTENTION_PIXELS = 256, /* of a list: four for each sample */
    ATTENTION_CHANNELS = 8, /* of a vector */
    ATTENTION_VECTORS = 4 /* that are summed at a time */
};

/* Neighboring channels: two registers where the processor's have 4 floats. */
typedef float attention_vector __attribute__((vector_size(ATTENTION_CHANNELS * sizeof(float))));

/* The feature map of a level. */
struct attention_level {
    int32_t rows, columns;
    size_t start; /* its first pixel */
};

struct attention_layout {
    size_t heads, channels; /* channels of each head */
    size_t queries, levels, points;
    struct attention_level level[ATTENTION_MAX_LEVELS];
};

/* Pixels of one head. */
struct attention_pixels {
    size_t count;
    size_t offsets[ATTENTION_PIXELS]; /* in floats */
    float weights[ATTENTION_PIXELS];
};

/* A sample's two neighbors along one dimension. */
struct attention_neighbors {
    int32_t first; /* -1 to the length; the other one is the next */
    float weights[2]; /* 0: outside */
};

/* Reads the params. Returns NULL, or an error message. */
static const char *attention_read(const struct multiscaledeformableattention_params *params,
                                  struct attention_layout *layout)
{
    const struct opkit_int32_array *sizes = &params->value_spatial_shapes;
    const struct opkit_int32_array *starts = &params->value_level_start_index;

    if (starts->count < 1 || starts->count > ATTENTION_MAX_LEVELS ||
        sizes->count != 2 * starts->count) {
        return "value_spatial_shapes must have 2 items for each item of value_level_start_index, "
               "which are 1 to 8";
    }
    layout->levels = starts->count;
    for (size_t i = 0; i < layout->levels; i++) {
        struct attention_level *level = &layout->level[i];

        level->rows = sizes->items[2 * i];
        level->columns = sizes->items[2 * i + 1];
        if (level->rows < 1 || level->columns < 1 || starts->items[i] < 0) {
            return "value_spatial_shapes must be above 0, and value_level_start_index not negative";
        }
        level->start = (size_t)starts->items[i];
    }
    return params->im2col_step < 1 ? "im2col_step must be above 0" : NULL;
}

/* Checks the shapes, and completes the layout. Returns NULL, or an error message. */
static const char *attention_check(const struct multiscaledeformableattention_inputs *inputs,
                                   const struct multiscaledeformableattention_outputs *outputs,
                                   struct attention_layout *layout)
{
    const struct opkit_tensor *value = &inputs->value, *output = &outputs->output;
    const struct opkit_tensor *weights = &inputs->attention_weights;
    const struct opkit_tensor *locations = &inputs->sampling_locations;

    if (value->rank != 4) {
        return "value must be [N, S, heads, channels]";
    }
    layout->heads = value->shape[2];
    layout->channels = value->shape[3];
    for (size_t i = 0; i < layout->levels; i++) {
        const struct attention_level *level = &layout->level[i];
        const int64_t pixels = (int64_t)level->rows * level->columns;

        if ((int64_t)level->start + pixels > (int64_t)value->shape[1]) {
            return "value must have the pixels of all levels";
        }
    }
    if (weights->rank != 5 || weights->shape[0] != value->shape[0] ||
        weights->shape[2] != layout->heads || weights->shape[3] != layout->levels) {
        return "attention_weights must be [N, queries, heads, levels, points]";
    }
    layout->queries = weights->shape[1];
    layout->points = weights->shape[4];
    if (locations->rank != 6 || locations->shape[5] != 2 ||
        memcmp(locations->shape, weights->shape, 5 * sizeof *weights->shape) != 0) {
        return "sampling_locations must be [N, queries, heads, levels, points, 2]";
    }
    if (output->rank != 3 || output->shape[0] != value->shape[0] ||
        output->shape[1] != layout->queries ||
        output->shape[2] != layout->heads * layout->channels) {
        return "output must be [N, queries, heads * channels]";
    }
    return NULL;
}

/* Finds the neighbors of a place, in pixels, which is not NaN. */
OPKIT_INLINE struct attention_neighbors attention_find(float place, int32_t length)
{
    const float limit = (float)length;
    const float clipped = place < -1.0F ? -1.0F : place > limit ? limit : place;
    const int32_t truncated = (int32_t)clipped;
    struct attention_neighbors found;

    found.first = truncated - ((float)truncated > clipped ? 1 : 0);
    const float after = clipped - (float)found.first;
    found.weights[0] = found.first >= 0 && found.first < length ? 1.0F - after : 0.0F;
    found.weights[1] = found.first + 1 < length ? after : 0.0F;
    return found;
}

/*
 * Appends a pixel of a sample to a list, unless its weight in the sample is 0.
 *
 *   factor    the attention weight of the sample
 */
OPKIT_INLINE void attention_append(struct attention_pixels *pixels, size_t offset, float weight,
                                   float factor)
{
    pixels->offsets[pixels->count] = offset;
    pixels->weights[pixels->count] = weight * factor;
    pixels->count += weight != 0.0F; /* without a branch, which would be mispredicted */
}

/*
 * Appends the pixels of a sample.
 *
 *   location    column and row; 0 to 1 is from edge to edge of the feature map
 *   factor      its attention weight
 */
OPKIT_INLINE void attention_append_sample(struct attention_pixels *pixels,
                                          const struct attention_layout *layout,
                                          const struct attention_level *level,
                                          const float *location, float factor)
{
    const float x = location[0] * (float)level->columns - 0.5F;
    const float y = location[1] * (float)level->rows - 0.5F;
    const size_t pitch = layout->heads * layout->channels; /* of pixels */

    if (isnan(x) || isnan(y)) { /* any pixel times NaN is NaN */
        attention_append(pixels, level->start * pitch, x + y, factor);
        return;
    }
    const struct attention_neighbors down = attention_find(y, level->rows);
    const struct attention_neighbors across = attention_find(x, level->columns);
    const int64_t pixel = (int64_t)down.first * level->columns + across.first;
    /* The offset of a pixel outside of the feature map is not kept. */
    const size_t upper = (level->start + (size_t)pixel) * pitch;
    const size_t lower = upper + (size_t)level->columns * pitch;

    attention_append(pixels, upper, down.weights[0] * across.weights[0], factor);
    attention_append(pixels, upper + pitch, down.weights[0] * across.weights[1], factor);
    attention_append(pixels, lower, down.weights[1] * across.weights[0], factor);
    attention_append(pixels, lower + pitch, down.weights[1] * across.weights[1], factor);
}

/* Adds `count` vectors of channels of all pixels, at most ATTENTION_VECTORS, to the output. */
OPKIT_INLINE void attention_add_vectors(const struct attention_pixels *pixels, const float *value,
                                        float *output, size_t count)
{
    attention_vector sums[ATTENTION_VECTORS];

    memcpy(sums, output, count * sizeof *sums);
    for (size_t i = 0; i < pixels->count; i++) {
        const float *pixel = value + pixels->offsets[i];

        for (size_t j = 0; j < count; j++) {
            attention_vector channels;

            memcpy(&channels, pixel + j * ATTENTION_CHANNELS, sizeof channels);
            sums[j] += channels * pixels->weights[i];
        }
    }
    memcpy(output, sums, count * sizeof *sums);
}

/* Adds all pixels to the output of a head. */
OPKIT_INLINE void attention_add(const struct attention_pixels *pixels, const float *value,
                                size_t channels, float *output)
{
    const size_t block = ATTENTION_VECTORS * ATTENTION_CHANNELS;
    size_t channel = 0;

    for (; channel + block <= channels; channel += block) {
        attention_add_vectors(pixels, value + channel, output + channel, ATTENTION_VECTORS);
    }
    for (; channel + ATTENTION_CHANNELS <= channels; channel += ATTENTION_CHANNELS) {
        attention_add_vectors(pixels, value + channel, output + channel, 1);
    }
    for (; channel < channels; channel++) {
        float sum = output[channel];

        for (size_t i = 0; i < pixels->count; i++) {
            sum += value[pixels->offsets[i] + channel] * pixels->weights[i];
        }
        output[channel] = sum;
    }
}

/* One image of each tensor. */
struct attention_image {
    const float *value, *locations, *weights;
    float *output;
};

/* Computes the output of one image. */
OPKIT_INLINE void attention_attend(const struct attention_layout *layout,
                                   const struct attention_image *image)
{
    const float *location = image->locations, *factor = image->weights;
    float *output = image->output;
    struct attention_pixels pixels;

    for (size_t i = 0; i < layout->queries * layout->heads; i++) {
        const float *value = image->value + i % layout->heads * layout->channels;

        memset(output, 0, layout->channels * sizeof *output);
        pixels.count = 0;
        for (size_t level = 0; level < layout->levels; level++) {
            for (size_t point = 0; point < layout->points; point++) {
                if (pixels.count + 4 > ATTENTION_PIXELS) {
                    attention_add(&pixels, value, layout->channels, output);
                    pixels.count = 0;
                }
                attention_append_sample(&pixels, layout, &layout->level[level], location, *factor);
                location += 2;
                factor++;
            }
        }
        attention_add(&pixels, value, layout->channels, output);
        output += layout->channels;
    }
}
OPKIT_WIDEST(attention_attend,
             (const struct attention_layout *layout, const struct attention_image *image),
             (layout, image))

/*
 * Computes the outputs:
 *
 *   inputs->value                      the pixels of all levels, [N, S, heads, channels]
 *   inputs->sampling_locations         [N, queries, heads, levels, points, 2]: column and row
 *   inputs->attention_weights          [N, queries, heads, levels, points]
 *   params->value_spatial_shapes       the height and width of each level
 *   params->value_level_start_index    the first pixel of each level
 *   params->im2col_step                has no effect
 *   outputs->output                    [N, queries, heads * channels]
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *
multiscaledeformableattention_compute(const struct multiscaledeformableattention_inputs *inputs,
                                      const struct multiscaledeformableattention_params *params,
                                      struct multiscaledeformableattention_outputs *outputs)
{
    const struct opkit_tensor *value = &inputs->value, *output = &outputs->output;
    const struct opkit_tensor *weights = &inputs->attention_weights;
    const struct opkit_tensor *locations = &inputs->sampling_locations;
    struct attention_layout layout;

    if (value->type != OPKIT_FLOAT32 || locations->type != OPKIT_FLOAT32 ||
        weights->type != OPKIT_FLOAT32 || output->type != OPKIT_FLOAT32) {
        return "all tensors must be float16 or float32";
    }
    const char *problem = attention_read(params, &layout);
    if (problem == NULL) {
        problem = attention_check(inputs, outputs, &layout);
    }
    if (problem != NULL) {
        return problem;
    }

    const size_t images = value->shape[0];
    for (size_t i = 0; i < images; i++) {
        const struct attention_image image = {
            value->float32 + i * (value->size / images),
            locations->float32 + i * (locations->size / images),
            weights->float32 + i * (weights->size / images),
            output->float32 + i * (output->size / images),
        };

        attention_attend_widest(&layout, &image);
    }
    return NULL;
}

#endif
