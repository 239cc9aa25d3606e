/*
 * Attention: sums of values, weighted by how well their keys match each query.
 *
 * One pass over the keys, without a matrix of all scores (M. Milakov and N. Gimelshein, Online
 * normalizer calculation for softmax, 2018; T. Dao et al., FlashAttention, 2022). For a block of
 * queries, the scores of a block of keys become weights relative to the maximum so far; a larger
 * maximum later scales the sums down.
 *
 * The scores are multiplied by log2(e), so that weights are powers of 2, which take less time.
 *
 * The queries of a block are the lanes of vectors: so the softmax is vertical, and the keys and
 * values are read as they are in memory, an element at a time for all lanes. A few queries, such as
 * the next word's, are computed one by one, by vectors of features and of keys.
 *
 * Plain C11 and C++11, with the vectors of GCC and clang.
 */
#ifndef OPKIT_ATTENTION_H
#define OPKIT_ATTENTION_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "math.h"
#include "parallel.h"
#include "processor.h"
#include "tensor.h"

enum {
    OPKIT_ATTENTION_MAX_FEATURES = 768, /* of a head */
    OPKIT_ATTENTION_LANES = 8, /* of a vector: two registers where the processor's have 4 floats */
    /* Of a group, for 16 registers of 8 floats. */
    OPKIT_ATTENTION_QUERIES = 2 * OPKIT_ATTENTION_LANES,
    OPKIT_ATTENTION_MAX_QUERIES = 2 * OPKIT_ATTENTION_QUERIES, /* the same, of 16 floats */
    OPKIT_ATTENTION_GROUPS = 8, /* of a block, at most, for which a block of keys is in the cache */
    /* Of a block. */
    OPKIT_ATTENTION_ELEMENTS = OPKIT_ATTENTION_MAX_FEATURES * OPKIT_ATTENTION_QUERIES,
    OPKIT_ATTENTION_KEYS = 120, /* of a block, at most; 128 with those that fill up a vector */
    OPKIT_ATTENTION_TILE = 6, /* rows of sums in registers */
    /* The same, of 32, or of one vector a row. OPKIT_ATTENTION_KEYS is a multiple of both. */
    OPKIT_ATTENTION_MAX_TILE = 8,
    OPKIT_ATTENTION_FEW = 4, /* queries, at most, that are computed one by one */
    OPKIT_ATTENTION_GRAIN = 1 << 18 /* multiplications worth a thread */
};

#if defined(__aarch64__) || defined(__AVX2__)
#define OPKIT_ATTENTION_BASELINE_QUERIES OPKIT_ATTENTION_QUERIES /* enough registers */
#else
#define OPKIT_ATTENTION_BASELINE_QUERIES OPKIT_ATTENTION_LANES
#endif

/* Before a loop whose sums take all vector registers: clang would unroll it, and spill some. */
#if defined(__clang__)
#define OPKIT_ATTENTION_ROLLED _Pragma("clang loop unroll(disable)")
#else
#define OPKIT_ATTENTION_ROLLED
#endif

/*
 * Keeps a float in a register, of which 64-bit ARM multiplies with one lane: clang would load it
 * into all lanes, which takes an arithmetic unit, too.
 */
#if defined(__aarch64__)
#define OPKIT_ATTENTION_IN_REGISTER(x) __asm__("" : "+w"(x))
#else
#define OPKIT_ATTENTION_IN_REGISTER(x)
#endif

typedef float opkit_attention_vector
    __attribute__((vector_size(OPKIT_ATTENTION_LANES * sizeof(float))));
typedef float opkit_attention_quad __attribute__((vector_size(4 * sizeof(float))));
typedef float opkit_attention_wide
    __attribute__((vector_size(2 * OPKIT_ATTENTION_LANES * sizeof(float))));

/* A tensor's steps from one place to the next, in elements. */
struct opkit_attention_steps {
    size_t batch, head, row;
};

/* The sizes of a call. */
struct opkit_attention_sizes {
    size_t batches, heads, kv_heads;
    size_t queries;
    size_t past, keys; /* keys: with those of the past */
    size_t features, value_features; /* of a head */
};

/* A call. */
struct opkit_attention_task {
    struct opkit_attention_sizes sizes;
    bool is_causal; /* a query takes no keys after its own position */
    int64_t left, right; /* the keys before and after its position, at most; below 0: all */
    float scale, softcap; /* times log2(e) */
    const float *q, *k, *v;
    float *y;
    struct opkit_attention_steps q_steps, y_steps;
    const struct opkit_tensor *mask; /* NULL: none */
    struct opkit_attention_steps mask_steps;
    size_t mask_keys;
    const int64_t *used_keys; /* of each batch, with those of the queries as last ones; NULL: all */
    int64_t min_position; /* of a batch's first query, if it has fewer keys than queries */
    const float *sinks; /* scores whose weights count without a value; NULL: none */
    size_t sink_step; /* from one head's to the next one's */
    size_t groups, blocks; /* groups of queries in a block, and blocks of a head */
};

/* Queries side by side. Arrays of lanes have a row of all of them for each feature or key. */
struct opkit_attention_group {
    size_t first, count; /* queries; the other lanes repeat the last one */
    /* The keys of each query, which rise from one to the next. */
    int32_t begin[OPKIT_ATTENTION_MAX_QUERIES], end[OPKIT_ATTENTION_MAX_QUERIES];
    float maximum[OPKIT_ATTENTION_MAX_QUERIES], total[OPKIT_ATTENTION_MAX_QUERIES];
    float *q, *sums; /* lanes */
};

/* A block of queries of a head. */
struct opkit_attention_block {
    size_t batch, head;
    bool is_careful; /* a key of weight 0 does not count, also if its value is not finite */
    size_t group_count;
    struct opkit_attention_group groups[OPKIT_ATTENTION_GROUPS];
    float q[OPKIT_ATTENTION_ELEMENTS] __attribute__((aligned(64)));
    float sums[OPKIT_ATTENTION_ELEMENTS] __attribute__((aligned(64)));
    /* Lanes; first the scores. */
    float weights[OPKIT_ATTENTION_KEYS * OPKIT_ATTENTION_MAX_QUERIES] __attribute__((aligned(64)));
    float factor[OPKIT_ATTENTION_MAX_QUERIES]; /* of the sums so far */
};

static inline int64_t opkit_attention_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t opkit_attention_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Whether an optional input is left out: runtimes have neither that nor empty tensors. */
static inline bool opkit_attention_is_absent(const struct opkit_tensor *tensor)
{
    return tensor->rank == 1 && tensor->size == 1;
}

/* Whether a tensor has this shape of 4 dimensions. */
static inline bool opkit_attention_has_shape(const struct opkit_tensor *tensor, size_t batches,
                                             size_t heads, size_t rows, size_t features)
{
    return tensor->rank == 4 && tensor->shape[0] == batches && tensor->shape[1] == heads &&
           tensor->shape[2] == rows && tensor->shape[3] == features;
}

static inline bool opkit_attention_are_finite(const float *values, size_t count)
{
    uint32_t found = 0;

    for (size_t i = 0; i < count; i++) {
        found |= (opkit_float_bits(values[i]) & 0x7F800000U) == 0x7F800000U;
    }
    return found == 0;
}

/* ---- Blocks --------------------------------------------------------------------------------- */

/*
 * Defines a function that computes `rows` rows of sums, a constant number: for each lane, of the
 * products of `terms` elements of a row on the left and rows of lanes on the right.
 *
 *   name       of the function
 *   vector     of the floats of some lanes
 *   factors    if not NULL, of the sums so far, to which the products are added
 */
#define OPKIT_ATTENTION_DEFINE_TILE(name, vector)                                                \
    OPKIT_INLINE void name(const float *left, size_t row_step, size_t term_step, size_t rows,    \
                           const float *right, size_t terms, size_t lanes, const float *factors, \
                           float *sums)                                                          \
    {                                                                                            \
        OPKIT_FUSED                                                                              \
        enum {                                                                                   \
            WIDTH = sizeof(vector) / sizeof(float),                                              \
            MOST = OPKIT_ATTENTION_MAX_QUERIES / WIDTH                                           \
        };                                                                                       \
        const size_t vectors = lanes / WIDTH;                                                    \
        vector sum[OPKIT_ATTENTION_MAX_TILE][MOST] = {{{0}}};                                    \
                                                                                                 \
        for (size_t row = 0; row < rows && factors != NULL; row++) {                             \
            for (size_t i = 0; i < vectors; i++) {                                               \
                vector factor;                                                                   \
                                                                                                 \
                memcpy(&factor, factors + i * WIDTH, sizeof factor);                             \
                memcpy(&sum[row][i], sums + row * lanes + i * WIDTH, sizeof factor);             \
                sum[row][i] *= factor;                                                           \
            }                                                                                    \
        }                                                                                        \
        OPKIT_ATTENTION_ROLLED                                                                   \
        for (size_t term = 0; term < terms; term++) {                                            \
            vector terms_of_lanes[MOST];                                                         \
                                                                                                 \
            memcpy(terms_of_lanes, right, lanes * sizeof *right);                                \
            for (size_t row = 0; row < rows; row++) {                                            \
                float each = left[row * row_step];                                               \
                                                                                                 \
                OPKIT_ATTENTION_IN_REGISTER(each);                                               \
                for (size_t i = 0; i < vectors; i++) {                                           \
                    sum[row][i] += each * terms_of_lanes[i];                                     \
                }                                                                                \
            }                                                                                    \
            left += term_step;                                                                   \
            right += lanes;                                                                      \
        }                                                                                        \
        for (size_t row = 0; row < rows; row++) {                                                \
            memcpy(sums + row * lanes, sum[row], lanes * sizeof *sums);                          \
        }                                                                                        \
    }

OPKIT_ATTENTION_DEFINE_TILE(opkit_attention_narrow_tile, opkit_attention_vector)
OPKIT_ATTENTION_DEFINE_TILE(opkit_attention_wide_tile, opkit_attention_wide)

OPKIT_INLINE void opkit_attention_tile(const float *left, size_t row_step, size_t term_step,
                                       size_t rows, const float *right, size_t terms, size_t lanes,
                                       const float *factors, float *sums)
{
    if (lanes > OPKIT_ATTENTION_LANES) {
        opkit_attention_wide_tile(left, row_step, term_step, rows, right, terms, lanes, factors,
                                  sums);
    } else {
        opkit_attention_narrow_tile(left, row_step, term_step, rows, right, terms, lanes, factors,
                                    sums);
    }
}

/* Computes any count of rows of sums, `tile` at a time; without factors, some rows twice. */
OPKIT_INLINE void opkit_attention_multiply(const float *left, size_t row_step, size_t term_step,
                                           size_t rows, const float *right, size_t terms,
                                           size_t lanes, size_t tile, const float *factors,
                                           float *sums)
{
    const bool repeats = factors == NULL && rows >= tile;
    size_t row = 0;

    for (; row + tile <= rows || (repeats && row < rows); row += tile) {
        const size_t first = row + tile <= rows ? row : rows - tile;

        opkit_attention_tile(left + first * row_step, row_step, term_step, tile, right, terms,
                             lanes, factors, sums + first * lanes);
    }
    for (; row + 4 <= rows; row += 4) {
        opkit_attention_tile(left + row * row_step, row_step, term_step, 4, right, terms, lanes,
                             factors, sums + row * lanes);
    }
    for (; row < rows; row++) {
        opkit_attention_tile(left + row * row_step, row_step, term_step, 1, right, terms, lanes,
                             factors, sums + row * lanes);
    }
}

/* Returns the query of a lane. */
static inline size_t opkit_attention_query(const struct opkit_attention_group *group, size_t lane)
{
    return group->first + (lane < group->count ? lane : group->count - 1);
}

/* Sets the keys that each query of a group takes, but for attn_mask. */
OPKIT_INLINE void opkit_attention_set_limits(const struct opkit_attention_task *task, size_t batch,
                                             struct opkit_attention_group *group, size_t lanes)
{
    const int64_t queries = (int64_t)task->sizes.queries, keys = (int64_t)task->sizes.keys;
    const int64_t used = task->used_keys == NULL ? keys : task->used_keys[batch];
    const int64_t offset = task->used_keys == NULL
                               ? (int64_t)task->sizes.past
                               : opkit_attention_max(used - queries, task->min_position);
    const int64_t position = (int64_t)group->first + offset; /* of the first query */
    const int64_t limit = opkit_attention_min(used, (int64_t)task->mask_keys);
    const int64_t all = keys + queries; /* before or after any position */
    const int64_t before = task->left < 0 ? all : opkit_attention_min(task->left, all);
    const int64_t after = task->is_causal   ? 0
                          : task->right < 0 ? all
                                            : opkit_attention_min(task->right, all);

    /* With numbers of 32 bits, the loop is vectors. */
    const int32_t begin = (int32_t)opkit_attention_max(position - before, -(int64_t)lanes);
    const int32_t end = (int32_t)opkit_attention_max(position + after + 1, -(int64_t)lanes);
    const int32_t last = (int32_t)limit, most = (int32_t)group->count - 1;

    for (size_t lane = 0; lane < lanes; lane++) {
        const int32_t query = (int32_t)lane < most ? (int32_t)lane : most;
        const int32_t stop = end + query < last ? end + query : last;
        const int32_t start = begin + query < stop ? begin + query : stop;

        group->end[lane] = stop > 0 ? stop : 0;
        group->begin[lane] = start > 0 ? start : 0;
    }
}

/* Adds attn_mask to the scores of some keys, from `first` on. */
static inline void opkit_attention_add_mask(const struct opkit_attention_task *task,
                                            struct opkit_attention_block *block,
                                            const struct opkit_attention_group *group, size_t first,
                                            size_t count, size_t lanes)
{
    const struct opkit_tensor *mask = task->mask;
    const size_t start = block->batch * task->mask_steps.batch +
                         block->head * task->mask_steps.head + group->first * task->mask_steps.row +
                         first;

    for (size_t lane = 0; lane < group->count; lane++) {
        const size_t row = start + lane * task->mask_steps.row;
        float *scores = block->weights + lane;

        for (size_t i = 0; i < count; i++) {
            const float added = mask->type == OPKIT_FLOAT32 ? mask->float32[row + i]
                                : mask->uint8[row + i] != 0 ? 0.0F
                                                            : -INFINITY;
            /* A finite one stays that: if all keys have the lowest float, all count. */
            const float finite = opkit_at_least(added * OPKIT_PER_LN2, -FLT_MAX);

            scores[i * lanes] = added == -INFINITY ? added : scores[i * lanes] + finite;
        }
    }
}

/* Removes the keys that a query does not take from the scores of some keys, from `first` on. */
OPKIT_INLINE void opkit_attention_limit(const struct opkit_attention_group *group, float *scores,
                                        size_t first, size_t count, size_t lanes)
{
    for (size_t i = 0; i < count; i++, scores += lanes) {
        const int32_t key = (int32_t)(first + i);

        for (size_t lane = 0; lane < lanes; lane++) {
            const bool is_taken = key >= group->begin[lane] && key < group->end[lane];
            scores[lane] = is_taken ? scores[lane] : -INFINITY;
        }
    }
}

/*
 * Turns the scores of a group for some keys into weights, relative to the maximum so far. Sets the
 * factor of the sums before, and adds the weights to the total. The lanes may be keys of one query,
 * which have a common maximum.
 */
OPKIT_INLINE void opkit_attention_weigh(struct opkit_attention_block *block,
                                        struct opkit_attention_group *group, size_t count,
                                        size_t lanes, bool is_one_query)
{
    float *weights = block->weights;
    float shift[OPKIT_ATTENTION_MAX_QUERIES], sum[OPKIT_ATTENTION_MAX_QUERIES] = {0};

    memcpy(shift, group->maximum, lanes * sizeof *shift);
    for (size_t i = 0; i < count; i++) {
        for (size_t lane = 0; lane < lanes; lane++) {
            shift[lane] = opkit_at_least(shift[lane], weights[i * lanes + lane]);
        }
    }
    for (size_t lane = 1; lane < lanes && is_one_query; lane++) {
        shift[0] = opkit_at_least(shift[0], shift[lane]);
    }
    for (size_t lane = 0; lane < lanes; lane++) {
        const float found = shift[is_one_query ? 0 : lane];

        shift[lane] = found == -INFINITY ? 0.0F : found; /* no key until now */
        block->factor[lane] = opkit_exp2_fast(group->maximum[lane] - shift[lane]);
        group->maximum[lane] = found;
    }
    OPKIT_ATTENTION_ROLLED
    for (size_t i = 0; i < count; i++) {
        for (size_t lane = 0; lane < lanes; lane++) {
            const float weight = opkit_exp2_fast(weights[i * lanes + lane] - shift[lane]);

            weights[i * lanes + lane] = weight;
            sum[lane] += weight;
        }
    }
    for (size_t lane = 0; lane < lanes; lane++) {
        group->total[lane] = group->total[lane] * block->factor[lane] + sum[lane];
    }
}

/* Adds weighted values that may be infinite or NaN: a key of weight 0 does not count. */
static inline void opkit_attention_add_counted(const struct opkit_attention_block *block,
                                               const float *values, size_t features, size_t count,
                                               size_t lanes, float *sums)
{
    for (size_t feature = 0; feature < features; feature++, sums += lanes) {
        for (size_t lane = 0; lane < lanes; lane++) {
            sums[lane] *= block->factor[lane];
            for (size_t i = 0; i < count; i++) {
                const float weight = block->weights[i * lanes + lane];
                const float value = values[i * features + feature];

                sums[lane] += weight == 0.0F ? 0.0F : weight * value;
            }
        }
    }
}

/* Returns the place of a key of a block's head: its row among the keys of all heads. */
static inline size_t opkit_attention_row(const struct opkit_attention_sizes *sizes,
                                         const struct opkit_attention_block *block, size_t key)
{
    const size_t kv_head = block->head / (sizes->heads / sizes->kv_heads);

    return (block->batch * sizes->kv_heads + kv_head) * sizes->keys + key;
}

/* Applies softcap, attn_mask and the limits of keys to the scores of some keys, from `first` on. */
OPKIT_INLINE void opkit_attention_adjust(const struct opkit_attention_task *task,
                                         struct opkit_attention_block *block,
                                         const struct opkit_attention_group *group, size_t first,
                                         size_t count, size_t lanes)
{
    const float softcap = task->softcap;

    for (size_t i = 0; i < count * lanes && softcap > 0.0F; i++) {
        block->weights[i] = softcap * opkit_tanh(block->weights[i] / softcap);
    }
    if (task->mask != NULL) {
        opkit_attention_add_mask(task, block, group, first, count, lanes);
    }
    if ((int64_t)first < group->begin[lanes - 1] || (int64_t)(first + count) > group->end[0]) {
        opkit_attention_limit(group, block->weights, first, count, lanes);
    }
}

/* Adds some keys, from `first` on, to the sums of a group. */
OPKIT_INLINE void opkit_attention_add_keys(const struct opkit_attention_task *task,
                                           struct opkit_attention_block *block,
                                           struct opkit_attention_group *group, size_t first,
                                           size_t count, size_t lanes, size_t tile)
{
    const size_t row = opkit_attention_row(&task->sizes, block, first);
    const size_t features = task->sizes.features, value_features = task->sizes.value_features;
    const float *values = task->v + row * value_features;

    opkit_attention_multiply(task->k + row * features, features, 1, count, group->q, features,
                             lanes, tile, NULL, block->weights);
    opkit_attention_adjust(task, block, group, first, count, lanes);
    opkit_attention_weigh(block, group, count, lanes, false);
    if (block->is_careful) {
        opkit_attention_add_counted(block, values, value_features, count, lanes, group->sums);
    } else {
        opkit_attention_multiply(values, 1, value_features, value_features, block->weights, count,
                                 lanes, tile, block->factor, group->sums);
    }
}

/* Transposes the 4 x 4 floats of the first halves of 4 vectors, and those of the second halves. */
OPKIT_INLINE void opkit_attention_transpose(opkit_attention_vector *rows)
{
    const opkit_attention_vector a = rows[0], b = rows[1], c = rows[2], d = rows[3];
    const opkit_attention_vector pairs[] = {
        {a[0], b[0], a[1], b[1], a[4], b[4], a[5], b[5]},
        {c[0], d[0], c[1], d[1], c[4], d[4], c[5], d[5]},
        {a[2], b[2], a[3], b[3], a[6], b[6], a[7], b[7]},
        {c[2], d[2], c[3], d[3], c[6], d[6], c[7], d[7]},
    };

    for (size_t i = 0; i < 4; i += 2) {
        const opkit_attention_vector x = pairs[i], y = pairs[i + 1];
        const opkit_attention_vector first = {x[0], x[1], y[0], y[1], x[4], x[5], y[4], y[5]};
        const opkit_attention_vector second = {x[2], x[3], y[2], y[3], x[6], x[7], y[6], y[7]};

        rows[i] = first;
        rows[i + 1] = second;
    }
}

/* Returns the sink of a head. */
static inline float opkit_attention_sink(const struct opkit_attention_task *task, size_t head)
{
    return task->sinks == NULL ? -INFINITY : task->sinks[head * task->sink_step] * OPKIT_PER_LN2;
}

/* Sets the queries of a group, before any key. */
OPKIT_INLINE void opkit_attention_start(const struct opkit_attention_task *task,
                                        const struct opkit_attention_block *block, const float *q,
                                        struct opkit_attention_group *group, size_t lanes)
{
    const size_t features = task->sizes.features, step = task->q_steps.row;
    const float scale = task->scale, sink = opkit_attention_sink(task, block->head);

    opkit_attention_set_limits(task, block->batch, group, lanes);
    for (size_t first = 0; first < lanes; first += OPKIT_ATTENTION_LANES) {
        const float *rows[OPKIT_ATTENTION_LANES];
        float *to = group->q + first;
        size_t i = 0;

        for (size_t lane = 0; lane < OPKIT_ATTENTION_LANES; lane++) {
            rows[lane] = q + opkit_attention_query(group, first + lane) * step;
        }
        for (; i + 4 <= features; i += 4) {
            opkit_attention_vector columns[4];

            for (size_t j = 0; j < 4; j++) {
                float halves[OPKIT_ATTENTION_LANES];

                memcpy(halves, rows[j] + i, sizeof halves / 2);
                memcpy(halves + 4, rows[j + 4] + i, sizeof halves / 2);
                memcpy(&columns[j], halves, sizeof halves);
                columns[j] *= scale;
            }
            opkit_attention_transpose(columns);
            for (size_t j = 0; j < 4; j++, to += lanes) {
                memcpy(to, &columns[j], sizeof columns[j]);
            }
        }
        for (; i < features; i++, to += lanes) {
            for (size_t lane = 0; lane < OPKIT_ATTENTION_LANES; lane++) {
                to[lane] = rows[lane][i] * scale;
            }
        }
    }
    for (size_t lane = 0; lane < lanes; lane++) {
        group->maximum[lane] = sink;
        group->total[lane] = sink == -INFINITY ? 0.0F : 1.0F;
    }
    memset(group->sums, 0, task->sizes.value_features * lanes * sizeof *group->sums);
}

/* Writes the output of a group. Returns whether its sums are finite. */
OPKIT_INLINE bool opkit_attention_finish(const struct opkit_attention_task *task,
                                         const struct opkit_attention_group *group, float *y,
                                         size_t lanes)
{
    const size_t features = task->sizes.value_features, step = task->y_steps.row;
    opkit_attention_vector excess = {0}; /* NaN where a sum is not finite */
    float inverse[OPKIT_ATTENTION_MAX_QUERIES];

    for (size_t lane = 0; lane < lanes; lane++) {
        const float total = group->total[lane];

        inverse[lane] = total == 0.0F ? 0.0F : 1.0F / total; /* without keys, y is 0 */
    }
    y += group->first * step;
    for (size_t first = 0; first < group->count; first += OPKIT_ATTENTION_LANES) {
        const size_t count = group->count - first; /* in these lanes and the next ones */
        const float *sums = group->sums + first;
        opkit_attention_vector factors;
        size_t i = 0;

        memcpy(&factors, inverse + first, sizeof factors);
        for (; i + 4 <= features; i += 4) {
            opkit_attention_vector columns[4];

            for (size_t j = 0; j < 4; j++, sums += lanes) {
                memcpy(&columns[j], sums, sizeof columns[j]);
                excess += columns[j] * 0.0F;
                columns[j] *= factors;
            }
            opkit_attention_transpose(columns);
            for (size_t j = 0; j < 4; j++) {
                float halves[OPKIT_ATTENTION_LANES];

                memcpy(halves, &columns[j], sizeof halves);
                if (j < count) {
                    memcpy(y + j * step + i, halves, sizeof halves / 2);
                }
                if (j + 4 < count) {
                    memcpy(y + (j + 4) * step + i, halves + 4, sizeof halves / 2);
                }
            }
        }
        for (; i < features; i++, sums += lanes) {
            for (size_t lane = 0; lane < OPKIT_ATTENTION_LANES && lane < count; lane++) {
                excess[0] += sums[lane] * 0.0F;
                y[lane * step + i] = sums[lane] * inverse[first + lane];
            }
        }
        y += OPKIT_ATTENTION_LANES * step;
    }
    bool is_finite = true;
    for (size_t lane = 0; lane < OPKIT_ATTENTION_LANES; lane++) {
        is_finite &= excess[lane] == 0.0F;
    }
    return is_finite;
}

/*
 * Computes the output of a block of queries from `first` on, to `last`. Returns whether all sums
 * are finite.
 */
OPKIT_INLINE bool opkit_attention_run_block(const struct opkit_attention_task *task,
                                            struct opkit_attention_block *block, size_t first,
                                            size_t last, size_t lanes, size_t tile)
{
    const struct opkit_attention_sizes *sizes = &task->sizes;
    const float *q =
        task->q + block->batch * task->q_steps.batch + block->head * task->q_steps.head;
    float *y = task->y + block->batch * task->y_steps.batch + block->head * task->y_steps.head;

    int32_t begin = 0, end = 0;

    block->group_count = (last - first + lanes - 1) / lanes;
    for (size_t i = 0; i < block->group_count; i++, first += lanes) {
        struct opkit_attention_group *group = &block->groups[i];

        group->first = first;
        group->count = last - first < lanes ? last - first : lanes;
        group->q = block->q + i * sizes->features * lanes;
        group->sums = block->sums + i * sizes->value_features * lanes;
        opkit_attention_start(task, block, q, group, lanes);
        begin = i == 0 ? group->begin[0] : begin;
        end = group->end[lanes - 1];
    }
    const int32_t blocks = (end - begin + OPKIT_ATTENTION_KEYS - 1) / OPKIT_ATTENTION_KEYS;
    const int32_t rows = (int32_t)tile;
    const int32_t tiles = (end - begin + rows - 1) / rows;
    const int32_t keys = blocks > 0 ? (tiles + blocks - 1) / blocks * rows : 0;
    for (; begin < end; begin += keys) {
        const int32_t stop = end - begin < keys ? end : begin + keys;

        for (size_t i = 0; i < block->group_count; i++) {
            struct opkit_attention_group *group = &block->groups[i];
            const int32_t from = begin > group->begin[0] ? begin : group->begin[0];
            const int32_t to = stop < group->end[lanes - 1] ? stop : group->end[lanes - 1];

            if (from < to) {
                opkit_attention_add_keys(task, block, group, (size_t)from, (size_t)(to - from),
                                         lanes, tile);
            }
        }
    }
    bool is_finite = true;
    for (size_t i = 0; i < block->group_count; i++) {
        is_finite &= opkit_attention_finish(task, &block->groups[i], y, lanes);
    }
    return is_finite;
}

/* Returns the sum of products of `count` elements. */
OPKIT_INLINE float opkit_attention_dot(const float *x, const float *y, size_t count)
{
    OPKIT_FUSED
    enum {
        WIDTH = sizeof(opkit_attention_wide) / sizeof(float)
    };
    opkit_attention_wide sums = {0};
    opkit_attention_vector halves[2];
    opkit_attention_quad quarters[2];
    size_t i = 0;

    for (; i + WIDTH <= count; i += WIDTH) {
        opkit_attention_wide a, b;

        memcpy(&a, x + i, sizeof a);
        memcpy(&b, y + i, sizeof b);
        sums += a * b;
    }
    memcpy(halves, &sums, sizeof halves);
    halves[0] += halves[1];
    memcpy(quarters, halves, sizeof quarters);
    quarters[0] += quarters[1];
    float sum = (quarters[0][0] + quarters[0][1]) + (quarters[0][2] + quarters[0][3]);
    for (; i < count; i++) {
        sum += x[i] * y[i];
    }
    return sum;
}

/* Adds the weighted values of some keys to the sums of one query. */
OPKIT_INLINE void opkit_attention_add_values(const struct opkit_attention_block *block,
                                             const float *values, size_t features, size_t count,
                                             float *sums)
{
    OPKIT_FUSED
    enum {
        WIDTH = 2 * sizeof(opkit_attention_wide) / sizeof(float)
    };
    size_t i = 0;

    for (; i + WIDTH <= features; i += WIDTH) {
        opkit_attention_wide sum[2], value[2];

        memcpy(sum, sums + i, sizeof sum);
        sum[0] *= block->factor[0];
        sum[1] *= block->factor[0];
        for (size_t key = 0; key < count; key++) {
            memcpy(value, values + key * features + i, sizeof value);
            sum[0] += block->weights[key] * value[0];
            sum[1] += block->weights[key] * value[1];
        }
        memcpy(sums + i, sum, sizeof sum);
    }
    for (; i < features; i++) {
        float sum = sums[i] * block->factor[0];

        for (size_t key = 0; key < count; key++) {
            sum += block->weights[key] * values[key * features + i];
        }
        sums[i] = sum;
    }
}

/* Computes the output of one query. Returns whether its sums are finite. */
OPKIT_INLINE bool opkit_attention_run_query(const struct opkit_attention_task *task,
                                            struct opkit_attention_block *block, size_t query)
{
    enum {
        LANES = OPKIT_ATTENTION_QUERIES
    };
    const size_t features = task->sizes.features, value_features = task->sizes.value_features;
    const float *q = task->q + block->batch * task->q_steps.batch +
                     block->head * task->q_steps.head + query * task->q_steps.row;
    float *y = task->y + block->batch * task->y_steps.batch + block->head * task->y_steps.head +
               query * task->y_steps.row;
    struct opkit_attention_group *group = &block->groups[0];
    const float sink = opkit_attention_sink(task, block->head);
    float total = 0.0F;

    group->first = query;
    group->count = 1;
    opkit_attention_set_limits(task, block->batch, group, 1);
    for (size_t i = 0; i < features; i++) {
        block->q[i] = q[i] * task->scale;
    }
    for (size_t lane = 0; lane < LANES; lane++) {
        group->maximum[lane] = sink;
        group->total[lane] = 0.0F;
    }
    group->total[0] = sink == -INFINITY ? 0.0F : 1.0F;
    memset(block->sums, 0, value_features * sizeof *block->sums);
    for (int32_t key = group->begin[0]; key < group->end[0]; key += OPKIT_ATTENTION_KEYS) {
        const size_t first = (size_t)key;
        const size_t row = opkit_attention_row(&task->sizes, block, first);
        const float *values = task->v + row * value_features;
        const size_t count = (size_t)opkit_attention_min(OPKIT_ATTENTION_KEYS, group->end[0] - key);
        const size_t vectors = (count + LANES - 1) / LANES;

        for (size_t i = 0; i < count; i++) {
            block->weights[i] =
                opkit_attention_dot(block->q, task->k + (row + i) * features, features);
        }
        opkit_attention_adjust(task, block, group, first, count, 1);
        for (size_t i = count; i < vectors * LANES; i++) {
            block->weights[i] = -INFINITY;
        }
        opkit_attention_weigh(block, group, vectors, LANES, true);
        if (block->is_careful) {
            opkit_attention_add_counted(block, values, value_features, count, 1, block->sums);
        } else {
            opkit_attention_add_values(block, values, value_features, count, block->sums);
        }
    }
    for (size_t lane = 0; lane < LANES; lane++) {
        total += group->total[lane];
    }
    for (size_t i = 0; i < value_features; i++) {
        y[i] = total == 0.0F ? 0.0F : block->sums[i] / total; /* without keys, y is 0 */
    }
    return opkit_attention_are_finite(block->sums, value_features);
}

/*
 * Computes some blocks of queries, of all batches and heads. A last group of at most `tail` queries
 * has that many lanes only. If sums are not finite, some value is not, and a block is computed once
 * more, without the keys of weight 0.
 */
OPKIT_INLINE void opkit_attention_run(const struct opkit_attention_task *task, size_t begin,
                                      size_t end, size_t lanes, size_t tail, size_t tile)
{
    const struct opkit_attention_sizes *sizes = &task->sizes;
    const size_t queries = task->groups * lanes; /* of a block */
    struct opkit_attention_block block;

    for (size_t i = begin; i < end; i++) {
        const size_t head = i / task->blocks;
        const size_t first = i % task->blocks * queries;
        const size_t count = sizes->queries - first < queries ? sizes->queries - first : queries;
        const size_t over = count % lanes;
        const size_t rest = over <= OPKIT_ATTENTION_FEW || over <= tail ? over : 0;

        const size_t last = first + count;
        bool is_finite = false;

        block.batch = head / sizes->heads;
        block.head = head % sizes->heads;
        for (int pass = 0; pass < 2 && !is_finite; pass++) {
            block.is_careful = pass == 1;
            is_finite = opkit_attention_run_block(task, &block, first, last - rest, lanes, tile);
            if (tail > 0 && rest > OPKIT_ATTENTION_FEW) {
                is_finite &= opkit_attention_run_block(task, &block, last - rest, last, tail,
                                                       OPKIT_ATTENTION_MAX_TILE);
            } else {
                for (size_t query = last - rest; query < last; query++) {
                    is_finite &= opkit_attention_run_query(task, &block, query);
                }
            }
        }
    }
}

static inline void opkit_attention_run_baseline(const void *context, size_t begin, size_t end)
{
    opkit_attention_run((const struct opkit_attention_task *)context, begin, end,
                        OPKIT_ATTENTION_BASELINE_QUERIES, 0, OPKIT_ATTENTION_TILE);
}

#if defined(OPKIT_AVX2)
/* The same for processors with AVX2: a vector is one register. */
OPKIT_AVX2 static void opkit_attention_run_avx2(const void *context, size_t begin, size_t end)
{
    opkit_attention_run((const struct opkit_attention_task *)context, begin, end,
                        OPKIT_ATTENTION_QUERIES, OPKIT_ATTENTION_LANES, OPKIT_ATTENTION_TILE);
}
#endif

#if defined(OPKIT_AVX512)
/* The same for processors with AVX-512: a wide vector is one register. */
OPKIT_AVX512 static void opkit_attention_run_avx512(const void *context, size_t begin, size_t end)
{
    opkit_attention_run((const struct opkit_attention_task *)context, begin, end,
                        OPKIT_ATTENTION_MAX_QUERIES, OPKIT_ATTENTION_QUERIES,
                        OPKIT_ATTENTION_MAX_TILE);
}
#endif

/* Computes all blocks of queries, in threads if the description has some. */
static inline void opkit_attention_run_all(struct opkit_attention_task *task)
{
    const struct opkit_attention_sizes *sizes = &task->sizes;
    const size_t features =
        sizes->features > sizes->value_features ? sizes->features : sizes->value_features;
    opkit_loop_body body = opkit_attention_run_baseline;
    size_t lanes = OPKIT_ATTENTION_BASELINE_QUERIES;

#if defined(OPKIT_AVX2)
    if (opkit_has_avx2()) {
        body = opkit_attention_run_avx2;
        lanes = OPKIT_ATTENTION_QUERIES;
    }
#endif
#if defined(OPKIT_AVX512)
    if (features <= OPKIT_ATTENTION_ELEMENTS / OPKIT_ATTENTION_MAX_QUERIES && opkit_has_avx512()) {
        body = opkit_attention_run_avx512;
        lanes = OPKIT_ATTENTION_MAX_QUERIES;
    }
#endif
    const size_t fitting = OPKIT_ATTENTION_ELEMENTS / (lanes * features);
    task->groups = fitting < OPKIT_ATTENTION_GROUPS ? fitting : (size_t)OPKIT_ATTENTION_GROUPS;
    const size_t queries = task->groups * lanes; /* of a block */
    task->blocks = (sizes->queries + queries - 1) / queries;
    const size_t work = queries * sizes->keys * (sizes->features + sizes->value_features) + 1;
    opkit_parallel_for(sizes->batches * sizes->heads * task->blocks,
                       1 + OPKIT_ATTENTION_GRAIN / work, body, task);
}

#endif
