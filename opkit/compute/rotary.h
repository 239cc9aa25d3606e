/*
 * Rotary embeddings: pairs of features, rotated by angles of their position.
 *
 * Plain C11 and C++11, with __restrict__ of GCC and clang.
 */
#ifndef OPKIT_ROTARY_H
#define OPKIT_ROTARY_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "processor.h"

/*
 * Rotates a token, the features of a head at a position.
 *
 *   cosines, sines    of the angle of each pair
 *   copied            the features behind its pairs
 *   is_interleaved    pairs are neighbors; else a feature of the first half, one of the second
 */
OPKIT_INLINE void opkit_rotate_token(const float *__restrict__ x, const float *__restrict__ cosines,
                                     const float *__restrict__ sines, size_t pairs, size_t copied,
                                     bool is_interleaved, float *__restrict__ y)
{
    if (is_interleaved) {
        for (size_t i = 0; i < pairs; i++) {
            y[2 * i] = cosines[i] * x[2 * i] - sines[i] * x[2 * i + 1];
            y[2 * i + 1] = sines[i] * x[2 * i] + cosines[i] * x[2 * i + 1];
        }
    } else {
        for (size_t i = 0; i < pairs; i++) {
            y[i] = cosines[i] * x[i] - sines[i] * x[pairs + i];
            y[pairs + i] = sines[i] * x[i] + cosines[i] * x[pairs + i];
        }
    }
    if (copied > 0) {
        memcpy(y + 2 * pairs, x + 2 * pairs, copied * sizeof *y);
    }
}

#endif
