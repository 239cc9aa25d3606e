/*
 * Updates of elements, with the reductions of ONNX's ScatterElements and ScatterND.
 *
 * Updates are applied in their order, each to the result of the one before. Integers overflow as
 * unsigned ones, because signed overflow is undefined in C; the bits are the same.
 *
 * Plain C11 and C++11.
 */
#ifndef OPKIT_SCATTER_H
#define OPKIT_SCATTER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "processor.h"
#include "tensor.h"

/* How an update changes an element, in the order of opkit_find_reduction's names. */
enum opkit_reduction_kind {
    OPKIT_REPLACE,
    OPKIT_ADD,
    OPKIT_MULTIPLY,
    OPKIT_MINIMUM,
    OPKIT_MAXIMUM,
    OPKIT_NO_REDUCTION /* an unknown name */
};

/* Returns the reduction that ONNX calls so. */
static inline enum opkit_reduction_kind opkit_find_reduction(const char *name)
{
    static const char *const names[] = {"none", "add", "mul", "min", "max"};
    int found = OPKIT_REPLACE;

    while (found < OPKIT_NO_REDUCTION && strcmp(name, names[found]) != 0) {
        found++;
    }
    return (enum opkit_reduction_kind)found;
}

/* The smaller one, or NaN if one of them is. */
static inline float opkit_update_min(float x, float update)
{
    return x < update || x != x ? x : update;
}

static inline float opkit_update_max(float x, float update)
{
    return x > update || x != x ? x : update;
}

static inline int64_t opkit_update_integer(int64_t x, int64_t update,
                                           enum opkit_reduction_kind reduction)
{
    switch (reduction) {
    case OPKIT_ADD:
        return (int64_t)((uint64_t)x + (uint64_t)update);
    case OPKIT_MULTIPLY:
        return (int64_t)((uint64_t)x * (uint64_t)update);
    case OPKIT_MINIMUM:
        return x < update ? x : update;
    case OPKIT_MAXIMUM:
        return x > update ? x : update;
    default:
        return update;
    }
}

/* The index of the i-th updated element: inlined, so that neighbors are updated in vectors. */
#define OPKIT_PLACE(places, i) ((places) == NULL ? (i) : (places)[i])

/* Applies `count` updates to the elements of y at `places`; NULL: to neighbors, from y[0] on. */
OPKIT_INLINE void opkit_update_float32(float *y, const size_t *places, const float *updates,
                                       size_t count, enum opkit_reduction_kind reduction)
{
    if (reduction == OPKIT_REPLACE) {
        for (size_t i = 0; i < count; i++) {
            y[OPKIT_PLACE(places, i)] = updates[i];
        }
    } else if (reduction == OPKIT_ADD) {
        for (size_t i = 0; i < count; i++) {
            y[OPKIT_PLACE(places, i)] += updates[i];
        }
    } else if (reduction == OPKIT_MULTIPLY) {
        for (size_t i = 0; i < count; i++) {
            y[OPKIT_PLACE(places, i)] *= updates[i];
        }
    } else if (reduction == OPKIT_MINIMUM) {
        for (size_t i = 0; i < count; i++) {
            float *x = &y[OPKIT_PLACE(places, i)];
            *x = opkit_update_min(*x, updates[i]);
        }
    } else {
        for (size_t i = 0; i < count; i++) {
            float *x = &y[OPKIT_PLACE(places, i)];
            *x = opkit_update_max(*x, updates[i]);
        }
    }
}

/* In 64 bits: the lower half of sums and products is that of 32 bits. */
OPKIT_INLINE void opkit_update_int32(int32_t *y, const size_t *places, const int32_t *updates,
                                     size_t count, enum opkit_reduction_kind reduction)
{
    for (size_t i = 0; i < count; i++) {
        int32_t *x = &y[OPKIT_PLACE(places, i)];
        *x = (int32_t)(uint32_t)opkit_update_integer(*x, updates[i], reduction);
    }
}

OPKIT_INLINE void opkit_update_int64(int64_t *y, const size_t *places, const int64_t *updates,
                                     size_t count, enum opkit_reduction_kind reduction)
{
    for (size_t i = 0; i < count; i++) {
        int64_t *x = &y[OPKIT_PLACE(places, i)];
        *x = opkit_update_integer(*x, updates[i], reduction);
    }
}

/* Returns an integer of 8 or 16 bits, or of uint32. */
static inline int64_t opkit_small_integer(const struct opkit_tensor *tensor, size_t i)
{
    switch (tensor->type) {
    case OPKIT_INT8:
        return tensor->int8[i];
    case OPKIT_UINT8:
        return tensor->uint8[i];
    case OPKIT_INT16:
        return tensor->int16[i];
    case OPKIT_UINT16:
        return tensor->uint16[i];
    default:
        return tensor->uint32[i];
    }
}

/*
 * Applies `count` updates, from the one of index `start` on, to the integers of y at `places`;
 * NULL: to neighbors, from the one of index `first` on. They have 8 or 16 bits, or are of uint32:
 * upper bits of results are dropped.
 */
static inline void opkit_update_small(const struct opkit_tensor *y, size_t first,
                                      const size_t *places, const struct opkit_tensor *updates,
                                      size_t start, size_t count,
                                      enum opkit_reduction_kind reduction)
{
    const size_t size = opkit_element_size(y->type);

    for (size_t i = 0; i < count; i++) {
        const size_t at = first + OPKIT_PLACE(places, i);
        const int64_t update = opkit_small_integer(updates, start + i);
        const int64_t x = opkit_update_integer(opkit_small_integer(y, at), update, reduction);

        if (size == 1) {
            y->uint8[at] = (uint8_t)x;
        } else if (size == 2) {
            y->uint16[at] = (uint16_t)x;
        } else {
            y->uint32[at] = (uint32_t)x;
        }
    }
}

#endif
