/*
 * Products of matrices of 8-bit integers with zero points, block by block.
 *
 * A block's numbers are copied without their zero points, as 16-bit integers: a row of the left
 * matrix and a column of the right one are neighbors in memory then, which compilers multiply and
 * add pairwise. Sums have 32 bits, and wrap around.
 *
 * Plain C11 and C++11.
 */
#ifndef OPKIT_INTEGER_MATMUL_H
#define OPKIT_INTEGER_MATMUL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "elementwise.h"
#include "processor.h"
#include "tensor.h"

enum {
    OPKIT_MATMUL_ROWS = 128, /* of a block, at most */
    OPKIT_MATMUL_COLUMNS = 64,
    OPKIT_MATMUL_TERMS = 256, /* that are added at a time */
    OPKIT_MATMUL_LANES = 32 /* terms are filled up to a multiple of it */
};

/* Numbers of 8 bits. */
struct opkit_bytes {
    const uint8_t *data;
    bool is_signed;
};

/* Zero points: one for all rows or columns, or one for each. */
struct opkit_zero_points {
    struct opkit_bytes numbers;
    size_t step; /* from one to the next: 0 or 1 */
};

/* A product of two dense matrices: the rows of the left one by the columns of the right one. */
struct opkit_integer_product {
    struct opkit_bytes left, right;
    struct opkit_zero_points row_zeros, column_zeros;
    size_t rows, columns, terms;
};

/* The copied numbers of a block, and its sums. */
struct opkit_integer_block {
    size_t rows, columns;
    int16_t left[OPKIT_MATMUL_TERMS];
    int16_t right[OPKIT_MATMUL_COLUMNS * OPKIT_MATMUL_TERMS];
    int32_t sums[OPKIT_MATMUL_ROWS * OPKIT_MATMUL_COLUMNS];
};

/* Returns whether a tensor has integers of 8 bits. */
static inline bool opkit_holds_bytes(const struct opkit_tensor *tensor)
{
    return tensor->type == OPKIT_INT8 || tensor->type == OPKIT_UINT8;
}

/* Returns the numbers of a tensor, from the given one on. */
static inline struct opkit_bytes opkit_bytes_of(const struct opkit_tensor *tensor, size_t first)
{
    struct opkit_bytes bytes;

    bytes.data = tensor->uint8 + first;
    bytes.is_signed = tensor->type == OPKIT_INT8;
    return bytes;
}

/* Returns whether a tensor is one zero point, or a list of `count`. */
static inline bool opkit_are_zeros_of(const struct opkit_tensor *tensor, size_t count)
{
    return tensor->size == 1 || (tensor->rank == 1 && tensor->size == count);
}

/* Returns zero points: those of a tensor of one are the same everywhere. */
static inline struct opkit_zero_points opkit_zeros_of(const struct opkit_tensor *tensor)
{
    struct opkit_zero_points zeros;

    zeros.numbers = opkit_bytes_of(tensor, 0);
    zeros.step = tensor->size == 1 ? 0 : 1;
    return zeros;
}

static inline int32_t opkit_byte(const struct opkit_bytes *bytes, size_t i)
{
    return bytes->is_signed ? (int8_t)bytes->data[i] : bytes->data[i];
}

static inline size_t opkit_matmul_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Copies numbers without their zero point; `step` is the distance of the copies. */
OPKIT_ELEMENT_LOOP void opkit_copy_bytes(const struct opkit_bytes *from, size_t first, size_t count,
                                         int32_t zero, int16_t *to)
{
    if (from->is_signed) {
        for (size_t i = 0; i < count; i++) {
            to[i] = (int16_t)((int8_t)from->data[first + i] - zero);
        }
    } else {
        for (size_t i = 0; i < count; i++) {
            to[i] = (int16_t)(from->data[first + i] - zero);
        }
    }
}

/* Copies some terms of a row; further ones are 0. */
OPKIT_ELEMENT_LOOP void opkit_copy_left(const struct opkit_integer_product *product, size_t row,
                                        size_t term, size_t terms, int16_t *left)
{
    const struct opkit_zero_points *zeros = &product->row_zeros;
    const int32_t zero = opkit_byte(&zeros->numbers, row * zeros->step);

    memset(left, 0, OPKIT_MATMUL_TERMS * sizeof *left);
    opkit_copy_bytes(&product->left, row * product->terms + term, terms, zero, left);
}

/* Copies some terms of a block's columns; further columns and terms are 0. */
OPKIT_ELEMENT_LOOP void opkit_copy_right(const struct opkit_integer_product *product, size_t column,
                                         size_t columns, size_t term, size_t terms, int16_t *right)
{
    int16_t zeros[OPKIT_MATMUL_COLUMNS], row[OPKIT_MATMUL_COLUMNS];
    const struct opkit_zero_points *own = &product->column_zeros;

    memset(right, 0, OPKIT_MATMUL_COLUMNS * OPKIT_MATMUL_TERMS * sizeof *right);
    for (size_t i = 0; i < columns; i++) {
        zeros[i] = (int16_t)opkit_byte(&own->numbers, (column + i) * own->step);
    }
    for (size_t k = 0; k < terms; k++) {
        opkit_copy_bytes(&product->right, (term + k) * product->columns + column, columns, 0, row);
        for (size_t i = 0; i < columns; i++) {
            right[i * OPKIT_MATMUL_TERMS + k] = (int16_t)(row[i] - zeros[i]);
        }
    }
}

/*
 * Returns the sum of up to OPKIT_MATMUL_TERMS products, of at most 2^16 each. Compilers multiply
 * and add pairs in one instruction, but only where a loop has a single sum.
 */
OPKIT_ELEMENT_LOOP int32_t opkit_dot(const int16_t *left, const int16_t *right, size_t terms)
{
    int32_t sum = 0;

    for (size_t k = 0; k < terms; k++) {
        sum += left[k] * right[k];
    }
    return sum;
}

/* Returns so many terms, filled up to whole vectors. */
static inline size_t opkit_filled(size_t terms)
{
    return (terms + OPKIT_MATMUL_LANES - 1) / OPKIT_MATMUL_LANES * OPKIT_MATMUL_LANES;
}

/* Adds some products to the sums of a block, by its copied columns and the rows from `row` on. */
OPKIT_ELEMENT_LOOP void opkit_add_products(const struct opkit_integer_product *product, size_t row,
                                           size_t term, size_t terms,
                                           struct opkit_integer_block *block)
{
    const size_t filled = opkit_filled(terms);

    for (size_t i = 0; i < block->rows; i++) {
        int32_t *sums = block->sums + i * OPKIT_MATMUL_COLUMNS;

        opkit_copy_left(product, row + i, term, terms, block->left);
        for (size_t j = 0; j < block->columns; j++) {
            const int16_t *right = block->right + j * OPKIT_MATMUL_TERMS;
            const int32_t sum = opkit_dot(block->left, right, filled);

            sums[j] = (int32_t)((uint32_t)sums[j] + (uint32_t)sum);
        }
    }
}

/* Computes the sums of a block from the given row and column on. */
OPKIT_ELEMENT_LOOP void opkit_compute_block(const struct opkit_integer_product *product, size_t row,
                                            size_t column, struct opkit_integer_block *block)
{
    block->rows = opkit_matmul_min(product->rows - row, OPKIT_MATMUL_ROWS);
    block->columns = opkit_matmul_min(product->columns - column, OPKIT_MATMUL_COLUMNS);
    memset(block->sums, 0, sizeof block->sums);
    for (size_t term = 0; term < product->terms; term += OPKIT_MATMUL_TERMS) {
        const size_t terms = opkit_matmul_min(product->terms - term, OPKIT_MATMUL_TERMS);

        opkit_copy_right(product, column, block->columns, term, terms, block->right);
        opkit_add_products(product, row, term, terms, block);
    }
}

OPKIT_LOOP void opkit_integer_block_baseline(const struct opkit_integer_product *product,
                                             size_t row, size_t column,
                                             struct opkit_integer_block *block)
{
    opkit_compute_block(product, row, column, block);
}

#if defined(OPKIT_AVX2)
OPKIT_AVX2 OPKIT_LOOP void opkit_integer_block_avx2(const struct opkit_integer_product *product,
                                                    size_t row, size_t column,
                                                    struct opkit_integer_block *block)
{
    opkit_compute_block(product, row, column, block);
}
#endif

/*
 * Computes the sums of a block from the given row and column on: those of a row are neighbors, and
 * OPKIT_MATMUL_COLUMNS from those of the next one.
 */
static inline void opkit_multiply_block(const struct opkit_integer_product *product, size_t row,
                                        size_t column, struct opkit_integer_block *block)
{
#if defined(OPKIT_AVX2)
    if (opkit_has_avx2()) {
        opkit_integer_block_avx2(product, row, column, block);
        return;
    }
#endif
    opkit_integer_block_baseline(product, row, column, block);
}

/* Products of the matrices of two tensors, which are broadcast as by numpy's matmul. */
struct opkit_matmul {
    struct opkit_integer_product product; /* without the matrices' numbers */
    const struct opkit_tensor *a, *b, *y;
    size_t matrices, row_blocks, column_blocks; /* the blocks are those of a matrix */
};

/* Sets the shape of the products. Returns false if the matrices do not fit. */
OPKIT_SMALL bool opkit_matmul_shape(const struct opkit_tensor *a, const struct opkit_tensor *b,
                                    struct opkit_tensor *y)
{
    struct opkit_tensor left = *a, right = *b;
    const struct opkit_tensor *const batches[] = {&left, &right};

    if (a->rank < 2 || b->rank < 2 || a->shape[a->rank - 1] != b->shape[b->rank - 2]) {
        return false;
    }
    left.rank -= 2;
    right.rank -= 2;
    if (!opkit_broadcast_shapes(batches, 2, y)) {
        return false;
    }
    y->shape[y->rank++] = a->shape[a->rank - 2];
    y->shape[y->rank++] = b->shape[b->rank - 1];
    return true;
}

/* Returns whether y has the shape of the products. */
static inline bool opkit_is_matmul_of(const struct opkit_tensor *y, const struct opkit_tensor *a,
                                      const struct opkit_tensor *b)
{
    struct opkit_tensor wanted;

    if (!opkit_matmul_shape(a, b, &wanted) || wanted.rank != y->rank) {
        return false;
    }
    for (size_t axis = 0; axis < y->rank; axis++) {
        if (wanted.shape[axis] != y->shape[axis]) {
            return false;
        }
    }
    return true;
}

/*
 * Plans the products of tensors that fit. Zero points are one number each, or one for each row of a
 * and for each column of b.
 */
static inline void opkit_plan_matmul(struct opkit_matmul *plan, const struct opkit_tensor *a,
                                     const struct opkit_tensor *b, const struct opkit_tensor *y,
                                     const struct opkit_tensor *a_zeros,
                                     const struct opkit_tensor *b_zeros)
{
    struct opkit_integer_product *product = &plan->product;

    plan->a = a;
    plan->b = b;
    plan->y = y;
    product->row_zeros = opkit_zeros_of(a_zeros);
    product->column_zeros = opkit_zeros_of(b_zeros);
    product->terms = b->shape[b->rank - 2];
    product->columns = b->shape[b->rank - 1];
    product->rows = y->shape[y->rank - 2];
    if (b->rank == 2 && product->row_zeros.step == 0) {
        product->rows = product->columns > 0 ? y->size / product->columns : 0; /* of all matrices */
    }
    const size_t size = product->rows * product->columns;
    plan->matrices = size > 0 ? y->size / size : 0;
    plan->row_blocks = (product->rows + OPKIT_MATMUL_ROWS - 1) / OPKIT_MATMUL_ROWS;
    plan->column_blocks = (product->columns + OPKIT_MATMUL_COLUMNS - 1) / OPKIT_MATMUL_COLUMNS;
}

/* Returns the count of blocks in all products. */
static inline size_t opkit_matmul_blocks(const struct opkit_matmul *plan)
{
    return plan->matrices * plan->row_blocks * plan->column_blocks;
}

/* Returns the index of the tensor's matrix for a matrix of y. */
static inline size_t opkit_matrix_of(const struct opkit_tensor *x, const struct opkit_tensor *y,
                                     size_t matrix)
{
    size_t found = 0, step = 1;

    for (size_t axis = 3; axis <= y->rank; axis++) { /* from the last one before the matrices */
        const size_t side = y->shape[y->rank - axis];
        const size_t own = axis <= x->rank ? x->shape[x->rank - axis] : 1;

        found += own > 1 ? matrix % side * step : 0;
        step *= own;
        matrix /= side;
    }
    return found;
}

/*
 * Computes the sums of a block, by its index in all products. Returns the index in y of its first
 * element, and sets its first column.
 */
static inline size_t opkit_run_matmul(const struct opkit_matmul *plan, size_t index,
                                      struct opkit_integer_block *block, size_t *column)
{
    struct opkit_integer_product product = plan->product;
    const size_t matrix = index / plan->column_blocks / plan->row_blocks;
    const size_t row = index / plan->column_blocks % plan->row_blocks * OPKIT_MATMUL_ROWS;
    const size_t left = opkit_matrix_of(plan->a, plan->y, matrix);
    const size_t right = opkit_matrix_of(plan->b, plan->y, matrix);

    *column = index % plan->column_blocks * OPKIT_MATMUL_COLUMNS;
    product.left = opkit_bytes_of(plan->a, left * product.rows * product.terms);
    product.right = opkit_bytes_of(plan->b, right * product.terms * product.columns);
    opkit_multiply_block(&product, row, *column, block);
    return (matrix * product.rows + row) * product.columns + *column;
}

#endif
