/*
 * The shape rule of LpPool, for runtimes that infer shapes at run time.
 *
 * y is [N, C, ...], with an element for each window.
 */
#ifndef LPPOOL_SHAPES_H
#define LPPOOL_SHAPES_H

#include <string.h>

#include "../generated/lppool.h"

/* Returns an item of a list, or its only one. */
static inline int64_t lppool_size_item(const struct opkit_int32_array *list, size_t i)
{
    return list->items[list->count > 1 ? i : 0];
}

/* Returns the number of windows along a dimension of the image; 0: none fits, or invalid params. */
static int64_t lppool_windows(const struct lppool_params *params, int64_t image, size_t i)
{
    const int64_t stride = lppool_size_item(&params->strides, i);
    const int64_t dilation = lppool_size_item(&params->dilations, i);
    const int64_t extent = dilation * (params->kernel_shape.items[i] - 1) + 1;
    const bool is_valid = strcmp(params->auto_pad, "VALID") == 0;
    const int64_t before = is_valid ? 0 : lppool_size_item(&params->pads, i);
    const int64_t after =
        is_valid ? 0 : lppool_size_item(&params->pads, params->kernel_shape.count + i);

    if (stride < 1 || dilation < 1 || params->kernel_shape.items[i] < 1) {
        return 0;
    }
    if (strncmp(params->auto_pad, "SAME_", 5) == 0) {
        return (image + stride - 1) / stride;
    }
    const int64_t room = image + before + after - extent;
    const int64_t windows = room < 0 ? 0 : room / stride + 1;
    const bool is_partial = params->ceil_mode == 1 && room > 0 && room % stride != 0;
    return windows + (is_partial && windows * stride < image + before ? 1 : 0);
}

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *lppool_shapes(const struct lppool_inputs *inputs,
                                 const struct lppool_params *params, struct lppool_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->x;
    const size_t count = params->kernel_shape.count;

    if (x->rank < 3 || x->rank > 5) {
        return "x must be [N, C, ...], with 1 to 3 dimensions behind C";
    }
    if (count != x->rank - 2 || (params->strides.count != 1 && params->strides.count != count) ||
        (params->dilations.count != 1 && params->dilations.count != count) ||
        (params->pads.count != 1 && params->pads.count != 2 * count)) {
        return "kernel_shape, strides and dilations must have an item for each dimension, and pads "
               "two";
    }
    outputs->y.rank = x->rank;
    outputs->y.shape[0] = x->shape[0];
    outputs->y.shape[1] = x->shape[1];
    for (size_t i = 0; i < count; i++) {
        const int64_t windows = lppool_windows(params, (int64_t)x->shape[2 + i], i);

        if (windows < 1) {
            return "a window must fit into the image with its pads; kernel_shape, strides and "
                   "dilations must be above 0, and pads not negative";
        }
        outputs->y.shape[2 + i] = (size_t)windows;
    }
    return NULL;
}

#endif
