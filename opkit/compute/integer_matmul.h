/*
 * Products of matrices of 8-bit integers with zero points, block by block. Sums have 32 bits, and
 * wrap around.
 *
 * Where the processor has an instruction for it, the numbers are multiplied as they are (see
 * integer_tile.h), and the zero points leave the sums by the sums of rows and columns. Elsewhere a
 * block's numbers are copied without zero points, as 16-bit integers: a row of the left matrix and
 * a column of the right one are neighbors in memory then, which compilers multiply and add
 * pairwise.
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
#include "integer_tile.h"
#include "processor.h"
#include "tensor.h"

enum {
    OPKIT_MATMUL_ROWS = 128, /* of a block, at most */
    OPKIT_MATMUL_COLUMNS = OPKIT_TILE_COLUMNS,
    OPKIT_MATMUL_TERMS = 2 * OPKIT_TILE_WORDS, /* of 16 bits, that are added at a time */
    OPKIT_MATMUL_LANES = 32, /* terms are filled up to a multiple of it */
    OPKIT_MATMUL_STEP = 16, /* terms that are copied at a time */
    OPKIT_MATMUL_NARROW = 8 /* fewer columns are not worth a panel */
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
    struct opkit_tile tile; /* for all numbers of both */
};

/* The copied numbers of a block, and its sums. Set `summed` to NULL before the first block. */
struct opkit_integer_block {
    struct opkit_tile tile; /* `add` is NULL: numbers are copied without zero points */
    size_t rows, columns;
    size_t terms; /* that are added at a time, at most */
    uint8_t zeros[OPKIT_MATMUL_COLUMNS]; /* of the columns */
    const uint8_t *summed; /* the first of the rows of which the following is known; NULL: none */
    bool has_row_sums; /* of numbers from -128 */
    bool sums_columns; /* a row has a zero point */
    uint32_t row_sums[OPKIT_MATMUL_ROWS], column_sums[OPKIT_MATMUL_COLUMNS];
    /* A vector of 64 bytes is in one cache line. */
    __attribute__((aligned(64))) int16_t left[OPKIT_TILE_ROWS * OPKIT_MATMUL_TERMS];
    __attribute__((aligned(64))) int16_t right[OPKIT_MATMUL_COLUMNS * OPKIT_MATMUL_TERMS];
    __attribute__((aligned(64))) int32_t sums[OPKIT_MATMUL_ROWS * OPKIT_MATMUL_COLUMNS];
};

/* Numbers of a block's columns: OPKIT_MATMUL_STEP terms. Behind the last one is room. */
struct opkit_integer_rows {
    uint8_t numbers[OPKIT_MATMUL_STEP][2 * OPKIT_MATMUL_COLUMNS];
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

/* Copies numbers without their zero point. */
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

/* Returns the bits that change a type's numbers into numbers from -128, or from 0. */
static inline uint8_t opkit_flip(bool is_signed, bool as_signed)
{
    return is_signed == as_signed ? 0 : 0x80;
}

/* Returns a number as one from -128, or from 0. */
static inline uint32_t opkit_number(const struct opkit_bytes *bytes, size_t i, bool as_signed)
{
    const uint8_t number = bytes->data[i] ^ opkit_flip(bytes->is_signed, as_signed);

    return as_signed ? (uint32_t)(int8_t)number : number;
}

/* Returns the sum of some numbers, as numbers from -128. */
OPKIT_ELEMENT_LOOP uint32_t opkit_sum_bytes(const struct opkit_bytes *bytes, size_t first,
                                            size_t count)
{
    uint32_t sum = 0;

    for (size_t i = 0; i < count; i++) {
        sum += opkit_number(bytes, first + i, true);
    }
    return sum;
}

/* Returns whether all numbers, as numbers from -128, are from -64 to 63. */
static inline bool opkit_are_small(const struct opkit_bytes *bytes, size_t count)
{
    const uint8_t raised = bytes->is_signed ? 64 : 192;
    const size_t part = 1024; /* one with others is found soon */
    uint8_t any = 0;

    for (size_t first = 0; first < count && any < 128; first += part) {
        const size_t end = opkit_matmul_min(count, first + part);

        for (size_t i = first; i < end; i++) {
            any |= (uint8_t)(bytes->data[i] + raised);
        }
    }
    return any < 128;
}

/* Begins a block of so many rows and columns, from the given ones on. */
OPKIT_ELEMENT_LOOP void opkit_begin_block(const struct opkit_integer_product *product, size_t row,
                                          size_t column, struct opkit_integer_block *block)
{
    const struct opkit_zero_points *zeros = &product->column_zeros;
    const struct opkit_zero_points *row_zeros = &product->row_zeros;
    const uint8_t *left = product->left.data + row * product->terms;
    bool sums_rows = false;

    if (block->summed != left) {
        memset(block->row_sums, 0, sizeof block->row_sums);
        block->summed = left;
        block->has_row_sums = false;
    }
    block->tile = product->tile;
    if (block->columns < OPKIT_MATMUL_NARROW) {
        block->tile.add = NULL;
    }
    block->terms = OPKIT_MATMUL_TERMS;
    if (block->tile.add != NULL) {
        block->terms = OPKIT_TILE_WORDS * block->tile.terms;
    }
    const uint8_t column_flip = opkit_flip(product->right.is_signed, block->tile.is_right_signed);
    for (size_t i = 0; i < OPKIT_MATMUL_COLUMNS; i++) {
        const size_t place = i < block->columns ? column + i : column;

        block->zeros[i] = zeros->numbers.data[place * zeros->step];
        sums_rows = sums_rows || block->zeros[i] != column_flip;
    }
    const uint8_t row_flip = opkit_flip(product->left.is_signed, block->tile.is_left_signed);
    const size_t row_count = row_zeros->step == 0 ? 1 : block->rows;
    block->sums_columns = false;
    for (size_t i = 0; i < row_count; i++) {
        const uint8_t zero = row_zeros->numbers.data[(row + i) * row_zeros->step];

        block->sums_columns = block->sums_columns || zero != row_flip;
    }
    if (sums_rows && !block->has_row_sums && block->tile.add != NULL) {
        for (size_t i = 0; i < block->rows; i++) {
            const size_t first = (row + i) * product->terms;

            block->row_sums[i] = opkit_sum_bytes(&product->left, first, product->terms);
        }
        block->has_row_sums = true;
    }
    memset(block->column_sums, 0, sizeof block->column_sums);
    memset(block->sums, 0, block->rows * OPKIT_MATMUL_COLUMNS * sizeof *block->sums);
}

/*
 * Copies up to OPKIT_MATMUL_STEP terms of all columns of a block, from the one of index `term` on.
 * Those that fill the last word add nothing.
 */
OPKIT_ELEMENT_LOOP void opkit_pack_rows(struct opkit_integer_rows *rows,
                                        const struct opkit_bytes *right, size_t term, size_t terms,
                                        struct opkit_integer_block *block)
{
    uint8_t (*from)[2 * OPKIT_MATMUL_COLUMNS] = rows->numbers;
    const uint8_t flip =
        opkit_flip(right->is_signed, block->tile.add == NULL || block->tile.is_right_signed);

    if (block->tile.add == NULL) {
        for (size_t k = 0; k < terms; k++) {
            int16_t row[OPKIT_MATMUL_COLUMNS];

            for (size_t i = 0; i < block->columns; i++) {
                row[i] = (int16_t)((int8_t)(from[k][i] ^ flip) - (int8_t)(block->zeros[i] ^ flip));
            }
            for (size_t i = 0; i < block->columns; i++) {
                block->right[i * OPKIT_MATMUL_TERMS + term + k] = row[i];
            }
        }
        return;
    }
    for (; terms % 4 > 0; terms++) {
        memset(from[terms], flip, OPKIT_MATMUL_COLUMNS);
    }
    if (block->tile.terms == 4) {
        uint8_t *bytes = (uint8_t *)block->right + term * OPKIT_MATMUL_COLUMNS;

        for (size_t k = 0; k < terms; k += 4) {
            for (size_t i = 0; i < OPKIT_MATMUL_COLUMNS; i++) {
                for (size_t each = 0; each < 4; each++) {
                    bytes[k * OPKIT_MATMUL_COLUMNS + 4 * i + each] = from[k + each][i] ^ flip;
                }
            }
        }
    } else {
        int16_t *to = block->right + term * OPKIT_MATMUL_COLUMNS;

        for (size_t k = 0; k < terms; k += 2) {
            for (size_t i = 0; i < OPKIT_MATMUL_COLUMNS; i++) {
                int16_t *word = to + k * OPKIT_MATMUL_COLUMNS + 2 * i;

                word[0] = (int8_t)(from[k][i] ^ flip);
                word[1] = (int8_t)(from[k + 1][i] ^ flip);
            }
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

/* Copies terms of a row as words; further terms of the last word are 0. */
OPKIT_ELEMENT_LOOP void opkit_pack_row(const struct opkit_tile *tile,
                                       const struct opkit_bytes *from, size_t first, size_t terms,
                                       int16_t *to)
{
    const uint8_t flip = opkit_flip(from->is_signed, tile->is_left_signed);
    const uint8_t *data = from->data + first;

    if (terms % tile->terms != 0) {
        memset(to + terms / tile->terms * 2, 0, 4);
    }
    if (tile->terms == 2) {
        for (size_t k = 0; k < terms; k++) {
            to[k] = (int8_t)(data[k] ^ flip);
        }
        return;
    }
    for (size_t k = 0; k < terms; k++) {
        ((uint8_t *)to)[k] = data[k] ^ flip;
    }
}

/* Adds some products to the sums of a block, by words. */
OPKIT_ELEMENT_LOOP void opkit_add_tiles(const struct opkit_integer_product *product, size_t row,
                                        size_t term, size_t terms,
                                        struct opkit_integer_block *block)
{
    const struct opkit_tile *tile = &block->tile;
    const size_t words = (terms + tile->terms - 1) / tile->terms;
    const uint32_t ones = tile->terms == 4 ? 0x01010101 : 0x00010001;
    const uint8_t *right = (const uint8_t *)block->right, *left = (const uint8_t *)block->left;
    const bool is_packed =
        tile->terms == 4 && terms % 4 == 0 && product->left.is_signed == tile->is_left_signed;
    const size_t step = is_packed ? product->terms : sizeof block->left / OPKIT_TILE_ROWS;

    if (block->sums_columns) {
        for (size_t k = 0; k < words; k++) {
            memcpy(block->left + 2 * k, &ones, sizeof ones);
        }
        tile->add(left, 0, 1, right, block->columns, words, block->column_sums);
    }
    for (size_t i = 0; i < block->rows; i += OPKIT_TILE_ROWS) {
        const size_t rows = opkit_matmul_min(block->rows - i, OPKIT_TILE_ROWS);
        const size_t first = (row + i) * product->terms + term;

        if (is_packed) {
            left = product->left.data + first;
        }
        for (size_t k = 0; k < rows && !is_packed; k++) {
            opkit_pack_row(tile, &product->left, first + k * product->terms, terms,
                           block->left + k * OPKIT_MATMUL_TERMS);
        }
        tile->add(left, step, rows, right, block->columns, words,
                  (uint32_t *)block->sums + i * OPKIT_MATMUL_COLUMNS);
    }
}

/* Removes the zero points from the sums of a block, from the given row on. */
OPKIT_ELEMENT_LOOP void opkit_remove_zeros(const struct opkit_integer_product *product, size_t row,
                                           struct opkit_integer_block *block)
{
    const struct opkit_zero_points *zeros = &product->row_zeros;
    const struct opkit_bytes own = {block->zeros, product->right.is_signed};
    const uint32_t terms = (uint32_t)product->terms;
    const uint32_t raised = block->tile.is_left_signed ? 0 : 128;
    uint32_t columns[OPKIT_MATMUL_COLUMNS], rest[OPKIT_MATMUL_COLUMNS], last = 0;

    for (size_t j = 0; j < OPKIT_MATMUL_COLUMNS; j++) {
        columns[j] = opkit_number(&own, j, block->tile.is_right_signed);
        block->column_sums[j] -= terms * columns[j];
    }
    memset(rest, 0, sizeof rest);
    for (size_t i = 0; i < block->rows; i++) {
        uint32_t *sums = (uint32_t *)block->sums + i * OPKIT_MATMUL_COLUMNS;
        const size_t place = (row + i) * zeros->step;
        const uint32_t zero = opkit_number(&zeros->numbers, place, block->tile.is_left_signed);
        const uint32_t row_sum = block->row_sums[i] + raised * terms;
        const uint32_t all = columns[0] * row_sum;

        if (zero != last) {
            for (size_t j = 0; j < OPKIT_MATMUL_COLUMNS; j++) {
                rest[j] = zero * block->column_sums[j];
            }
            last = zero;
        }
        if (product->column_zeros.step == 0) {
            for (size_t j = 0; j < OPKIT_MATMUL_COLUMNS; j++) {
                sums[j] -= rest[j] + all;
            }
        } else {
            for (size_t j = 0; j < OPKIT_MATMUL_COLUMNS; j++) {
                sums[j] -= rest[j] + columns[j] * row_sum;
            }
        }
    }
}

/* Adds some products to the sums of a block, by its copied columns and the rows from `row` on. */
OPKIT_ELEMENT_LOOP void opkit_add_products(const struct opkit_integer_product *product, size_t row,
                                           size_t term, size_t terms,
                                           struct opkit_integer_block *block)
{
    const size_t filled = opkit_filled(terms);

    if (block->tile.add != NULL) {
        opkit_add_tiles(product, row, term, terms, block);
        return;
    }
    for (size_t j = 0; j < block->columns; j++) {
        memset(block->right + j * OPKIT_MATMUL_TERMS + terms, 0,
               (filled - terms) * sizeof *block->right);
    }
    for (size_t i = 0; i < block->rows; i++) {
        int32_t *sums = block->sums + i * OPKIT_MATMUL_COLUMNS;
        const int32_t zero =
            opkit_byte(&product->row_zeros.numbers, (row + i) * product->row_zeros.step);

        opkit_copy_bytes(&product->left, (row + i) * product->terms + term, terms, zero,
                         block->left);
        memset(block->left + terms, 0, (filled - terms) * sizeof *block->left);
        for (size_t j = 0; j < block->columns; j++) {
            const int16_t *right = block->right + j * OPKIT_MATMUL_TERMS;
            const int32_t sum = opkit_dot(block->left, right, filled);

            sums[j] = (int32_t)((uint32_t)sums[j] + (uint32_t)sum);
        }
    }
}

/*
 * Computes the sums of a block from the given row and column on: those of a row are neighbors, and
 * OPKIT_MATMUL_COLUMNS from those of the next one.
 */
OPKIT_ELEMENT_LOOP void opkit_compute_block(const struct opkit_integer_product *product, size_t row,
                                            size_t column, struct opkit_integer_block *block)
{
    struct opkit_integer_rows rows;

    block->rows = opkit_matmul_min(product->rows - row, OPKIT_MATMUL_ROWS);
    block->columns = opkit_matmul_min(product->columns - column, OPKIT_MATMUL_COLUMNS);
    opkit_begin_block(product, row, column, block);
    memset(&rows, 0, sizeof rows);
    for (size_t term = 0; term < product->terms; term += block->terms) {
        const size_t terms = opkit_matmul_min(product->terms - term, block->terms);
        const uint8_t *from = product->right.data + term * product->columns + column;

        for (size_t k = 0; k < terms; k += OPKIT_MATMUL_STEP) {
            const size_t count = opkit_matmul_min(terms - k, OPKIT_MATMUL_STEP);

            for (size_t i = 0; i < count; i++) {
                const uint8_t *numbers = from + (k + i) * product->columns;

                if (block->columns == OPKIT_MATMUL_COLUMNS) { /* by vectors */
                    memcpy(rows.numbers[i], numbers, OPKIT_MATMUL_COLUMNS);
                } else {
                    memcpy(rows.numbers[i], numbers, block->columns);
                }
            }
            opkit_pack_rows(&rows, &product->right, k, count, block);
        }
        opkit_add_products(product, row, term, terms, block);
    }
    if (block->tile.add != NULL) {
        opkit_remove_zeros(product, row, block);
    }
}
OPKIT_WIDEST(opkit_compute_block,
             (const struct opkit_integer_product *product, size_t row, size_t column,
              struct opkit_integer_block *block),
             (product, row, column, block))

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
    const struct opkit_bytes left = opkit_bytes_of(a, 0), right = opkit_bytes_of(b, 0);
    product->tile = opkit_find_tile();
    if (product->tile.small != NULL) {
        if (opkit_are_small(&right, b->size)) {
            product->tile = product->tile.small[0];
        } else if (opkit_are_small(&left, a->size)) {
            product->tile = product->tile.small[1];
        }
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
    opkit_compute_block_widest(&product, row, *column, block);
    return (matrix * product.rows + row) * product.columns + *column;
}

#endif
