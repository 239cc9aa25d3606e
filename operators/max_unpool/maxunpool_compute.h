/*
 * The math of MaxUnpool: images with the elements of pooled ones, and zeros between.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in maxunpool_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16.
 */
#ifndef MAXUNPOOL_COMPUTE_H
#define MAXUNPOOL_COMPUTE_H

#include <string.h>

#include "generated/maxunpool.h"

enum {
    MAXUNPOOL_RANK = 5 /* batches, channels, and 3 dimensions of an image */
};

/* The shapes of the output. */
struct maxunpool_image {
    size_t inner[MAXUNPOOL_RANK]; /* without output_shape */
    size_t output[MAXUNPOOL_RANK];
    size_t size; /* elements of `inner` */
};

/* Returns an item of a list that may have one for all dimensions. */
static int64_t maxunpool_item(struct opkit_int32_array list, size_t i)
{
    return list.items[list.count == 1 ? 0 : i];
}

/* Computes the size of a dimension of an image without output_shape. Returns NULL, or an error. */
static const char *maxunpool_size(const struct maxunpool_params *params, size_t pooled, size_t i,
                                  size_t count, size_t *size)
{
    const int64_t kernel = params->kernel_shape.items[i];
    const int64_t stride = maxunpool_item(params->strides, i);
    const int64_t before = maxunpool_item(params->pads, i);
    const int64_t after = maxunpool_item(params->pads, count + i);

    if (kernel < 1 || stride < 1 || before < 0 || after < 0) {
        return "kernel_shape and strides must be above 0, and pads not negative";
    }
    const int64_t found = ((int64_t)pooled - 1) * stride + kernel - before - after;
    *size = (size_t)found;
    return found > 0 ? NULL : "pads must leave an image";
}

/* Computes the shapes. Returns NULL, or an error message. */
static const char *maxunpool_measure(const struct maxunpool_inputs *inputs,
                                     const struct maxunpool_params *params,
                                     struct maxunpool_image *image)
{
    const struct opkit_tensor *x = &inputs->x;
    const struct opkit_int32_array given = params->output_shape;
    const bool is_given = given.count != 1 || given.items[0] != 0;

    if (x->rank < 3 || x->rank > MAXUNPOOL_RANK) {
        return "x must be [N, C, ...], with 1 to 3 dimensions behind C";
    }
    const size_t count = x->rank - 2;
    if (params->kernel_shape.count != count ||
        (params->strides.count != 1 && params->strides.count != count) ||
        (params->pads.count != 1 && params->pads.count != 2 * count)) {
        return "kernel_shape and strides must have an item for each dimension, and pads two";
    }
    image->size = 1;
    for (size_t i = 0; i < x->rank; i++) {
        image->inner[i] = x->shape[i];
        const char *problem =
            i < 2 ? NULL : maxunpool_size(params, x->shape[i], i - 2, count, &image->inner[i]);
        if (problem != NULL) {
            return problem;
        }
        image->output[i] = image->inner[i];
        image->size *= image->inner[i];
    }
    for (size_t i = 0; i < x->rank && is_given; i++) {
        const int64_t size = given.count == x->rank ? given.items[i] : -1;

        if (size < (int64_t)image->inner[i] || (i < 2 && size != (int64_t)image->inner[i])) {
            return "output_shape must have the batches and channels of x, and at least the sizes "
                   "without it";
        }
        image->output[i] = (size_t)size;
    }
    return NULL;
}

/* Checks the tensors. Returns NULL, or an error message. */
static const char *maxunpool_check(const struct maxunpool_inputs *inputs,
                                   const struct maxunpool_outputs *outputs,
                                   const struct maxunpool_image *image)
{
    const struct opkit_tensor *x = &inputs->x, *i = &inputs->i;
    size_t size = 1;

    if (x->type != OPKIT_FLOAT32 || i->type != OPKIT_INT64 ||
        outputs->output.type != OPKIT_FLOAT32) {
        return "x must be float16 or float32, and i int64";
    }
    if (i->rank != x->rank || memcmp(i->shape, x->shape, sizeof x->shape) != 0) {
        return "i must have the shape of x";
    }
    for (size_t axis = 0; axis < x->rank; axis++) {
        size *= image->output[axis];
    }
    return outputs->output.size == size ? NULL : "output must have the unpooled shape";
}

/* Returns the place in the output of an index in the images without output_shape. */
static size_t maxunpool_place(const struct maxunpool_image *image, size_t rank, size_t index)
{
    size_t place = 0, stride = 1;

    for (size_t axis = rank; axis-- > 0;) {
        place += index % image->inner[axis] * stride;
        index /= image->inner[axis];
        stride *= image->output[axis];
    }
    return place;
}

/*
 * Computes the outputs:
 *
 *   inputs->x               the pooled images, [N, C, ...]
 *   inputs->i               the places of x in the flat output without output_shape
 *   params->kernel_shape    the sizes of a window
 *   params->strides         the distances of windows
 *   params->pads            cut off the images, at the beginnings and the ends
 *   params->output_shape    larger by zeros at the ends; [0]: none
 *   outputs->output         [N, C, ...]
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *maxunpool_compute(const struct maxunpool_inputs *inputs,
                                     const struct maxunpool_params *params,
                                     struct maxunpool_outputs *outputs)
{
    const size_t rank = inputs->x.rank;
    struct maxunpool_image image;

    const char *problem = maxunpool_measure(inputs, params, &image);
    if (problem == NULL) {
        problem = maxunpool_check(inputs, outputs, &image);
    }
    if (problem != NULL) {
        return problem;
    }

    const int64_t *places = inputs->i.int64;
    const float *x = inputs->x.float32;
    float *y = outputs->output.float32;
    const bool is_same = memcmp(image.inner, image.output, rank * sizeof *image.inner) == 0;
    memset(y, 0, outputs->output.size * sizeof *y);
    for (size_t i = 0; i < inputs->x.size; i++) {
        const size_t place = (size_t)places[i];

        if ((uint64_t)places[i] >= image.size) { /* also below 0 */
            return "i must be from 0 to the elements of the output - 1";
        }
        y[is_same ? place : maxunpool_place(&image, rank, place)] = x[i];
    }
    return NULL;
}

#endif
