/*
 * Sums of products of 8-bit integers by instructions that add several at a time, where the
 * processor has them: those of some rows by a panel of columns.
 *
 * Numbers are in words of 32 bits, of 4 bytes or of two 16-bit integers. A row's words are
 * neighbors in memory. A panel has the first word of each column, then the second one of each.
 *
 * Plain C11 and C++11, with the vectors of GCC and clang.
 */
#ifndef OPKIT_INTEGER_TILE_H
#define OPKIT_INTEGER_TILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "half.h"
#include "processor.h"

enum {
    OPKIT_TILE_ROWS = 4,
    OPKIT_TILE_COLUMNS = 64, /* of a panel */
    OPKIT_TILE_WORDS = 144 /* of a row and of a column, at most: a 3x3 kernel of 64 channels */
};

/* An instruction set. */
struct opkit_tile {
    /*
     * Adds the products of 1 to OPKIT_TILE_ROWS rows, `step` bytes apart, and the first columns of
     * a panel to sums, of which a row has OPKIT_TILE_COLUMNS. They wrap around. Sums of further
     * columns are undefined.
     */
    void (*add)(const uint8_t *left, size_t step, size_t rows, const uint8_t *right, size_t columns,
                size_t words, uint32_t *sums);
    size_t terms; /* numbers in a word: 2 or 4 */
    bool is_left_signed, is_right_signed; /* numbers of rows, of columns: from -128; else from 0 */
    /* For numbers from -64 to 63 of columns, and for those of rows; or NULL. */
    const struct opkit_tile *small;
};

#define OPKIT_UNROLLED _Pragma("GCC unroll 4")

/*
 * Defines opkit_add_<set> for an instruction set with opkit_dot_<set>. Sums of some vectors of
 * columns stay in registers, as compilers unroll the inner loops; a last single vector of columns
 * takes less time alone.
 */
#define OPKIT_DEFINE_TILE(set, target, vectors)                                                  \
    target OPKIT_INLINE void opkit_add_vectors_##set(const uint8_t *left, size_t step,           \
                                                     size_t rows, const uint8_t *right,          \
                                                     size_t count, size_t words, uint32_t *sums) \
    {                                                                                            \
        opkit_lanes_##set all[OPKIT_TILE_ROWS][vectors], numbers[vectors];                       \
        const opkit_lanes_##set zero = {0};                                                      \
        const size_t size = count * sizeof zero;                                                 \
        OPKIT_UNROLLED for (size_t i = 0; i < rows; i++)                                         \
        {                                                                                        \
            memcpy(all[i], sums + i * OPKIT_TILE_COLUMNS, size);                                 \
        }                                                                                        \
        for (size_t k = 0; k < words; k++) {                                                     \
            memcpy(numbers, right + k * OPKIT_TILE_COLUMNS * sizeof *sums, size);                \
            OPKIT_UNROLLED for (size_t i = 0; i < rows; i++)                                     \
            {                                                                                    \
                uint32_t word;                                                                   \
                memcpy(&word, left + i * step + k * sizeof word, sizeof word);                   \
                OPKIT_UNROLLED for (size_t each = 0; each < count; each++)                       \
                {                                                                                \
                    all[i][each] = opkit_dot_##set(all[i][each], word - zero, numbers[each]);    \
                }                                                                                \
            }                                                                                    \
        }                                                                                        \
        OPKIT_UNROLLED for (size_t i = 0; i < rows; i++)                                         \
        {                                                                                        \
            memcpy(sums + i * OPKIT_TILE_COLUMNS, all[i], size);                                 \
        }                                                                                        \
    }                                                                                            \
    target OPKIT_INLINE void opkit_add_rows_##set(const uint8_t *left, size_t step, size_t rows, \
                                                  const uint8_t *right, size_t columns,          \
                                                  size_t words, uint32_t *sums)                  \
    {                                                                                            \
        const size_t lanes = sizeof(opkit_lanes_##set) / sizeof *sums;                           \
        size_t j = 0;                                                                            \
        for (; j + lanes < columns; j += (vectors) * lanes) {                                    \
            opkit_add_vectors_##set(left, step, rows, right + j * sizeof *sums, vectors, words,  \
                                    sums + j);                                                   \
        }                                                                                        \
        if (j < columns) {                                                                       \
            opkit_add_vectors_##set(left, step, rows, right + j * sizeof *sums, 1, words,        \
                                    sums + j);                                                   \
        }                                                                                        \
    }                                                                                            \
    target OPKIT_LOOP void opkit_add_##set(const uint8_t *left, size_t step, size_t rows,        \
                                           const uint8_t *right, size_t columns, size_t words,   \
                                           uint32_t *sums)                                       \
    {                                                                                            \
        if (rows == OPKIT_TILE_ROWS) {                                                           \
            opkit_add_rows_##set(left, step, OPKIT_TILE_ROWS, right, columns, words, sums);      \
            return;                                                                              \
        }                                                                                        \
        for (size_t i = 0; i < rows; i++) {                                                      \
            opkit_add_rows_##set(left + i * step, 0, 1, right, columns, words,                   \
                                 sums + i * OPKIT_TILE_COLUMNS);                                 \
        }                                                                                        \
    }

/* Each opkit_dot_<set> returns sums, to each of which the products of two words are added. */

#if defined(__SSE2__)

#include <immintrin.h>

typedef uint32_t opkit_lanes_sse2 __attribute__((vector_size(16)));

OPKIT_INLINE opkit_lanes_sse2 opkit_dot_sse2(opkit_lanes_sse2 sums, opkit_lanes_sse2 row,
                                             opkit_lanes_sse2 columns)
{
    return sums + (opkit_lanes_sse2)_mm_madd_epi16((__m128i)row, (__m128i)columns);
}

OPKIT_DEFINE_TILE(sse2, , 2)

#endif

#if defined(OPKIT_AVX2)

typedef uint32_t opkit_lanes_avx2 __attribute__((vector_size(32)));

OPKIT_AVX2 OPKIT_INLINE opkit_lanes_avx2 opkit_dot_avx2(opkit_lanes_avx2 sums, opkit_lanes_avx2 row,
                                                        opkit_lanes_avx2 columns)
{
    return sums + (opkit_lanes_avx2)_mm256_madd_epi16((__m256i)row, (__m256i)columns);
}

OPKIT_DEFINE_TILE(avx2, OPKIT_AVX2, 2)

/* Of numbers from 0 and numbers from -64 to 63: 16 bits hold the sum of two products. */
OPKIT_AVX2 OPKIT_INLINE opkit_lanes_avx2 opkit_dot_small(opkit_lanes_avx2 sums,
                                                         opkit_lanes_avx2 from_0,
                                                         opkit_lanes_avx2 small)
{
    const __m256i pairs = _mm256_maddubs_epi16((__m256i)from_0, (__m256i)small);

    return sums + (opkit_lanes_avx2)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}

typedef opkit_lanes_avx2 opkit_lanes_small_columns, opkit_lanes_small_rows;

#define opkit_dot_small_columns(sums, row, columns) opkit_dot_small(sums, row, columns)
#define opkit_dot_small_rows(sums, row, columns) opkit_dot_small(sums, columns, row)

OPKIT_DEFINE_TILE(small_columns, OPKIT_AVX2, 2)
OPKIT_DEFINE_TILE(small_rows, OPKIT_AVX2, 2)

static const struct opkit_tile opkit_small_tiles[] = {
    {opkit_add_small_columns, 4, false, true, NULL},
    {opkit_add_small_rows, 4, true, false, NULL},
};

#endif

#if defined(OPKIT_VNNI)

typedef uint32_t opkit_lanes_vnni __attribute__((vector_size(64)));

OPKIT_VNNI OPKIT_INLINE opkit_lanes_vnni opkit_dot_vnni(opkit_lanes_vnni sums, opkit_lanes_vnni row,
                                                        opkit_lanes_vnni columns)
{
    return (opkit_lanes_vnni)_mm512_dpbusd_epi32((__m512i)sums, (__m512i)row, (__m512i)columns);
}

OPKIT_DEFINE_TILE(vnni, OPKIT_VNNI, 4)

#endif

#if defined(OPKIT_DOTPROD)

#include <arm_neon.h>

typedef uint32_t opkit_lanes_dotprod __attribute__((vector_size(16)));

OPKIT_DOTPROD OPKIT_INLINE opkit_lanes_dotprod opkit_dot_dotprod(opkit_lanes_dotprod sums,
                                                                 opkit_lanes_dotprod row,
                                                                 opkit_lanes_dotprod columns)
{
    return (opkit_lanes_dotprod)vdotq_s32((int32x4_t)sums, (int8x16_t)row, (int8x16_t)columns);
}

OPKIT_DEFINE_TILE(dotprod, OPKIT_DOTPROD, 4)

#endif

/* Returns this processor's instruction set; `add` is NULL if it has none. */
static inline struct opkit_tile opkit_find_tile(void)
{
    struct opkit_tile tile = {NULL, 0, true, true, NULL};

#if defined(__SSE2__)
    tile.add = opkit_add_sse2;
    tile.terms = 2;
#endif
#if defined(OPKIT_AVX2)
    if (opkit_has_avx2()) {
        tile.add = opkit_add_avx2;
        tile.small = opkit_small_tiles;
    }
#endif
#if defined(OPKIT_VNNI)
    if (opkit_has_vnni()) {
        tile.add = opkit_add_vnni;
        tile.terms = 4;
        tile.is_left_signed = false;
        tile.small = NULL;
    }
#endif
#if defined(OPKIT_DOTPROD)
    if (opkit_has_dotprod()) {
        tile.add = opkit_add_dotprod;
        tile.terms = 4;
    }
#endif
    return tile;
}

#endif
