/*
 * The math of LpPool: the p-norms of the windows of images.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in lppool_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16.
 *
 * For each element of a window, the windows of a row whose element is within the image are a range,
 * so that the inner loop has no condition. Powers are in double: those of float overflow early.
 */
#ifndef LPPOOL_COMPUTE_H
#define LPPOOL_COMPUTE_H

#include <math.h>
#include <string.h>

#include "generated/lppool.h"

enum {
    LPPOOL_DIMENSIONS = 3, /* of an image; those in front of a smaller one are 1 */
    LPPOOL_COLUMNS = 512 /* windows of a row in one pass */
};

/* One dimension of the image. */
struct lppool_dimension {
    int64_t image; /* the size of the image */
    int64_t kernel; /* elements of a window */
    int64_t stride;
    int64_t dilation;
    int64_t pad; /* before the image */
    int64_t windows;
};

struct lppool_layout {
    struct lppool_dimension dimensions[LPPOOL_DIMENSIONS];
    int64_t p;
};

/* Returns an item of a list, or its only one. */
static inline int64_t lppool_item(const struct opkit_int32_array *list, size_t i)
{
    return list->items[list->count > 1 ? i : 0];
}

/*
 * Computes windows and pad of a dimension; `pad_after` is behind the image. Returns whether the
 * window fits into the padded image.
 */
static bool lppool_place(struct lppool_dimension *each, int64_t pad_after,
                         const struct lppool_params *params)
{
    const int64_t extent = each->dilation * (each->kernel - 1) + 1;

    if (strncmp(params->auto_pad, "SAME_", 5) == 0) {
        each->windows = (each->image + each->stride - 1) / each->stride;
        /* Negative if strides are larger than windows: then these begin inside of the image. */
        const int64_t pads = (each->windows - 1) * each->stride + extent - each->image;
        each->pad = strcmp(params->auto_pad, "SAME_UPPER") == 0 ? pads / 2 : (pads + 1) / 2;
        return true;
    }
    if (strcmp(params->auto_pad, "VALID") == 0) {
        each->pad = pad_after = 0;
    }
    const int64_t room = each->image + each->pad + pad_after - extent;
    each->windows = room / each->stride + 1;
    if (params->ceil_mode == 1 && room % each->stride != 0 &&
        each->windows * each->stride < each->image + each->pad) {
        each->windows++;
    }
    return room >= 0;
}

/* Reads params and the image's size. Returns NULL, or an error message. */
static const char *lppool_read(const struct lppool_params *params, const struct opkit_tensor *x,
                               struct lppool_layout *layout)
{
    const size_t count = x->rank - 2;
    const struct lppool_dimension single = {1, 1, 1, 1, 0, 1};

    if (x->rank < 3 || count > LPPOOL_DIMENSIONS) {
        return "x must be [N, C, ...], with 1 to 3 dimensions behind C";
    }
    if (params->kernel_shape.count != count ||
        (params->strides.count != 1 && params->strides.count != count) ||
        (params->dilations.count != 1 && params->dilations.count != count) ||
        (params->pads.count != 1 && params->pads.count != 2 * count)) {
        return "kernel_shape, strides and dilations must have an item for each dimension, and pads "
               "two";
    }
    if (strcmp(params->auto_pad, "NOTSET") != 0 && strcmp(params->auto_pad, "VALID") != 0 &&
        strcmp(params->auto_pad, "SAME_UPPER") != 0 &&
        strcmp(params->auto_pad, "SAME_LOWER") != 0) {
        return "auto_pad must be NOTSET, VALID, SAME_UPPER or SAME_LOWER";
    }
    if (params->ceil_mode != 0 && params->ceil_mode != 1) {
        return "ceil_mode must be 0 or 1";
    }
    if (params->p < 1) {
        return "p must be 1 or more";
    }
    layout->p = params->p;
    for (size_t i = 0; i < LPPOOL_DIMENSIONS; i++) {
        layout->dimensions[i] = single;
    }
    for (size_t i = 0; i < count; i++) {
        struct lppool_dimension *each = &layout->dimensions[LPPOOL_DIMENSIONS - count + i];
        const int64_t pad_after = lppool_item(&params->pads, count + i);

        each->image = (int64_t)x->shape[2 + i];
        each->kernel = params->kernel_shape.items[i];
        each->stride = lppool_item(&params->strides, i);
        each->dilation = lppool_item(&params->dilations, i);
        each->pad = lppool_item(&params->pads, i);
        if (each->kernel < 1 || each->stride < 1 || each->dilation < 1 || each->pad < 0 ||
            pad_after < 0) {
            return "kernel_shape, strides and dilations must be above 0, and pads not negative";
        }
        if (!lppool_place(each, pad_after, params)) {
            return "a window must fit into the image with its pads";
        }
    }
    return NULL;
}

/* Returns x^p, for p above 0. */
static inline double lppool_power(double x, int64_t p)
{
    double result = 1.0;

    for (; p > 1; p /= 2) {
        result *= p % 2 != 0 ? x : 1.0;
        x *= x;
    }
    return result * x;
}

/* Adds the powers of elements, `stride` apart, to the sums. */
static inline void lppool_add(const float *x, size_t stride, size_t count, int64_t p, double *sums)
{
    if (p == 1) {
        for (size_t i = 0; i < count; i++) {
            sums[i] += fabs((double)x[i * stride]);
        }
    } else if (p == 2) {
        for (size_t i = 0; i < count; i++) {
            sums[i] += (double)x[i * stride] * (double)x[i * stride];
        }
    } else {
        for (size_t i = 0; i < count; i++) {
            sums[i] += lppool_power(fabs((double)x[i * stride]), p);
        }
    }
}

/* Adds a row of the image to the sums of a row's windows, from `first` to `end` - 1. */
static void lppool_add_row(const struct lppool_layout *layout, const float *x, int64_t first,
                           int64_t end, double *sums)
{
    const struct lppool_dimension *row = &layout->dimensions[LPPOOL_DIMENSIONS - 1];

    for (int64_t element = 0; element < row->kernel; element++) {
        const int64_t shift = element * row->dilation - row->pad;
        const int64_t last = row->image - 1 - shift;
        const int64_t inner_end = last < 0 ? 0 : last / row->stride + 1;
        const int64_t inner_first = shift < 0 ? (-shift + row->stride - 1) / row->stride : 0;
        const int64_t from = inner_first > first ? inner_first : first;
        const int64_t to = inner_end < end ? inner_end : end;

        if (from >= to) {
            continue;
        }
        const float *source = x + from * row->stride + shift;
        const size_t count = (size_t)(to - from);
        if (row->stride == 1) { /* a constant: in vectors */
            lppool_add(source, 1, count, layout->p, sums + (from - first));
        } else {
            lppool_add(source, (size_t)row->stride, count, layout->p, sums + (from - first));
        }
    }
}

/* Computes the windows from `first` to `end` - 1 of a row of windows. */
static void lppool_compute_row(const struct lppool_layout *layout, const float *image,
                               const int64_t *window, int64_t first, int64_t end, float *y)
{
    const struct lppool_dimension *slices = &layout->dimensions[0], *rows = &layout->dimensions[1];
    const int64_t width = layout->dimensions[2].image;
    double sums[LPPOOL_COLUMNS];

    memset(sums, 0, (size_t)(end - first) * sizeof *sums); /* most rows are far shorter */
    for (int64_t i = 0; i < slices->kernel; i++) {
        const int64_t slice = window[0] * slices->stride - slices->pad + i * slices->dilation;

        for (int64_t j = 0; j < rows->kernel; j++) {
            const int64_t row = window[1] * rows->stride - rows->pad + j * rows->dilation;

            if (slice >= 0 && slice < slices->image && row >= 0 && row < rows->image) {
                lppool_add_row(layout, image + (slice * rows->image + row) * width, first, end,
                               sums);
            }
        }
    }
    for (int64_t i = 0; i < end - first; i++) {
        const double root = layout->p == 2 ? sqrt(sums[i]) : pow(sums[i], 1.0 / (double)layout->p);
        y[i] = (float)(layout->p == 1 ? sums[i] : root);
    }
}

/*
 * Computes the outputs:
 *
 *   inputs->x               [N, C, ...], with 1 to 3 dimensions behind C
 *   params->kernel_shape    the size of a window in each dimension
 *   params->p               1 or more: (sum of |x|^p)^(1/p)
 *   params->strides         the distances of windows; one item is for all dimensions
 *   params->dilations       the distances of a window's elements; one item is for all dimensions
 *   params->pads            zeros before each dimension, then after each; or one item
 *   params->auto_pad        "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"
 *   params->ceil_mode       1: also windows that end behind the pads
 *   outputs->y              [N, C, ...], with an element for each window
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *lppool_compute(const struct lppool_inputs *inputs,
                                  const struct lppool_params *params,
                                  struct lppool_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->x;
    const struct opkit_tensor *y = &outputs->y;
    struct lppool_layout layout;

    if (x->type != OPKIT_FLOAT32 || y->type != OPKIT_FLOAT32) {
        return "x and y must be float16 or float32";
    }
    const char *problem = lppool_read(params, x, &layout);
    if (problem != NULL) {
        return problem;
    }
    const struct lppool_dimension *each = layout.dimensions;
    const size_t images = x->shape[0] * x->shape[1];
    const int64_t rows = each[0].windows * each[1].windows, columns = each[2].windows;
    if (y->size != images * (size_t)(rows * columns)) {
        return "y must be [N, C, ...], with an element for each window";
    }

    for (size_t i = 0; i < images; i++) {
        const float *image = x->float32 + i * (x->size / images);

        for (int64_t row = 0; row < rows; row++) {
            const int64_t window[2] = {row / each[1].windows, row % each[1].windows};
            float *result = y->float32 + (i * (size_t)rows + (size_t)row) * (size_t)columns;

            for (int64_t first = 0; first < columns; first += LPPOOL_COLUMNS) {
                const int64_t left = columns - first, limit = LPPOOL_COLUMNS;
                const int64_t count = left < limit ? left : limit;

                lppool_compute_row(&layout, image, window, first, first + count, result + first);
            }
        }
    }
    return NULL;
}

#endif
