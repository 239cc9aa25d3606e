/*
 * The math of CumSum: the running sums along an axis.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in cumsum_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16; integer tensors are
 * not converted.
 *
 * A sum of thousands of floats loses digits. The sum of a single column is in double. Those of many
 * columns are in two floats: conversions to double and back would take longer than the additions.
 */
#ifndef CUMSUM_COMPUTE_H
#define CUMSUM_COMPUTE_H

#include <string.h>

#include "generated/cumsum.h"
#include "include/opkit/compute/processor.h"
#include "include/opkit/compute/running.h"

enum {
    CUMSUM_LANES = OPKIT_STRIP / 2, /* floats of a vector: half of a strip */
    CUMSUM_CHUNK = 32 /* rows between two steps of precision */
};

/* Sums of neighboring columns: high + rest. Each vector has half of the columns. */
typedef float cumsum_vector __attribute__((vector_size(CUMSUM_LANES * sizeof(float))));
typedef int32_t cumsum_mask __attribute__((vector_size(CUMSUM_LANES * sizeof(int32_t))));

struct cumsum_sums {
    cumsum_vector high, rest;
};

/*
 * Moves what fits from rest to high. Exact: O. Moller, Quasi double-precision in floating point
 * addition, BIT 5 (1965). A sum that is not finite has no rest.
 */
OPKIT_INLINE void cumsum_normalize(struct cumsum_sums *sums)
{
    const cumsum_vector high = sums->high + sums->rest;
    const cumsum_vector added = high - sums->high;
    const cumsum_vector low = (sums->high - (high - added)) + (sums->rest - added);

    sums->rest = (cumsum_vector)((cumsum_mask)low & (low - low == 0.0F));
    sums->high = high;
}

/* Adds a vector of a row to the sums, and writes them. */
OPKIT_INLINE void cumsum_step(const float *x, float *y, bool exclusive, struct cumsum_sums *sums)
{
    cumsum_vector elements, result;

    memcpy(&elements, x, sizeof elements);
    if (exclusive) {
        result = sums->high + sums->rest;
        sums->rest += elements;
    } else {
        sums->rest += elements;
        result = sums->high + sums->rest;
    }
    memcpy(y, &result, sizeof result);
}

/* Adds `rows` rows of OPKIT_STRIP columns to their sums. */
OPKIT_INLINE void cumsum_strip(const float *x, float *y, size_t rows, ptrdiff_t step,
                               bool exclusive, struct cumsum_sums *sums)
{
    struct cumsum_sums left = sums[0], right = sums[1]; /* in registers */

    for (size_t i = 0; i < rows; i++) {
        cumsum_step(x, y, exclusive, &left);
        cumsum_step(x + CUMSUM_LANES, y + CUMSUM_LANES, exclusive, &right);
        x += step;
        y += step;
    }
    sums[0] = left;
    sums[1] = right;
}

OPKIT_DEFINE_RUNNING(cumsum_other, float, double, 0, +)

/* Sums columns: in double those that are not a part of a strip. */
static void cumsum_float32(const float *x, float *y, const struct opkit_columns *columns)
{
    const size_t count = columns->count, all = columns->rows;
    const size_t wide = columns->apart == 1 ? count - count % OPKIT_STRIP : 0;
    const ptrdiff_t step = columns->step;
    struct opkit_columns others = *columns;
    struct cumsum_sums sums[OPKIT_COLUMNS / CUMSUM_LANES];

    memset(sums, 0, wide / CUMSUM_LANES * sizeof *sums);
    for (size_t i = 0; wide > 0 && i < all; i += OPKIT_STRIP_ROWS) {
        const size_t rest = all - i;
        const size_t rows = rest < OPKIT_STRIP_ROWS ? rest : (size_t)OPKIT_STRIP_ROWS;
        const ptrdiff_t first = (ptrdiff_t)i * step;

        for (size_t column = 0; column < wide; column += OPKIT_STRIP) {
            const float *from = x + first + (ptrdiff_t)column;
            float *to = y + first + (ptrdiff_t)column;
            struct cumsum_sums *own = sums + column / CUMSUM_LANES;

            if (columns->exclusive) {
                cumsum_strip(from, to, rows, step, true, own);
            } else {
                cumsum_strip(from, to, rows, step, false, own);
            }
        }
        if ((i + rows) % CUMSUM_CHUNK == 0) {
            for (size_t vector = 0; vector < wide / CUMSUM_LANES; vector++) {
                cumsum_normalize(&sums[vector]);
            }
        }
    }
    others.count -= wide;
    cumsum_other(x + wide, y + wide, &others);
}

OPKIT_DEFINE_RUNNING(cumsum_uint32, uint32_t, uint32_t, 0, +)
OPKIT_DEFINE_RUNNING(cumsum_uint64, uint64_t, uint64_t, 0, +)

/*
 * Computes the outputs:
 *
 *   inputs->x            any shape
 *   params->axis         the axis of the sums; negative: counted from the last one
 *   params->exclusive    1: an element is not part of its own sum; 0: it is
 *   params->reverse      1: the sums begin at the last element of the axis; 0: at the first
 *   outputs->y           the sums, in the shape of x
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *cumsum_compute(const struct cumsum_inputs *inputs,
                                  const struct cumsum_params *params,
                                  struct cumsum_outputs *outputs)
{
    const struct opkit_running math = {cumsum_float32, cumsum_uint32, cumsum_uint64};

    return opkit_run_along(&math, &inputs->x, &outputs->y, params->axis, params->exclusive,
                           params->reverse);
}

#endif
