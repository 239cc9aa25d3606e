/*
 * Reductions of integers along any axes of a tensor.
 *
 * Intermediate results have 64 bits, and wrap around: the lower half of sums and products is that
 * of 32 bits.
 *
 * Plain C11 and C++11.
 */
#ifndef OPKIT_INTEGER_AXES_H
#define OPKIT_INTEGER_AXES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "axes.h"
#include "elementwise.h"
#include "tensor.h"

/*
 * The math of an operator. The functions are inlined. Integers are those of int64 or uint32, in
 * the bits of uint64.
 *
 *   initial    the result of no terms
 *   combine    returns a result with a further term
 *   finish     returns an element of the output, from the result of so many terms; NULL: the result
 */
struct opkit_integer_math {
    uint64_t initial;
    uint64_t (*combine)(uint64_t result, uint64_t term);
    uint64_t (*finish)(uint64_t result, size_t terms);
};

/* Returns whether a reduction takes the type. */
static inline bool opkit_is_reducible(enum opkit_type type)
{
    return type == OPKIT_FLOAT32 || type == OPKIT_INT32 || type == OPKIT_UINT32 ||
           type == OPKIT_INT64;
}

/* The magnitude of an integer. */
static inline uint64_t opkit_magnitude(uint64_t x)
{
    return (int64_t)x < 0 ? 0 - x : x;
}

/* Computes neighboring elements of the output, at most OPKIT_COLUMNS; `first` is in x. */
OPKIT_ELEMENT_LOOP void opkit_reduce_integer_columns(const struct opkit_integer_math *math,
                                                     const struct opkit_reduction *plan,
                                                     const struct opkit_tensor *x,
                                                     enum opkit_type type, size_t first,
                                                     size_t columns, uint64_t *results)
{
    for (size_t column = 0; column < columns; column++) {
        results[column] = math->initial;
    }
    for (size_t i = 0; i < plan->reduced.count; i++) {
        const size_t place = first + opkit_offset(&plan->reduced, i);

        for (size_t row = 0; row < plan->length; row++) {
            const size_t at = place + row * plan->columns;

            if (type == OPKIT_INT32) {
                for (size_t column = 0; column < columns; column++) {
                    const int64_t term = x->int32[at + column];
                    results[column] = math->combine(results[column], (uint64_t)term);
                }
            } else if (type == OPKIT_UINT32) {
                for (size_t column = 0; column < columns; column++) {
                    results[column] = math->combine(results[column], x->uint32[at + column]);
                }
            } else {
                for (size_t column = 0; column < columns; column++) {
                    const uint64_t term = (uint64_t)x->int64[at + column];
                    results[column] = math->combine(results[column], term);
                }
            }
        }
    }
    for (size_t column = 0; column < columns && math->finish != NULL; column++) {
        results[column] = math->finish(results[column], plan->terms);
    }
}

/* Computes all elements of the output, of a type that the compiler knows. */
OPKIT_ELEMENT_LOOP void opkit_reduce_integers_of(const struct opkit_integer_math *math,
                                                 const struct opkit_reduction *plan,
                                                 const struct opkit_tensor *x, enum opkit_type type,
                                                 const struct opkit_tensor *y)
{
    uint64_t results[OPKIT_COLUMNS];
    size_t made = 0;

    for (size_t i = 0; i < plan->kept.count; i++) {
        const size_t row = opkit_offset(&plan->kept, i);

        for (size_t column = 0; column < plan->columns; column += OPKIT_COLUMNS) {
            const size_t left = plan->columns - column, limit = OPKIT_COLUMNS;
            const size_t columns = left < limit ? left : limit;

            if (columns == 1) { /* a constant: the result is in a register */
                opkit_reduce_integer_columns(math, plan, x, type, row + column, 1, results);
            } else {
                opkit_reduce_integer_columns(math, plan, x, type, row + column, columns, results);
            }
            for (size_t j = 0; j < columns; j++) {
                if (type == OPKIT_INT64) {
                    y->int64[made++] = (int64_t)results[j];
                } else {
                    y->uint32[made++] = (uint32_t)results[j]; /* int32 has the same bits */
                }
            }
        }
    }
}

/* Computes all elements of the output; the tensors are int32, uint32 or int64. */
OPKIT_INLINE void opkit_reduce_integers(const struct opkit_integer_math *math,
                                        const struct opkit_reduction *plan,
                                        const struct opkit_tensor *x, const struct opkit_tensor *y)
{
    switch (x->type) {
    case OPKIT_INT32:
        opkit_reduce_integers_of(math, plan, x, OPKIT_INT32, y);
        break;
    case OPKIT_UINT32:
        opkit_reduce_integers_of(math, plan, x, OPKIT_UINT32, y);
        break;
    default:
        opkit_reduce_integers_of(math, plan, x, OPKIT_INT64, y);
        break;
    }
}

#endif
