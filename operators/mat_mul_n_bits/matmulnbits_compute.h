/*
 * The math of MatMulNBits: products with a matrix of quantized numbers of 4 or 8 bits.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in matmulnbits_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16.
 *
 * Some numbers of a few columns are unpacked as floats, which stay in the first cache, and
 * multiplied with all rows.
 */
#ifndef MATMULNBITS_COMPUTE_H
#define MATMULNBITS_COMPUTE_H

#include <string.h>

#include "generated/matmulnbits.h"
#include "include/opkit/compute/elementwise.h"
#include "include/opkit/compute/parallel.h"
#include "include/opkit/compute/processor.h"

enum {
    MATMULNBITS_TERMS = 512, /* that are unpacked at a time: whole blocks */
    MATMULNBITS_COLUMNS = 4, /* of a tile */
    MATMULNBITS_ROWS = 2,
    MATMULNBITS_LANES = 8 /* terms of a vector */
};

typedef float matmulnbits_vector __attribute__((vector_size(4 * MATMULNBITS_LANES)));

struct matmulnbits_task {
    const struct matmulnbits_inputs *inputs;
    float *y;
    size_t rows, columns, terms;
    size_t bits, block_size, blocks;
};

/* Some unpacked terms of a tile's columns. */
struct matmulnbits_tile {
    size_t column, columns; /* the first one, and their count */
    size_t term, terms;
    float b[MATMULNBITS_COLUMNS][MATMULNBITS_TERMS];
};

/* Returns the zero point of a column's block. */
static inline float matmulnbits_zero(const struct matmulnbits_task *task, size_t column,
                                     size_t block)
{
    const struct opkit_tensor *zeros = &task->inputs->zero_points;

    if (zeros->type == OPKIT_FLOAT32) {
        return zeros->float32[column * task->blocks + block];
    }
    if (task->bits == 8) {
        return (float)zeros->uint8[column * task->blocks + block];
    }
    const uint8_t pair = zeros->uint8[column * ((task->blocks + 1) / 2) + block / 2];
    return (float)(block % 2 == 0 ? pair & 15 : pair >> 4);
}

/* Unpacks a block. */
OPKIT_ELEMENT_LOOP void matmulnbits_unpack_block(const uint8_t *packed, size_t bits, size_t size,
                                                 float zero, float scale, float *b)
{
    if (bits == 8) {
        for (size_t i = 0; i < size; i++) {
            b[i] = ((float)packed[i] - zero) * scale;
        }
    } else {
        for (size_t i = 0; i < size / 2; i++) {
            b[2 * i] = ((float)(packed[i] & 15) - zero) * scale;
            b[2 * i + 1] = ((float)(packed[i] >> 4) - zero) * scale;
        }
    }
}

/* Unpacks the terms of a tile; of missing columns, they are 0. */
OPKIT_ELEMENT_LOOP void matmulnbits_unpack(const struct matmulnbits_task *task,
                                           struct matmulnbits_tile *tile)
{
    const size_t bytes = task->block_size * task->bits / 8;
    const size_t first = tile->term / task->block_size;
    const size_t end = first + (tile->terms + task->block_size - 1) / task->block_size;

    for (size_t i = 0; i < MATMULNBITS_COLUMNS; i++) {
        const size_t column = tile->column + i;

        if (i >= tile->columns) {
            memset(tile->b[i], 0, sizeof tile->b[i]);
            continue;
        }
        for (size_t block = first; block < end; block++) {
            const size_t index = column * task->blocks + block;

            matmulnbits_unpack_block(task->inputs->b.uint8 + index * bytes, task->bits,
                                     task->block_size, matmulnbits_zero(task, column, block),
                                     task->inputs->scales.float32[index],
                                     tile->b[i] + (block - first) * task->block_size);
        }
    }
}

/* Computes the sums of a tile for two rows of a. */
OPKIT_ELEMENT_LOOP void matmulnbits_multiply(const struct matmulnbits_tile *tile,
                                             const float *const *rows, float *sums)
{
    OPKIT_FUSED
    matmulnbits_vector totals[MATMULNBITS_ROWS][MATMULNBITS_COLUMNS];
    const size_t whole = tile->terms - tile->terms % MATMULNBITS_LANES;

    memset(totals, 0, sizeof totals);
    for (size_t k = 0; k < whole; k += MATMULNBITS_LANES) {
        matmulnbits_vector a[MATMULNBITS_ROWS], b;

        for (size_t row = 0; row < MATMULNBITS_ROWS; row++) {
            memcpy(&a[row], rows[row] + k, sizeof a[row]);
        }
        for (size_t i = 0; i < MATMULNBITS_COLUMNS; i++) {
            memcpy(&b, tile->b[i] + k, sizeof b);
            for (size_t row = 0; row < MATMULNBITS_ROWS; row++) {
                totals[row][i] += a[row] * b;
            }
        }
    }
    for (size_t row = 0; row < MATMULNBITS_ROWS; row++) {
        for (size_t i = 0; i < MATMULNBITS_COLUMNS; i++) {
            float sum = 0.0F;

            for (size_t lane = 0; lane < MATMULNBITS_LANES; lane++) {
                sum += totals[row][i][lane];
            }
            for (size_t k = whole; k < tile->terms; k++) {
                sum += rows[row][k] * tile->b[i][k];
            }
            sums[row * MATMULNBITS_COLUMNS + i] = sum;
        }
    }
}

/* Adds the products of a tile to the output; the first terms set it. */
OPKIT_ELEMENT_LOOP void matmulnbits_run_tile(const struct matmulnbits_task *task,
                                             const struct matmulnbits_tile *tile)
{
    const float *a = task->inputs->a.float32 + tile->term;
    float sums[MATMULNBITS_ROWS * MATMULNBITS_COLUMNS];

    for (size_t row = 0; row < task->rows; row += MATMULNBITS_ROWS) {
        const size_t count = task->rows - row < MATMULNBITS_ROWS ? 1 : (size_t)MATMULNBITS_ROWS;
        const float *const rows[MATMULNBITS_ROWS] = {a + row * task->terms,
                                                     a + (row + count - 1) * task->terms};

        matmulnbits_multiply(tile, rows, sums);
        for (size_t i = 0; i < count; i++) {
            float *y = task->y + (row + i) * task->columns + tile->column;

            for (size_t column = 0; column < tile->columns; column++) {
                const float sum = sums[i * MATMULNBITS_COLUMNS + column];
                y[column] = tile->term == 0 ? sum : y[column] + sum;
            }
        }
    }
}

/* Computes tiles of columns. */
OPKIT_ELEMENT_LOOP void matmulnbits_run(const void *context, size_t begin, size_t end)
{
    const struct matmulnbits_task *task = (const struct matmulnbits_task *)context;
    struct matmulnbits_tile tile;

    for (size_t index = begin; index < end; index++) {
        const size_t column = index * MATMULNBITS_COLUMNS, left = task->columns - column;

        tile.column = column;
        tile.columns = left < MATMULNBITS_COLUMNS ? left : (size_t)MATMULNBITS_COLUMNS;
        for (size_t term = 0; term < task->terms; term += MATMULNBITS_TERMS) {
            const size_t rest = task->terms - term;

            tile.term = term;
            tile.terms = rest < MATMULNBITS_TERMS ? rest : (size_t)MATMULNBITS_TERMS;
            matmulnbits_unpack(task, &tile);
            matmulnbits_run_tile(task, &tile);
        }
    }
}
OPKIT_WIDEST(matmulnbits_run, (const void *context, size_t begin, size_t end),
             (context, begin, end))

/* Checks types and shapes. Returns NULL, or an error message. */
static const char *matmulnbits_check(const struct matmulnbits_inputs *inputs,
                                     const struct matmulnbits_task *task,
                                     const struct opkit_tensor *y)
{
    const struct opkit_tensor *zeros = &inputs->zero_points;
    const size_t count = task->columns * task->blocks;
    const size_t packed = task->columns * ((task->blocks * task->bits + 7) / 8);

    if (inputs->a.type != OPKIT_FLOAT32 || inputs->scales.type != OPKIT_FLOAT32 ||
        y->type != OPKIT_FLOAT32) {
        return "a, scales and y must be float16 or float32";
    }
    if (inputs->b.type != OPKIT_UINT8 ||
        (zeros->type != OPKIT_UINT8 && zeros->type != OPKIT_FLOAT32)) {
        return "b must be uint8, and zero_points uint8, float16 or float32";
    }
    if (inputs->a.shape[inputs->a.rank - 1] != task->terms) {
        return "a must be [..., K]";
    }
    if (inputs->b.size != count * task->block_size * task->bits / 8) {
        return "b must be [N, blocks, block_size * bits / 8]";
    }
    if (inputs->scales.size != count) {
        return "scales must be [N, blocks]";
    }
    if (zeros->size != (zeros->type == OPKIT_UINT8 ? packed : count)) {
        return "zero_points must be packed as b, or floats, [N, blocks]";
    }
    return y->size == task->rows * task->columns ? NULL : "y must be [..., N]";
}

/*
 * Computes the outputs:
 *
 *   inputs->a                 [..., K]
 *   inputs->b                 the columns' numbers in blocks, [N, blocks, block_size * bits / 8]
 *   inputs->scales            of each block, [N, blocks]
 *   inputs->zero_points       the same, as floats or packed
 *   params->K, N              the terms of each sum, and the columns
 *   params->bits              of a number: 4 or 8
 *   params->block_size        the neighbors in a column with one scale and one zero point
 *   params->accuracy_level    0 to 4, without effect
 *   outputs->y                the products, [..., N]
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *matmulnbits_compute(const struct matmulnbits_inputs *inputs,
                                       const struct matmulnbits_params *params,
                                       struct matmulnbits_outputs *outputs)
{
    struct matmulnbits_task task;

    (void)params->accuracy_level;
    if (params->K < 1 || params->N < 1) {
        return "K and N must be above 0";
    }
    task.inputs = inputs;
    task.y = outputs->y.float32;
    task.terms = (size_t)params->K;
    task.columns = (size_t)params->N;
    task.rows = inputs->a.size / task.terms;
    task.bits = (size_t)params->bits;
    task.block_size = (size_t)params->block_size;
    task.blocks = (task.terms + task.block_size - 1) / task.block_size;
    const char *problem = matmulnbits_check(inputs, &task, &outputs->y);
    if (problem != NULL) {
        return problem;
    }
    opkit_parallel_for((task.columns + MATMULNBITS_COLUMNS - 1) / MATMULNBITS_COLUMNS, 1,
                       matmulnbits_run_widest, &task);
    return NULL;
}

#endif
