/*
 * Matrices that a recurrence changes step by step, such as the states of linear attention.
 *
 * A state has a row for each element of a key, and a column for each element of a value. Its
 * columns do not depend on each other: some of them stay in the cache for all steps, while the rest
 * wait. Loops over the rows of a state have vectors of columns, which is the order in memory, too.
 *
 * Call all functions from functions of one processor, see processor.h: they are always inlined.
 *
 * Plain C11 and C++11, with the vectors of GCC and clang.
 */
#ifndef OPKIT_MATRIX_STATE_H
#define OPKIT_MATRIX_STATE_H

#include <stddef.h>
#include <string.h>

#include "processor.h"

enum {
    OPKIT_STATE_LANES = 8, /* floats of a vector */
    OPKIT_STATE_VECTORS = 4, /* of a row */
    OPKIT_STATE_COLUMNS = OPKIT_STATE_LANES * OPKIT_STATE_VECTORS,
    OPKIT_STATE_ROWS = 512 /* at most, so that a state of OPKIT_STATE_COLUMNS fits on the stack */
};

typedef float opkit_state_vector __attribute__((vector_size(OPKIT_STATE_LANES * sizeof(float))));

/* Neighboring columns of a row of a state, or of a value. */
struct opkit_state_row {
    opkit_state_vector vectors[OPKIT_STATE_VECTORS];
};

/* Returns the number of parts of OPKIT_STATE_COLUMNS columns; the last one may have less. */
OPKIT_INLINE size_t opkit_state_parts(size_t columns)
{
    return (columns + OPKIT_STATE_COLUMNS - 1) / OPKIT_STATE_COLUMNS;
}

/* Returns the number of columns in the part that begins at the column `first`. */
OPKIT_INLINE size_t opkit_state_width(size_t columns, size_t first)
{
    const size_t left = columns - first;
    return left < OPKIT_STATE_COLUMNS ? left : (size_t)OPKIT_STATE_COLUMNS;
}

/* Reads `width` columns; those past them are 0. */
OPKIT_INLINE struct opkit_state_row opkit_state_load_row(const float *x, size_t width)
{
    struct opkit_state_row row;

    memset(&row, 0, sizeof row);
    if (width == OPKIT_STATE_COLUMNS) { /* a constant: vectors */
        memcpy(&row, x, OPKIT_STATE_COLUMNS * sizeof *x);
    } else {
        memcpy(&row, x, width * sizeof *x);
    }
    return row;
}

/* Writes `width` columns. */
OPKIT_INLINE void opkit_state_store_row(const struct opkit_state_row *row, float *y, size_t width)
{
    if (width == OPKIT_STATE_COLUMNS) {
        memcpy(y, row, OPKIT_STATE_COLUMNS * sizeof *y);
    } else {
        memcpy(y, row, width * sizeof *y);
    }
}

/* Reads columns of a matrix whose rows are `pitch` floats apart. */
OPKIT_INLINE void opkit_state_load(const float *x, size_t pitch, size_t width, size_t rows,
                                   struct opkit_state_row *state)
{
    for (size_t i = 0; i < rows; i++) {
        state[i] = opkit_state_load_row(x + i * pitch, width);
    }
}

/* Writes columns of a matrix whose rows are `pitch` floats apart. */
OPKIT_INLINE void opkit_state_store(const struct opkit_state_row *state, size_t rows, float *y,
                                    size_t pitch, size_t width)
{
    for (size_t i = 0; i < rows; i++) {
        opkit_state_store_row(&state[i], y + i * pitch, width);
    }
}

/* Returns the product of a vector, an element for each row, and the state. */
OPKIT_INLINE struct opkit_state_row
opkit_state_read(const float *x, const struct opkit_state_row *state, size_t rows)
{
    struct opkit_state_row sums;

    memset(&sums, 0, sizeof sums);
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < OPKIT_STATE_VECTORS; j++) {
            sums.vectors[j] += x[i] * state[i].vectors[j];
        }
    }
    return sums;
}

/* Multiplies each row by a factor of its own. */
OPKIT_INLINE void opkit_state_scale(struct opkit_state_row *state, const float *factors,
                                    size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < OPKIT_STATE_VECTORS; j++) {
            state[i].vectors[j] *= factors[i];
        }
    }
}

/* Adds the outer product of a vector, an element for each row, and a value. */
OPKIT_INLINE void opkit_state_add(struct opkit_state_row *state, const float *x,
                                  const struct opkit_state_row *value, size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < OPKIT_STATE_VECTORS; j++) {
            state[i].vectors[j] += x[i] * value->vectors[j];
        }
    }
}

#endif
