/*
 * Convolutions of images of 8-bit integers with zero points, block by block.
 *
 * The left matrix of a product is that of the kernels, a row for each output channel; the right one
 * has a column for each window, which is copied from the image block by block. Numbers of a window
 * that are outside of the image add nothing.
 *
 * Plain C11 and C++11.
 */
#ifndef OPKIT_INTEGER_CONV_H
#define OPKIT_INTEGER_CONV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "elementwise.h"
#include "integer_matmul.h"
#include "processor.h"
#include "tensor.h"

enum {
    OPKIT_CONV_DIMENSIONS = 3, /* of an image; those in front of a smaller one are 1 */
    OPKIT_CONV_LAST = OPKIT_CONV_DIMENSIONS - 1,
    OPKIT_CONV_PIECES = OPKIT_MATMUL_STEP * OPKIT_MATMUL_COLUMNS /* those of a step always fit */
};

/* The attributes of ONNX's convolutions; a list of one item is for all dimensions. */
struct opkit_conv_params {
    struct opkit_int32_array kernel_shape; /* one item of 0: that of w */
    struct opkit_int32_array strides, dilations;
    struct opkit_int32_array pads; /* before each dimension, then after each */
    const char *auto_pad; /* "NOTSET", "VALID", "SAME_UPPER" or "SAME_LOWER" */
    int64_t group;
};

/* One dimension of the image. */
struct opkit_conv_dimension {
    int64_t image; /* its size */
    int64_t kernel;
    int64_t stride;
    int64_t dilation;
    int64_t pad; /* before the image */
    int64_t windows;
};

/* A convolution. */
struct opkit_conv {
    struct opkit_conv_dimension dimensions[OPKIT_CONV_DIMENSIONS];
    size_t images, groups;
    size_t channels; /* of the image, in a group */
    size_t kernels; /* output channels, in a group */
    size_t image, windows, terms; /* elements of a channel, windows in it, numbers of a kernel */
    size_t positions; /* numbers of a kernel in a channel */
    size_t columns; /* windows of a block */
    size_t size; /* of x */
    struct opkit_bytes x, w;
    struct opkit_zero_points x_zeros, w_zeros;
    struct opkit_tile tile;
};

/* Windows of a block that are neighbors along the last dimension. */
struct opkit_conv_run {
    int64_t first[OPKIT_CONV_DIMENSIONS]; /* the place of the first window's first number */
    size_t column, count;
};

/* The output channels and windows of a block, and its sums; see opkit_run_conv. */
struct opkit_conv_block {
    struct opkit_integer_block sums;
    size_t image, kernel, window; /* of the first sum: kernel counts all groups */
};

static inline int64_t opkit_conv_item(const struct opkit_int32_array *list, size_t i)
{
    return list->items[list->count > 1 ? i : 0];
}

/*
 * Computes windows and pad of a dimension; `pad_after` is behind the image. Returns whether a
 * window fits into the padded image.
 */
static inline bool opkit_place_windows(struct opkit_conv_dimension *each, int64_t pad_after,
                                       const char *auto_pad)
{
    const int64_t extent = each->dilation * (each->kernel - 1) + 1;

    if (strncmp(auto_pad, "SAME_", 5) == 0) {
        each->windows = (each->image + each->stride - 1) / each->stride;
        const int64_t pads = (each->windows - 1) * each->stride + extent - each->image;
        const int64_t total = pads > 0 ? pads : 0; /* strides may be larger than windows */
        each->pad = strcmp(auto_pad, "SAME_UPPER") == 0 ? total / 2 : (total + 1) / 2;
        return each->windows > 0;
    }
    if (strcmp(auto_pad, "VALID") == 0) {
        each->pad = pad_after = 0;
    }
    const int64_t room = each->image + each->pad + pad_after - extent;
    each->windows = room / each->stride + 1;
    return room >= 0;
}

/* Reads the dimensions. Returns NULL, or an error message. */
static inline const char *opkit_read_conv(struct opkit_conv *conv, const struct opkit_tensor *x,
                                          const struct opkit_tensor *w,
                                          const struct opkit_conv_params *params)
{
    const struct opkit_conv_dimension single = {1, 1, 1, 1, 0, 1};
    const struct opkit_int32_array *shape = &params->kernel_shape, *pads = &params->pads;
    const bool has_shape = shape->count != 1 || shape->items[0] != 0;
    const size_t count = x->rank - 2;

    if (x->rank < 3 || count > OPKIT_CONV_DIMENSIONS || w->rank != x->rank) {
        return "x must be [N, C, ...], with 1 to 3 dimensions behind C, and w [M, C / group, ...]";
    }
    if (params->group < 1 || w->shape[1] * (size_t)params->group != x->shape[1] ||
        w->shape[0] % (size_t)params->group != 0) {
        return "group must divide C and M, and w must be [M, C / group, ...]";
    }
    if ((has_shape && shape->count != count) ||
        (params->strides.count != 1 && params->strides.count != count) ||
        (params->dilations.count != 1 && params->dilations.count != count) ||
        (pads->count != 1 && pads->count != 2 * count)) {
        return "kernel_shape, strides and dilations must have an item for each dimension, and pads "
               "two";
    }
    if (strcmp(params->auto_pad, "NOTSET") != 0 && strcmp(params->auto_pad, "VALID") != 0 &&
        strcmp(params->auto_pad, "SAME_UPPER") != 0 &&
        strcmp(params->auto_pad, "SAME_LOWER") != 0) {
        return "auto_pad must be NOTSET, VALID, SAME_UPPER or SAME_LOWER";
    }
    conv->images = x->shape[0];
    conv->groups = (size_t)params->group;
    conv->channels = w->shape[1];
    conv->kernels = w->shape[0] / conv->groups;
    conv->image = conv->windows = conv->positions = 1;
    for (size_t i = 0; i < OPKIT_CONV_DIMENSIONS; i++) {
        conv->dimensions[i] = single;
    }
    for (size_t i = 0; i < count; i++) {
        struct opkit_conv_dimension *each = &conv->dimensions[OPKIT_CONV_DIMENSIONS - count + i];
        const int64_t pad_after = opkit_conv_item(pads, count + i);

        each->image = (int64_t)x->shape[2 + i];
        each->kernel = (int64_t)w->shape[2 + i];
        each->stride = opkit_conv_item(&params->strides, i);
        each->dilation = opkit_conv_item(&params->dilations, i);
        each->pad = opkit_conv_item(pads, i);
        if (has_shape && shape->items[i] != each->kernel) {
            return "kernel_shape must be the shape of w behind its channels";
        }
        if (each->kernel < 1 || each->stride < 1 || each->dilation < 1 || each->pad < 0 ||
            pad_after < 0) {
            return "w, strides and dilations must be above 0, and pads not negative";
        }
        if (!opkit_place_windows(each, pad_after, params->auto_pad)) {
            return "a window must fit into the image with its pads";
        }
        conv->image *= (size_t)each->image;
        conv->windows *= (size_t)each->windows;
        conv->positions *= (size_t)each->kernel;
    }
    conv->terms = conv->channels * conv->positions;
    /* Windows are copied row by row: rather whole rows, if they nearly fill a block. */
    const size_t row = (size_t)conv->dimensions[OPKIT_CONV_LAST].windows;
    const size_t all = OPKIT_MATMUL_COLUMNS, whole = all / row * row;
    conv->columns = whole > all * 3 / 4 ? whole : all;
    return NULL;
}

/* Sets the shape of the output, [N, M, ...], with an element for each window. */
static inline void opkit_set_conv_shape(const struct opkit_conv *conv, const struct opkit_tensor *x,
                                        struct opkit_tensor *y)
{
    y->rank = x->rank;
    y->shape[0] = conv->images;
    y->shape[1] = conv->groups * conv->kernels;
    for (size_t i = 2; i < x->rank; i++) {
        const size_t dimension = OPKIT_CONV_DIMENSIONS - x->rank + i;

        y->shape[i] = (size_t)conv->dimensions[dimension].windows;
    }
}

/*
 * Checks the tensors of a convolution, and plans it. Zero points are of the types of x and w: one
 * number, and of w also one for each output channel. Returns NULL, or an error message.
 */
static inline const char *
opkit_plan_conv(struct opkit_conv *conv, const struct opkit_tensor *x, const struct opkit_tensor *w,
                const struct opkit_tensor *x_zero, const struct opkit_tensor *w_zeros,
                const struct opkit_tensor *y, const struct opkit_conv_params *params)
{
    if (!opkit_holds_bytes(x) || !opkit_holds_bytes(w)) {
        return "x and w must be int8 or uint8";
    }
    if (x_zero->type != x->type || w_zeros->type != w->type) {
        return "zero points must be of the types of x and w";
    }
    const char *problem = opkit_read_conv(conv, x, w, params);
    if (problem != NULL) {
        return problem;
    }
    if (x_zero->size != 1 || !opkit_are_zeros_of(w_zeros, w->shape[0])) {
        return "x_zero_point must be one number, and w_zero_point one or [M]";
    }
    if (y->size != conv->images * conv->groups * conv->kernels * conv->windows) {
        return "y must be [N, M, ...], with an element for each window";
    }
    conv->x = opkit_bytes_of(x, 0);
    conv->w = opkit_bytes_of(w, 0);
    conv->size = x->size;
    conv->x_zeros = opkit_zeros_of(x_zero);
    conv->w_zeros = opkit_zeros_of(w_zeros);
    conv->tile = opkit_find_tile();
    if (conv->tile.small != NULL && opkit_are_small(&conv->w, w->size)) {
        conv->tile = conv->tile.small[1];
    }
    return NULL;
}

/* Splits the windows of a block into runs. Returns their count. */
static inline size_t opkit_conv_runs(const struct opkit_conv *conv, size_t window, size_t columns,
                                     struct opkit_conv_run *runs)
{
    size_t count = 0;

    for (size_t column = 0; column < columns; column += runs[count++].count) {
        struct opkit_conv_run *run = &runs[count];
        size_t place = window + column;

        for (size_t i = OPKIT_CONV_DIMENSIONS; i-- > 0;) {
            const struct opkit_conv_dimension *each = &conv->dimensions[i];
            const size_t windows = (size_t)each->windows, at = place % windows;

            run->first[i] = (int64_t)at * each->stride - each->pad;
            place /= windows;
            if (i == OPKIT_CONV_LAST) {
                run->count = opkit_matmul_min(windows - at, columns - column);
            }
        }
        run->column = column;
    }
    return count;
}

/* A number of a kernel. */
struct opkit_conv_term {
    int64_t at[OPKIT_CONV_DIMENSIONS];
    int64_t shift[OPKIT_CONV_DIMENSIONS]; /* from a window's first place */
    size_t index; /* in its channel */
    size_t channel; /* in the group */
};

/* Goes to the next number of a kernel. */
static inline void opkit_next_term(const struct opkit_conv *conv, struct opkit_conv_term *term)
{
    term->index++;
    for (size_t i = OPKIT_CONV_DIMENSIONS; i-- > 0;) {
        term->shift[i] += conv->dimensions[i].dilation;
        if (++term->at[i] < conv->dimensions[i].kernel) {
            return;
        }
        term->at[i] = term->shift[i] = 0;
    }
    term->index = 0;
    term->channel++;
}

/* The windows of a run whose number is inside of the image, for a number of a kernel. */
struct opkit_conv_piece {
    int64_t from; /* the index of the first one's number in its channel */
    int32_t begin, end; /* in the run; none: 0 and 0 */
};

/* Returns the piece of a run. */
OPKIT_ELEMENT_LOOP struct opkit_conv_piece opkit_find_piece(const struct opkit_conv *conv,
                                                            const struct opkit_conv_run *run,
                                                            const struct opkit_conv_term *term)
{
    const struct opkit_conv_dimension *last = &conv->dimensions[OPKIT_CONV_LAST];
    const int64_t stride = last->stride, count = (int64_t)run->count;
    const int64_t slice = run->first[0] + term->shift[0], row = run->first[1] + term->shift[1];
    const int64_t at = run->first[OPKIT_CONV_LAST] + term->shift[OPKIT_CONV_LAST];
    const int64_t slices = conv->dimensions[0].image, rows = conv->dimensions[1].image;
    int64_t begin = at < 0 ? -at : 0, end = at < last->image ? last->image - at : 0;
    struct opkit_conv_piece piece = {0, 0, 0};

    if (stride > 1) {
        begin = (begin + stride - 1) / stride;
        end = (end + stride - 1) / stride;
    }
    end = end < count ? end : count;
    if (slice >= 0 && slice < slices && row >= 0 && row < rows && begin < end) {
        piece.from = (slice * rows + row) * last->image + at + begin * stride;
        piece.begin = (int32_t)begin;
        piece.end = (int32_t)end;
    }
    return piece;
}

/* Numbers of a kernel that are copied at a time. */
struct opkit_conv_step {
    size_t channels[OPKIT_MATMUL_STEP]; /* where their channels begin in x */
    const struct opkit_conv_piece *pieces[OPKIT_MATMUL_STEP]; /* of all runs */
};

/*
 * Goes to the next step. Pieces are the same in all channels: those of the first one are kept if
 * there is room for all.
 */
OPKIT_ELEMENT_LOOP void opkit_next_step(const struct opkit_conv *conv, size_t first,
                                        const struct opkit_conv_run *runs, size_t run_count,
                                        struct opkit_conv_term *term, size_t count,
                                        struct opkit_conv_piece *pieces,
                                        struct opkit_conv_step *step)
{
    const bool are_kept = conv->positions * run_count <= OPKIT_CONV_PIECES;

    for (size_t k = 0; k < count; k++) {
        struct opkit_conv_piece *own = pieces + (are_kept ? term->index : k) * run_count;

        for (size_t i = 0; i < run_count && !(are_kept && term->channel > 0); i++) {
            own[i] = opkit_find_piece(conv, &runs[i], term);
        }
        step->pieces[k] = own;
        step->channels[k] = first + term->channel * conv->image;
        opkit_next_term(conv, term);
    }
}

/*
 * Copies numbers of each window. Up to OPKIT_MATMUL_COLUMNS of a run are written: copies of a
 * fixed size are fast.
 */
OPKIT_ELEMENT_LOOP void opkit_copy_image(const struct opkit_conv *conv, size_t stride,
                                         const struct opkit_conv_run *runs, size_t run_count,
                                         const struct opkit_conv_step *step, size_t count,
                                         const uint8_t *zeros, struct opkit_integer_rows *rows)
{
    const uint8_t *x = conv->x.data;
    const size_t size = conv->size;

    for (size_t i = 0; i < run_count; i++) {
        const size_t windows = runs[i].count, column = runs[i].column;

        for (size_t k = 0; k < count; k++) {
            const struct opkit_conv_piece *piece = &step->pieces[k][i];
            const size_t from = step->channels[k] + (size_t)piece->from;
            const size_t begin = (size_t)piece->begin, end = (size_t)piece->end;
            uint8_t *to = rows->numbers[k] + column;

            if (begin > 0) {
                memcpy(to, zeros, OPKIT_MATMUL_COLUMNS);
            }
            if (stride == 1 && from + OPKIT_MATMUL_COLUMNS <= size) {
                memcpy(to + begin, x + from, OPKIT_MATMUL_COLUMNS);
            } else {
                for (size_t j = begin; j < end; j++) {
                    to[j] = x[from + (j - begin) * stride];
                }
            }
            if (end < windows) {
                memcpy(to + end, zeros, OPKIT_MATMUL_COLUMNS);
            }
        }
    }
}

/* Computes the sums of a block: its kernels and windows from the given ones on, in a group. */
OPKIT_ELEMENT_LOOP void opkit_conv_block_loop(const struct opkit_conv *conv, size_t image,
                                              size_t group, size_t kernel, size_t window,
                                              struct opkit_integer_block *block)
{
    const size_t first = (image * conv->groups + group) * conv->channels * conv->image;
    const size_t row = group * conv->kernels + kernel;
    const size_t stride = (size_t)conv->dimensions[OPKIT_CONV_LAST].stride;
    struct opkit_conv_run runs[OPKIT_MATMUL_COLUMNS];
    struct opkit_conv_piece pieces[OPKIT_CONV_PIECES];
    struct opkit_conv_step step;
    struct opkit_conv_term term = {{0, 0, 0}, {0, 0, 0}, 0, 0};
    struct opkit_integer_product product;
    struct opkit_integer_rows rows;

    product.left = conv->w;
    product.right = conv->x;
    product.row_zeros = conv->w_zeros;
    product.column_zeros = conv->x_zeros;
    product.terms = conv->terms;
    product.tile = conv->tile;
    block->rows = opkit_matmul_min(conv->kernels - kernel, OPKIT_MATMUL_ROWS);
    block->columns = opkit_matmul_min(conv->windows - window, conv->columns);
    opkit_begin_block(&product, row, 0, block);
    memset(&rows, 0, sizeof rows);
    const size_t run_count = opkit_conv_runs(conv, window, block->columns, runs);
    for (size_t place = 0; place < conv->terms; place += block->terms) {
        const size_t terms = opkit_matmul_min(conv->terms - place, block->terms);

        for (size_t k = 0; k < terms; k += OPKIT_MATMUL_STEP) {
            const size_t count = opkit_matmul_min(terms - k, OPKIT_MATMUL_STEP);

            opkit_next_step(conv, first, runs, run_count, &term, count, pieces, &step);
            if (stride == 1) { /* known to the compiler */
                opkit_copy_image(conv, 1, runs, run_count, &step, count, block->zeros, &rows);
            } else {
                opkit_copy_image(conv, stride, runs, run_count, &step, count, block->zeros, &rows);
            }
            opkit_pack_rows(&rows, &product.right, k, count, block);
        }
        opkit_add_products(&product, row, place, terms, block);
    }
    if (block->tile.add != NULL) {
        opkit_remove_zeros(&product, row, block);
    }
}
OPKIT_WIDEST(opkit_conv_block_loop,
             (const struct opkit_conv *conv, size_t image, size_t group, size_t kernel,
              size_t window, struct opkit_integer_block *block),
             (conv, image, group, kernel, window, block))

/* Returns the count of blocks. */
static inline size_t opkit_conv_blocks(const struct opkit_conv *conv)
{
    const size_t rows = (conv->kernels + OPKIT_MATMUL_ROWS - 1) / OPKIT_MATMUL_ROWS;
    const size_t columns = (conv->windows + conv->columns - 1) / conv->columns;

    return conv->images * conv->groups * rows * columns;
}

/*
 * Computes the sums of a block, by its index: those of an output channel are neighbors, and
 * OPKIT_MATMUL_COLUMNS from those of the next one.
 */
static inline void opkit_run_conv(const struct opkit_conv *conv, size_t index,
                                  struct opkit_conv_block *block)
{
    const size_t columns = (conv->windows + conv->columns - 1) / conv->columns;
    const size_t rows = (conv->kernels + OPKIT_MATMUL_ROWS - 1) / OPKIT_MATMUL_ROWS;
    const size_t kernel = index / columns % rows * OPKIT_MATMUL_ROWS;
    const size_t group = index / columns / rows % conv->groups;

    block->image = index / columns / rows / conv->groups;
    block->kernel = group * conv->kernels + kernel;
    block->window = index % columns * conv->columns;
    opkit_conv_block_loop_widest(conv, block->image, group, kernel, block->window, &block->sums);
}

/* Returns the index in the output of the first element of a row of a block's sums. */
static inline size_t opkit_conv_place(const struct opkit_conv *conv,
                                      const struct opkit_conv_block *block, size_t row)
{
    const size_t all = conv->groups * conv->kernels;

    return (block->image * all + block->kernel + row) * conv->windows + block->window;
}

#endif
