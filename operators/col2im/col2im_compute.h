/*
 * The math of Col2Im: images from their blocks.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in col2im_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16.
 *
 * A row of `input` has the elements at one place of all blocks. Along each dimension of the image,
 * the blocks whose element is within the image are a range, so that the inner loops have no
 * condition.
 */
#ifndef COL2IM_COMPUTE_H
#define COL2IM_COMPUTE_H

#include <string.h>

#include "generated/col2im.h"

enum {
    COL2IM_MAX_DIMENSIONS = OPKIT_MAX_RANK - 2, /* of the image */
    COL2IM_LANES = 4, /* pixels side by side */
    COL2IM_ELEMENTS = 64 /* of a block, whose ranges are found once for all images */
};

/* One dimension of the image. */
struct col2im_dimension {
    int64_t image; /* the size of the image */
    int64_t block; /* elements of a block */
    int64_t dilation;
    int64_t stride;
    int64_t pad; /* before the image */
    int64_t blocks;
    /* For the current element of the blocks: */
    int64_t shift; /* its place in the image in the first block */
    int64_t begin, end; /* blocks whose element is within the image */
};

struct col2im_layout {
    size_t count; /* of dimensions: at least 2 */
    struct col2im_dimension dimensions[COL2IM_MAX_DIMENSIONS];
    size_t elements; /* of a block */
    size_t blocks;
    size_t pixels; /* of the image */
};

/* Returns an item of a list, or its only one. */
static inline int64_t col2im_item(const struct opkit_int32_array *list, size_t i)
{
    return list->items[list->count > 1 ? i : 0];
}

/* Reads the params. Returns NULL, or an error message. */
static const char *col2im_read(const struct col2im_params *params, struct col2im_layout *layout)
{
    const size_t count = params->image_shape.count;

    if (count < 1 || count > COL2IM_MAX_DIMENSIONS || params->block_shape.count != count) {
        return "image_shape and block_shape must have the same count of items, 1 to 4";
    }
    if ((params->dilations.count != 1 && params->dilations.count != count) ||
        (params->strides.count != 1 && params->strides.count != count) ||
        (params->pads.count != 1 && params->pads.count != 2 * count)) {
        return "dilations and strides must have an item for each dimension, and pads two";
    }
    /* An image of 1 dimension is a row of an image of 2. */
    const struct col2im_dimension single = {1, 1, 1, 1, 0, 1, 0, 0, 0};
    const size_t first = count > 1 ? 0 : 1;
    layout->dimensions[0] = single;
    layout->count = first + count;
    layout->elements = layout->blocks = layout->pixels = 1;
    for (size_t i = 0; i < count; i++) {
        struct col2im_dimension *each = &layout->dimensions[first + i];
        const int64_t pad_after = col2im_item(&params->pads, count + i);

        each->image = params->image_shape.items[i];
        each->block = params->block_shape.items[i];
        each->dilation = col2im_item(&params->dilations, i);
        each->stride = col2im_item(&params->strides, i);
        each->pad = col2im_item(&params->pads, i);
        if (each->image < 1 || each->block < 1 || each->dilation < 1 || each->stride < 1 ||
            each->pad < 0 || pad_after < 0) {
            return "shapes, dilations and strides must be above 0, and pads not negative";
        }
        const int64_t extent = each->dilation * (each->block - 1) + 1;
        const int64_t room = each->image + each->pad + pad_after - extent;
        if (room < 0) {
            return "a block must fit into the image with its pads";
        }
        each->blocks = room / each->stride + 1;
        layout->elements *= (size_t)each->block;
        layout->blocks *= (size_t)each->blocks;
        layout->pixels *= (size_t)each->image;
    }
    return NULL;
}

/* Checks types and shapes; counts the channels of all images. Returns NULL, or an error message. */
static const char *col2im_check(const struct opkit_tensor *x, const struct opkit_tensor *y,
                                const struct col2im_layout *layout, size_t *channels)
{
    if (x->type != OPKIT_FLOAT32 || y->type != OPKIT_FLOAT32) {
        return "input and output must be float16 or float32";
    }
    if (x->rank != 3 || x->shape[1] % layout->elements != 0 || x->shape[2] != layout->blocks) {
        return "input must be [N, channels * elements of a block, blocks]";
    }
    *channels = x->shape[0] * (x->shape[1] / layout->elements);
    return y->size == *channels * layout->pixels ? NULL
                                                 : "output must be [N, channels, *image_shape]";
}

/* Finds the blocks whose element is within the image. Returns whether there are any. */
static bool col2im_find_blocks(struct col2im_layout *layout, size_t element)
{
    bool are_any = true;

    for (size_t i = layout->count; i-- > 0;) {
        struct col2im_dimension *each = &layout->dimensions[i];
        const int64_t place = (int64_t)(element % (size_t)each->block);

        element /= (size_t)each->block;
        each->shift = place * each->dilation - each->pad;
        each->begin = each->shift < 0 ? (-each->shift + each->stride - 1) / each->stride : 0;
        const int64_t last = each->image - 1 - each->shift;
        const int64_t end = last < 0 ? 0 : last / each->stride + 1;
        each->end = end < each->blocks ? end : each->blocks;
        are_any = are_any && each->begin < each->end;
    }
    return are_any;
}

/* Pixels side by side. */
typedef float col2im_vector __attribute__((vector_size(COL2IM_LANES * sizeof(float))));
typedef float col2im_pair __attribute__((vector_size(2 * sizeof(float))));

/* Defines a function that adds elements, as many as a vector has, to pixels. */
#define COL2IM_ADD(name, vector)                      \
    static inline void name(const float *x, float *y) \
    {                                                 \
        vector elements, pixels;                      \
                                                      \
        memcpy(&elements, x, sizeof elements);        \
        memcpy(&pixels, y, sizeof pixels);            \
        pixels += elements;                           \
        memcpy(y, &pixels, sizeof pixels);            \
    }

COL2IM_ADD(col2im_add_vector, col2im_vector)
COL2IM_ADD(col2im_add_pair, col2im_pair)

/* Adds a run of elements to pixels, `stride` apart. */
static inline void col2im_add(const float *x, float *y, size_t count, size_t stride)
{
    size_t i = 0;

    if (stride != 1) {
        for (; i < count; i++) {
            y[i * stride] += x[i];
        }
        return;
    }
    for (; i + 2 * COL2IM_LANES <= count; i += 2 * COL2IM_LANES) {
        col2im_add_vector(x + i, y + i);
        col2im_add_vector(x + i + COL2IM_LANES, y + i + COL2IM_LANES);
    }
    for (; i + COL2IM_LANES <= count; i += COL2IM_LANES) {
        col2im_add_vector(x + i, y + i);
    }
    /* Not in a loop, which clang would make longer than the rest is. */
    if (i + 2 <= count) {
        col2im_add_pair(x + i, y + i);
        i += 2;
    }
    if (i < count) {
        y[i] += x[i];
    }
}

/* Adds elements to the rows of a plane: the last two dimensions of the image. */
static void col2im_add_plane(const struct col2im_layout *layout, const float *x, float *y)
{
    const struct col2im_dimension *rows = &layout->dimensions[layout->count - 2];
    const struct col2im_dimension *columns = &layout->dimensions[layout->count - 1];
    /* In variables, because stores of pixels might change the layout, for all a compiler knows. */
    const size_t stride = (size_t)columns->stride, blocks = (size_t)columns->blocks;
    const size_t pitch = (size_t)(rows->stride * columns->image);
    size_t count = (size_t)(columns->end - columns->begin);
    size_t left = (size_t)(rows->end - rows->begin);

    x += rows->begin * columns->blocks + columns->begin;
    y += (rows->begin * rows->stride + rows->shift) * columns->image +
         columns->begin * columns->stride + columns->shift;
    if (count == blocks && count == pitch && stride == 1) { /* whole rows are side by side */
        count *= left;
        left = 1;
    }
    for (; left > 0; left--) {
        col2im_add(x, y, count, stride);
        x += blocks;
        y += pitch;
    }
}

/* Adds one row of input, the elements at one place of all blocks, to an image. */
static void col2im_add_row(const struct col2im_layout *layout, const float *x, float *y)
{
    const struct col2im_dimension *dimensions = layout->dimensions;
    const size_t planes = layout->count - 2; /* dimensions of planes */
    int64_t block[COL2IM_MAX_DIMENSIONS];
    size_t i;

    if (planes == 0) { /* as mostly: no places to find */
        col2im_add_plane(layout, x, y);
        return;
    }
    for (i = 0; i < planes; i++) {
        block[i] = dimensions[i].begin;
    }
    do {
        int64_t from = 0, to = 0; /* the first element and pixel of a plane */

        for (i = 0; i < layout->count; i++) {
            const int64_t place = i < planes ? block[i] : 0;
            const int64_t shift = i < planes ? dimensions[i].shift : 0;

            from = from * dimensions[i].blocks + place;
            to = to * dimensions[i].image + place * dimensions[i].stride + shift;
        }
        col2im_add_plane(layout, x + from, y + to);
        for (i = planes; i > 0 && ++block[i - 1] == dimensions[i - 1].end; i--) {
            block[i - 1] = dimensions[i - 1].begin;
        }
    } while (i > 0);
}

/*
 * Computes the outputs:
 *
 *   inputs->input          [N, channels * elements of a block, blocks]
 *   params->image_shape    the size of the image
 *   params->block_shape    the size of a block, without dilations
 *   params->dilations      the distances of a block's elements
 *   params->pads           elements of blocks beyond the image, before and then after
 *   params->strides        the distances of blocks
 *   outputs->output        [N, channels, *image_shape]
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *col2im_compute(const struct col2im_inputs *inputs,
                                  const struct col2im_params *params,
                                  struct col2im_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->input;
    const struct opkit_tensor *y = &outputs->output;
    struct col2im_layout layout;
    size_t channels;

    const char *problem = col2im_read(params, &layout);
    if (problem == NULL) {
        problem = col2im_check(x, y, &layout, &channels);
    }
    if (problem != NULL) {
        return problem;
    }

    struct col2im_layout found[COL2IM_ELEMENTS];
    bool are_any[COL2IM_ELEMENTS];
    for (size_t first = 0; first < layout.elements; first += COL2IM_ELEMENTS) {
        const size_t rest = layout.elements - first, limit = COL2IM_ELEMENTS;
        const size_t count = rest < limit ? rest : limit;

        for (size_t i = 0; i < count; i++) {
            found[i] = layout;
            are_any[i] = col2im_find_blocks(&found[i], first + i);
        }
        for (size_t channel = 0; channel < channels; channel++) {
            const float *rows = x->float32 + (channel * layout.elements + first) * layout.blocks;
            float *image = y->float32 + channel * layout.pixels; /* stays in the cache */

            if (first == 0) {
                memset(image, 0, layout.pixels * sizeof *image);
            }
            for (size_t i = 0; i < count; i++) {
                if (are_any[i]) {
                    col2im_add_row(&found[i], rows + i * layout.blocks, image);
                }
            }
        }
    }
    return NULL;
}

#endif
