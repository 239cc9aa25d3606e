/*
 * The math of Attention: sums of values, weighted by how well their keys match each query.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in attention_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16; booleans are uint8.
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
 */
#ifndef ATTENTION_COMPUTE_H
#define ATTENTION_COMPUTE_H

#include <float.h>
#include <math.h>
#include <string.h>

#include "generated/attention.h"
#include "opkit/compute/math.h"
#include "opkit/compute/parallel.h"
#include "opkit/compute/processor.h"

enum {
    ATTENTION_MAX_FEATURES = 768, /* of a head */
    ATTENTION_LANES = 8, /* of a vector: two registers where the processor's have 4 floats */
    ATTENTION_QUERIES = 2 * ATTENTION_LANES, /* of a group, for 16 registers of 8 floats */
    ATTENTION_MAX_QUERIES = 2 * ATTENTION_QUERIES, /* the same, of 16 floats */
    ATTENTION_GROUPS = 8, /* of a block, at most, for which a block of keys is in the cache */
    ATTENTION_ELEMENTS = ATTENTION_MAX_FEATURES * ATTENTION_QUERIES, /* of a block */
    ATTENTION_KEYS = 120, /* of a block, at most; 128 with those that fill up a vector */
    ATTENTION_TILE = 6, /* rows of sums in registers */
    ATTENTION_MAX_TILE = 8, /* the same, of 32: ATTENTION_KEYS is a multiple of both */
    ATTENTION_FEW = 4, /* queries, at most, that are computed one by one */
    ATTENTION_GRAIN = 1 << 18 /* multiplications worth a thread */
};

#if defined(__aarch64__) || defined(__AVX2__)
#define ATTENTION_BASELINE_QUERIES ATTENTION_QUERIES /* enough registers */
#else
#define ATTENTION_BASELINE_QUERIES ATTENTION_LANES
#endif

/* Before a loop whose sums take all vector registers: clang would unroll it, and spill some. */
#if defined(__clang__)
#define ATTENTION_ROLLED _Pragma("clang loop unroll(disable)")
#else
#define ATTENTION_ROLLED
#endif

/*
 * Keeps a float in a register, of which 64-bit ARM multiplies with one lane: clang would load it
 * into all lanes, which takes an arithmetic unit, too.
 */
#if defined(__aarch64__)
#define ATTENTION_IN_REGISTER(x) __asm__("" : "+w"(x))
#else
#define ATTENTION_IN_REGISTER(x)
#endif

typedef float attention_vector __attribute__((vector_size(ATTENTION_LANES * sizeof(float))));
typedef float attention_quad __attribute__((vector_size(4 * sizeof(float))));
typedef float attention_wide __attribute__((vector_size(2 * ATTENTION_LANES * sizeof(float))));

/* A tensor's steps from one place to the next, in elements. */
struct attention_steps {
    size_t batch, head, row;
};

/* The sizes of a call. */
struct attention_sizes {
    size_t batches, heads, kv_heads;
    size_t queries;
    size_t past, keys; /* keys: with those of the past */
    size_t features, value_features; /* of a head */
};

/* A call. */
struct attention_task {
    struct attention_sizes sizes;
    const struct attention_params *params;
    float scale, softcap; /* times log2(e) */
    const float *q, *k, *v;
    float *y;
    struct attention_steps q_steps, y_steps;
    const struct opkit_tensor *mask; /* NULL: none */
    struct attention_steps mask_steps;
    size_t mask_keys;
    const int64_t *used_keys; /* of each batch; NULL: all */
    size_t groups, blocks; /* groups of queries in a block, and blocks of a head */
};

/* Queries side by side. Arrays of lanes have a row of all of them for each feature or key. */
struct attention_group {
    size_t first, count; /* queries; the other lanes repeat the last one */
    int32_t begin[ATTENTION_MAX_QUERIES], end[ATTENTION_MAX_QUERIES]; /* the keys of each query */
    int32_t min_begin, max_begin, min_end, max_end;
    float maximum[ATTENTION_MAX_QUERIES], total[ATTENTION_MAX_QUERIES];
    float *q, *sums; /* lanes */
};

/* A block of queries of a head. */
struct attention_block {
    size_t batch, head;
    bool is_careful; /* a key of weight 0 does not count, also if its value is not finite */
    size_t group_count;
    struct attention_group groups[ATTENTION_GROUPS];
    float q[ATTENTION_ELEMENTS] __attribute__((aligned(64)));
    float sums[ATTENTION_ELEMENTS] __attribute__((aligned(64)));
    /* Lanes; first the scores. */
    float weights[ATTENTION_KEYS * ATTENTION_MAX_QUERIES] __attribute__((aligned(64)));
    float factor[ATTENTION_MAX_QUERIES]; /* of the sums so far */
};

static inline int64_t attention_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t attention_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Whether an optional input is left out: runtimes have neither that nor empty tensors. */
static inline bool attention_is_absent(const struct opkit_tensor *tensor)
{
    return tensor->rank == 1 && tensor->size == 1;
}

/* Reads the heads and features of q, k or v. Returns false if they do not fit its shape. */
static bool attention_read_heads(const struct opkit_tensor *tensor, int64_t given, size_t *heads,
                                 size_t *rows, size_t *features)
{
    if (tensor->rank == 4) {
        *heads = tensor->shape[1];
        *rows = tensor->shape[2];
        *features = tensor->shape[3];
        return given == 0 || given == (int64_t)*heads;
    }
    if (given < 1 || (int64_t)tensor->shape[2] % given != 0) {
        return false;
    }
    *heads = (size_t)given;
    *rows = tensor->shape[1];
    *features = tensor->shape[2] / *heads;
    return true;
}

/*
 * Returns the heads of q that the model gives. librknnrt 1.6.0 hands over no attribute whose name
 * begins with q_: without it, q of 3 dimensions has heads of the size of k's.
 */
static int64_t attention_given_heads(const struct opkit_tensor *q, const struct opkit_tensor *k,
                                     const struct attention_params *params)
{
    const int64_t size = params->kv_num_heads > 0 ? (int64_t)k->shape[2] / params->kv_num_heads : 0;

    return q->rank == 3 && params->q_num_heads == 0 && size > 0 ? (int64_t)q->shape[2] / size
                                                                : params->q_num_heads;
}

/* Whether a tensor has this shape of 4 dimensions. */
static bool attention_has_shape(const struct opkit_tensor *tensor, size_t batches, size_t heads,
                                size_t rows, size_t features)
{
    return tensor->rank == 4 && tensor->shape[0] == batches && tensor->shape[1] == heads &&
           tensor->shape[2] == rows && tensor->shape[3] == features;
}

/* Reads the shapes of q, k, v, past_key and past_value. Returns NULL, or an error message. */
static const char *attention_read(const struct attention_inputs *inputs,
                                  const struct attention_params *params,
                                  struct attention_sizes *sizes)
{
    const struct opkit_tensor *q = &inputs->q, *k = &inputs->k, *v = &inputs->v;
    size_t value_heads, values, key_features;

    if ((q->rank != 3 && q->rank != 4) || k->rank != q->rank || v->rank != q->rank) {
        return "q, k and v must have 3 dimensions, or 4";
    }
    sizes->batches = q->shape[0];
    if (!attention_read_heads(q, attention_given_heads(q, k, params), &sizes->heads,
                              &sizes->queries, &sizes->features) ||
        !attention_read_heads(k, params->kv_num_heads, &sizes->kv_heads, &sizes->keys,
                              &key_features) ||
        !attention_read_heads(v, params->kv_num_heads, &value_heads, &values,
                              &sizes->value_features)) {
        return "q_num_heads and kv_num_heads must divide the last dimension of q, k and v of 3 "
               "dimensions; of 4, they must be 0 or the second one";
    }
    if (sizes->kv_heads == 0 || sizes->heads % sizes->kv_heads != 0) {
        return "the heads of q must be a multiple of those of k";
    }
    if (k->shape[0] != sizes->batches || key_features != sizes->features) {
        return "k must have the batches and the head size of q";
    }
    if (v->shape[0] != sizes->batches || value_heads != sizes->kv_heads || values != sizes->keys) {
        return "v must have the batches, heads and rows of k";
    }
    if (sizes->features < 1 || sizes->features > ATTENTION_MAX_FEATURES ||
        sizes->value_features > ATTENTION_MAX_FEATURES) {
        return "heads must have 1 to 768 features";
    }
    const bool has_past = !attention_is_absent(&inputs->past_key);
    sizes->past = has_past && inputs->past_key.rank == 4 ? inputs->past_key.shape[2] : 0;
    if (has_past == attention_is_absent(&inputs->past_value) ||
        (has_past && (!attention_has_shape(&inputs->past_key, sizes->batches, sizes->kv_heads,
                                           sizes->past, sizes->features) ||
                      !attention_has_shape(&inputs->past_value, sizes->batches, sizes->kv_heads,
                                           sizes->past, sizes->value_features)))) {
        return "past_key and past_value must be [N, kv heads, P, size], or both be left out: [1]";
    }
    sizes->keys += sizes->past;
    return NULL;
}

/* Reads attn_mask. Returns NULL, or an error message. */
static const char *attention_read_mask(const struct opkit_tensor *mask, struct attention_task *task)
{
    const struct attention_sizes *sizes = &task->sizes;
    const size_t sides[] = {sizes->batches, sizes->heads, sizes->queries, sizes->keys};
    size_t steps[4] = {0};
    size_t step = 1;

    task->mask = NULL;
    task->mask_keys = sizes->keys;
    if (attention_is_absent(mask)) {
        return NULL;
    }
    if (mask->rank > 4) {
        return "attn_mask must have at most 4 dimensions";
    }
    for (size_t axis = 4; axis-- > 4 - mask->rank;) {
        const size_t side = mask->shape[axis + mask->rank - 4];

        if (axis == 3 ? side > sides[axis] : side != 1 && side != sides[axis]) {
            return "attn_mask must broadcast to [N, heads, Q, keys]; it may have fewer keys";
        }
        steps[axis] = side == 1 ? 0 : step;
        step *= side;
    }
    task->mask = mask;
    task->mask_keys = mask->shape[mask->rank - 1];
    task->mask_steps.batch = steps[0];
    task->mask_steps.head = steps[1];
    task->mask_steps.row = steps[2];
    return NULL;
}

/* Reads nonpad_kv_seqlen. Returns NULL, or an error message. */
static const char *attention_read_used(const struct opkit_tensor *used, struct attention_task *task)
{
    const struct attention_sizes *sizes = &task->sizes;

    task->used_keys = NULL;
    if (attention_is_absent(used) && used->int64[0] == -1) {
        return NULL;
    }
    if (used->rank != 1 || used->size != sizes->batches) {
        return "nonpad_kv_seqlen must be [N]";
    }
    if (sizes->past > 0) {
        return "nonpad_kv_seqlen must be left out, [1] of -1, with past_key";
    }
    for (size_t i = 0; i < used->size; i++) {
        if (used->int64[i] < 0 || used->int64[i] > (int64_t)sizes->keys) {
            return "nonpad_kv_seqlen must be from 0 to the count of keys";
        }
    }
    task->used_keys = used->int64;
    return NULL;
}

/* Checks types. Returns NULL, or an error message. */
static const char *attention_check_types(const struct attention_inputs *inputs,
                                         const struct attention_outputs *outputs)
{
    if (inputs->q.type != OPKIT_FLOAT32 || inputs->k.type != OPKIT_FLOAT32 ||
        inputs->v.type != OPKIT_FLOAT32 || inputs->past_key.type != OPKIT_FLOAT32 ||
        inputs->past_value.type != OPKIT_FLOAT32 || outputs->y.type != OPKIT_FLOAT32 ||
        outputs->present_key.type != OPKIT_FLOAT32 ||
        outputs->present_value.type != OPKIT_FLOAT32) {
        return "q, k, v, past_key, past_value and the outputs must be float16 or float32";
    }
    if (inputs->attn_mask.type != OPKIT_FLOAT32 && inputs->attn_mask.type != OPKIT_UINT8) {
        return "attn_mask must be float16, float32 or bool";
    }
    return inputs->nonpad_kv_seqlen.type == OPKIT_INT64 ? NULL : "nonpad_kv_seqlen must be int64";
}

/* Checks the params that change no shape. Returns NULL, or an error message. */
static const char *attention_check_params(const struct attention_params *params)
{
    const int64_t precision = params->softmax_precision;

    if (params->is_causal != 0 && params->is_causal != 1) {
        return "is_causal must be 0 or 1";
    }
    if (params->left_window_size < -1 || params->right_window_size < -1) {
        return "left_window_size and right_window_size must be -1 or above";
    }
    if (params->qk_matmul_output_mode < 0 || params->qk_matmul_output_mode > 3) {
        return "qk_matmul_output_mode must be from 0 to 3";
    }
    if (!(params->softcap >= 0.0F)) {
        return "softcap must be 0 or above";
    }
    if (precision != 0 && precision != 1 && precision != 10 && precision != 11 && precision != 16) {
        return "softmax_precision must be 0, 1, 10, 11 or 16";
    }
    return NULL;
}

/* Checks the outputs' shapes. Returns NULL, or an error message. */
static const char *attention_check_outputs(const struct attention_inputs *inputs,
                                           const struct attention_outputs *outputs,
                                           const struct attention_sizes *sizes)
{
    const struct opkit_tensor *y = &outputs->y;
    const bool is_flat = inputs->q.rank == 3;
    const size_t columns = is_flat ? sizes->heads * sizes->value_features : sizes->value_features;

    if (y->rank != inputs->q.rank || y->shape[y->rank - 1] != columns ||
        memcmp(y->shape, inputs->q.shape, (y->rank - 1) * sizeof *y->shape) != 0) {
        return "y must have the shape of q, with value size instead of head size";
    }
    if (!attention_has_shape(&outputs->present_key, sizes->batches, sizes->kv_heads, sizes->keys,
                             sizes->features) ||
        !attention_has_shape(&outputs->present_value, sizes->batches, sizes->kv_heads, sizes->keys,
                             sizes->value_features)) {
        return "present_key and present_value must be [N, kv heads, keys, size]";
    }
    return NULL;
}

/* Returns the steps of a tensor of 3 dimensions, or of 4, with heads of some features. */
static struct attention_steps attention_steps_of(const struct opkit_tensor *tensor, size_t heads,
                                                 size_t rows, size_t features)
{
    const bool is_flat = tensor->rank == 3;
    const struct attention_steps steps = {heads * rows * features,
                                          is_flat ? features : rows * features,
                                          is_flat ? heads * features : features};
    return steps;
}

/* Writes the keys or values of the past, then the new ones. */
static void attention_join(const struct attention_sizes *sizes, const struct opkit_tensor *past,
                           const struct opkit_tensor *added, struct opkit_tensor *present)
{
    const size_t features = present->shape[3], rows = sizes->keys - sizes->past;
    const struct attention_steps steps = attention_steps_of(added, sizes->kv_heads, rows, features);
    const size_t parts = steps.row == features ? 1 : rows; /* that are dense */
    const size_t part = rows / (parts > 0 ? parts : 1) * features;
    float *to = present->float32;

    for (size_t i = 0; i < sizes->batches * sizes->kv_heads; i++) {
        const float *from =
            added->float32 + i / sizes->kv_heads * steps.batch + i % sizes->kv_heads * steps.head;

        if (sizes->past > 0) {
            memcpy(to, past->float32 + i * sizes->past * features,
                   sizes->past * features * sizeof *to);
            to += sizes->past * features;
        }
        for (size_t j = 0; j < parts; j++, to += part) {
            memcpy(to, from + j * steps.row, part * sizeof *to);
        }
    }
}

static bool attention_are_finite(const float *values, size_t count)
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
#define ATTENTION_DEFINE_TILE(name, vector)                                                      \
    OPKIT_INLINE void name(const float *left, size_t row_step, size_t term_step, size_t rows,    \
                           const float *right, size_t terms, size_t lanes, const float *factors, \
                           float *sums)                                                          \
    {                                                                                            \
        OPKIT_FUSED                                                                              \
        enum {                                                                                   \
            WIDTH = sizeof(vector) / sizeof(float),                                              \
            MOST = ATTENTION_MAX_QUERIES / WIDTH                                                 \
        };                                                                                       \
        const size_t vectors = lanes / WIDTH;                                                    \
        vector sum[ATTENTION_MAX_TILE][MOST] = {{{0}}};                                          \
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
        ATTENTION_ROLLED                                                                         \
        for (size_t term = 0; term < terms; term++) {                                            \
            vector terms_of_lanes[MOST];                                                         \
                                                                                                 \
            memcpy(terms_of_lanes, right, lanes * sizeof *right);                                \
            for (size_t row = 0; row < rows; row++) {                                            \
                float each = left[row * row_step];                                               \
                                                                                                 \
                ATTENTION_IN_REGISTER(each);                                                     \
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

ATTENTION_DEFINE_TILE(attention_narrow_tile, attention_vector)
ATTENTION_DEFINE_TILE(attention_wide_tile, attention_wide)

OPKIT_INLINE void attention_tile(const float *left, size_t row_step, size_t term_step, size_t rows,
                                 const float *right, size_t terms, size_t lanes,
                                 const float *factors, float *sums)
{
    if (lanes > ATTENTION_LANES) {
        attention_wide_tile(left, row_step, term_step, rows, right, terms, lanes, factors, sums);
    } else {
        attention_narrow_tile(left, row_step, term_step, rows, right, terms, lanes, factors, sums);
    }
}

/* Computes any count of rows of sums, `tile` at a time. */
OPKIT_INLINE void attention_multiply(const float *left, size_t row_step, size_t term_step,
                                     size_t rows, const float *right, size_t terms, size_t lanes,
                                     size_t tile, const float *factors, float *sums)
{
    size_t row = 0;

    for (; row + tile <= rows; row += tile) {
        attention_tile(left + row * row_step, row_step, term_step, tile, right, terms, lanes,
                       factors, sums + row * lanes);
    }
    for (; row + 4 <= rows; row += 4) {
        attention_tile(left + row * row_step, row_step, term_step, 4, right, terms, lanes, factors,
                       sums + row * lanes);
    }
    for (; row < rows; row++) {
        attention_tile(left + row * row_step, row_step, term_step, 1, right, terms, lanes, factors,
                       sums + row * lanes);
    }
}

/* Returns the query of a lane. */
static inline size_t attention_query(const struct attention_group *group, size_t lane)
{
    return group->first + (lane < group->count ? lane : group->count - 1);
}

/* Sets the keys that each query of a group takes, but for attn_mask. */
static void attention_set_limits(const struct attention_task *task, size_t batch,
                                 struct attention_group *group, size_t lanes)
{
    const struct attention_params *params = task->params;
    const int64_t used =
        task->used_keys == NULL ? (int64_t)task->sizes.keys : task->used_keys[batch];
    const int64_t offset =
        task->used_keys == NULL ? (int64_t)task->sizes.past : used - (int64_t)task->sizes.queries;
    const int64_t limit = attention_min(used, (int64_t)task->mask_keys);

    group->min_begin = group->min_end = INT32_MAX;
    group->max_begin = group->max_end = 0;
    for (size_t lane = 0; lane < lanes; lane++) {
        const int64_t position = (int64_t)attention_query(group, lane) + offset;
        int64_t begin = 0, end = limit;

        if (params->is_causal == 1) {
            end = attention_min(end, position + 1);
        }
        if (params->right_window_size >= 0) {
            end = attention_min(end, position + params->right_window_size + 1);
        }
        if (params->left_window_size >= 0) {
            begin = attention_max(begin, position - params->left_window_size);
        }
        end = attention_max(end, 0);
        begin = attention_min(begin, end);
        group->begin[lane] = (int32_t)begin;
        group->end[lane] = (int32_t)end;
        group->min_begin = (int32_t)attention_min(begin, group->min_begin);
        group->max_begin = (int32_t)attention_max(begin, group->max_begin);
        group->min_end = (int32_t)attention_min(end, group->min_end);
        group->max_end = (int32_t)attention_max(end, group->max_end);
    }
}

/* Adds attn_mask to the scores of some keys, from `first` on. */
static void attention_add_mask(const struct attention_task *task, struct attention_block *block,
                               const struct attention_group *group, size_t first, size_t count,
                               size_t lanes)
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
OPKIT_INLINE void attention_limit(const struct attention_group *group, float *scores, size_t first,
                                  size_t count, size_t lanes)
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
OPKIT_INLINE void attention_weigh(struct attention_block *block, struct attention_group *group,
                                  size_t count, size_t lanes, bool is_one_query)
{
    float *weights = block->weights;
    float shift[ATTENTION_MAX_QUERIES], sum[ATTENTION_MAX_QUERIES] = {0};

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
    ATTENTION_ROLLED
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
static void attention_add_counted(const struct attention_block *block, const float *values,
                                  size_t features, size_t count, size_t lanes, float *sums)
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
static size_t attention_row(const struct attention_sizes *sizes,
                            const struct attention_block *block, size_t key)
{
    const size_t kv_head = block->head / (sizes->heads / sizes->kv_heads);

    return (block->batch * sizes->kv_heads + kv_head) * sizes->keys + key;
}

/* Applies softcap, attn_mask and the limits of keys to the scores of some keys, from `first` on. */
OPKIT_INLINE void attention_adjust(const struct attention_task *task, struct attention_block *block,
                                   const struct attention_group *group, size_t first, size_t count,
                                   size_t lanes)
{
    const float softcap = task->softcap;

    for (size_t i = 0; i < count * lanes && softcap > 0.0F; i++) {
        block->weights[i] = softcap * opkit_tanh(block->weights[i] / softcap);
    }
    if (task->mask != NULL) {
        attention_add_mask(task, block, group, first, count, lanes);
    }
    if ((int64_t)first < group->max_begin || (int64_t)(first + count) > group->min_end) {
        attention_limit(group, block->weights, first, count, lanes);
    }
}

/* Adds some keys, from `first` on, to the sums of a group. */
OPKIT_INLINE void attention_add_keys(const struct attention_task *task,
                                     struct attention_block *block, struct attention_group *group,
                                     size_t first, size_t count, size_t lanes, size_t tile)
{
    const size_t row = attention_row(&task->sizes, block, first);
    const size_t features = task->sizes.features, value_features = task->sizes.value_features;
    const float *values = task->v + row * value_features;

    attention_multiply(task->k + row * features, features, 1, count, group->q, features, lanes,
                       tile, NULL, block->weights);
    attention_adjust(task, block, group, first, count, lanes);
    attention_weigh(block, group, count, lanes, false);
    if (block->is_careful) {
        attention_add_counted(block, values, value_features, count, lanes, group->sums);
    } else {
        attention_multiply(values, 1, value_features, value_features, block->weights, count, lanes,
                           tile, block->factor, group->sums);
    }
}

/* Transposes 4 rows of 4 floats, which are multiplied by factors. */
OPKIT_INLINE void attention_transpose(const float *const *from, attention_quad factors,
                                      float *const *to)
{
    attention_quad rows[4];

    for (size_t i = 0; i < 4; i++) {
        memcpy(&rows[i], from[i], sizeof rows[i]);
        rows[i] *= factors;
    }
    for (size_t i = 0; i < 4; i++) {
        const attention_quad column = {rows[0][i], rows[1][i], rows[2][i], rows[3][i]};

        memcpy(to[i], &column, sizeof column);
    }
}

/* Sets the queries of a group, before any key. */
OPKIT_INLINE void attention_start(const struct attention_task *task, size_t batch, const float *q,
                                  struct attention_group *group, size_t lanes)
{
    const size_t features = task->sizes.features, step = task->q_steps.row;
    const float scale = task->scale;
    const attention_quad scales = {scale, scale, scale, scale};

    attention_set_limits(task, batch, group, lanes);
    for (size_t lane = 0; lane < lanes; lane += 4) {
        const float *rows[] = {q + attention_query(group, lane) * step,
                               q + attention_query(group, lane + 1) * step,
                               q + attention_query(group, lane + 2) * step,
                               q + attention_query(group, lane + 3) * step};
        float *to = group->q + lane;
        size_t i = 0;

        for (; i + 4 <= features; i += 4, to += 4 * lanes) {
            const float *const from[] = {rows[0] + i, rows[1] + i, rows[2] + i, rows[3] + i};
            float *const columns[] = {to, to + lanes, to + 2 * lanes, to + 3 * lanes};

            attention_transpose(from, scales, columns);
        }
        for (; i < features; i++, to += lanes) {
            for (size_t j = 0; j < 4; j++) {
                to[j] = rows[j][i] * scale;
            }
        }
    }
    for (size_t lane = 0; lane < lanes; lane++) {
        group->maximum[lane] = -INFINITY;
        group->total[lane] = 0.0F;
    }
    memset(group->sums, 0, task->sizes.value_features * lanes * sizeof *group->sums);
}

/* Writes the output of a group. Returns whether its sums are finite. */
OPKIT_INLINE bool attention_finish(const struct attention_task *task,
                                   const struct attention_group *group, float *y, size_t lanes)
{
    const size_t features = task->sizes.value_features, step = task->y_steps.row;
    float inverse[ATTENTION_MAX_QUERIES];

    for (size_t lane = 0; lane < lanes; lane++) {
        const float total = group->total[lane];

        inverse[lane] = total == 0.0F ? 0.0F : 1.0F / total; /* without keys, y is 0 */
    }
    y += group->first * step;
    for (size_t lane = 0; lane < group->count; lane += 4, y += 4 * step) {
        const size_t count = group->count - lane < 4 ? group->count - lane : 4;
        const float *sums = group->sums + lane;
        attention_quad factors;
        size_t i = 0;

        memcpy(&factors, inverse + lane, sizeof factors);
        for (; count == 4 && i + 4 <= features; i += 4, sums += 4 * lanes) {
            const float *const from[] = {sums, sums + lanes, sums + 2 * lanes, sums + 3 * lanes};
            float *const rows[] = {y + i, y + step + i, y + 2 * step + i, y + 3 * step + i};

            attention_transpose(from, factors, rows);
        }
        for (; i < features; i++, sums += lanes) {
            for (size_t j = 0; j < count; j++) {
                y[j * step + i] = sums[j] * inverse[lane + j];
            }
        }
    }
    return attention_are_finite(group->sums, features * lanes);
}

/*
 * Computes the output of a block of queries from `first` on, to `last`. Returns whether all sums
 * are finite.
 */
OPKIT_INLINE bool attention_run_block(const struct attention_task *task,
                                      struct attention_block *block, size_t first, size_t last,
                                      size_t lanes, size_t tile)
{
    const struct attention_sizes *sizes = &task->sizes;
    const float *q =
        task->q + block->batch * task->q_steps.batch + block->head * task->q_steps.head;
    float *y = task->y + block->batch * task->y_steps.batch + block->head * task->y_steps.head;
    int32_t begin = INT32_MAX, end = 0;

    block->group_count = (last - first + lanes - 1) / lanes;
    for (size_t i = 0; i < block->group_count; i++, first += lanes) {
        struct attention_group *group = &block->groups[i];

        group->first = first;
        group->count = last - first < lanes ? last - first : lanes;
        group->q = block->q + i * sizes->features * lanes;
        group->sums = block->sums + i * sizes->value_features * lanes;
        attention_start(task, block->batch, q, group, lanes);
        begin = begin < group->min_begin ? begin : group->min_begin;
        end = end > group->max_end ? end : group->max_end;
    }
    const int32_t blocks = (end - begin + ATTENTION_KEYS - 1) / ATTENTION_KEYS;
    const int32_t rows = (int32_t)tile;
    const int32_t tiles = (end - begin + rows - 1) / rows;
    const int32_t keys = blocks > 0 ? (tiles + blocks - 1) / blocks * rows : 0;
    for (; begin < end; begin += keys) {
        const int32_t stop = end - begin < keys ? end : begin + keys;

        for (size_t i = 0; i < block->group_count; i++) {
            struct attention_group *group = &block->groups[i];
            const int32_t from = begin > group->min_begin ? begin : group->min_begin;
            const int32_t to = stop < group->max_end ? stop : group->max_end;

            if (from < to) {
                attention_add_keys(task, block, group, (size_t)from, (size_t)(to - from), lanes,
                                   tile);
            }
        }
    }
    bool is_finite = true;
    for (size_t i = 0; i < block->group_count; i++) {
        is_finite &= attention_finish(task, &block->groups[i], y, lanes);
    }
    return is_finite;
}

/* Returns the sum of products of `count` elements. */
OPKIT_INLINE float attention_dot(const float *x, const float *y, size_t count)
{
    OPKIT_FUSED
    enum {
        WIDTH = sizeof(attention_wide) / sizeof(float)
    };
    attention_wide sums = {0};
    attention_vector halves[2];
    attention_quad quarters[2];
    size_t i = 0;

    for (; i + WIDTH <= count; i += WIDTH) {
        attention_wide a, b;

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
OPKIT_INLINE void attention_add_values(const struct attention_block *block, const float *values,
                                       size_t features, size_t count, float *sums)
{
    OPKIT_FUSED
    enum {
        WIDTH = 2 * sizeof(attention_wide) / sizeof(float)
    };
    size_t i = 0;

    for (; i + WIDTH <= features; i += WIDTH) {
        attention_wide sum[2], value[2];

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
OPKIT_INLINE bool attention_run_query(const struct attention_task *task,
                                      struct attention_block *block, size_t query)
{
    enum {
        LANES = ATTENTION_QUERIES
    };
    const size_t features = task->sizes.features, value_features = task->sizes.value_features;
    const float *q = task->q + block->batch * task->q_steps.batch +
                     block->head * task->q_steps.head + query * task->q_steps.row;
    float *y = task->y + block->batch * task->y_steps.batch + block->head * task->y_steps.head +
               query * task->y_steps.row;
    struct attention_group *group = &block->groups[0];
    float total = 0.0F;

    group->first = query;
    group->count = 1;
    attention_set_limits(task, block->batch, group, 1);
    for (size_t i = 0; i < features; i++) {
        block->q[i] = q[i] * task->scale;
    }
    for (size_t lane = 0; lane < LANES; lane++) {
        group->maximum[lane] = -INFINITY;
        group->total[lane] = 0.0F;
    }
    memset(block->sums, 0, value_features * sizeof *block->sums);
    for (int32_t key = group->min_begin; key < group->max_end; key += ATTENTION_KEYS) {
        const size_t first = (size_t)key;
        const size_t row = attention_row(&task->sizes, block, first);
        const float *values = task->v + row * value_features;
        const size_t count = (size_t)attention_min(ATTENTION_KEYS, group->max_end - key);
        const size_t vectors = (count + LANES - 1) / LANES;

        for (size_t i = 0; i < count; i++) {
            block->weights[i] = attention_dot(block->q, task->k + (row + i) * features, features);
        }
        attention_adjust(task, block, group, first, count, 1);
        for (size_t i = count; i < vectors * LANES; i++) {
            block->weights[i] = -INFINITY;
        }
        attention_weigh(block, group, vectors, LANES, true);
        if (block->is_careful) {
            attention_add_counted(block, values, value_features, count, 1, block->sums);
        } else {
            attention_add_values(block, values, value_features, count, block->sums);
        }
    }
    for (size_t lane = 0; lane < LANES; lane++) {
        total += group->total[lane];
    }
    for (size_t i = 0; i < value_features; i++) {
        y[i] = total == 0.0F ? 0.0F : block->sums[i] / total; /* without keys, y is 0 */
    }
    return attention_are_finite(block->sums, value_features);
}

/*
 * Computes some blocks of queries, of all batches and heads. A last group of at most `tail` queries
 * has that many lanes only. If sums are not finite, some value is not, and a block is computed once
 * more, without the keys of weight 0.
 */
OPKIT_INLINE void attention_run(const struct attention_task *task, size_t begin, size_t end,
                                size_t lanes, size_t tail, size_t tile)
{
    const struct attention_sizes *sizes = &task->sizes;
    const size_t queries = task->groups * lanes; /* of a block */
    struct attention_block block;

    for (size_t i = begin; i < end; i++) {
        const size_t head = i / task->blocks;
        const size_t first = i % task->blocks * queries;
        const size_t count = sizes->queries - first < queries ? sizes->queries - first : queries;
        const size_t over = count % lanes;
        const size_t rest = over <= ATTENTION_FEW || over <= tail ? over : 0;

        const size_t last = first + count;
        bool is_finite = false;

        block.batch = head / sizes->heads;
        block.head = head % sizes->heads;
        for (int pass = 0; pass < 2 && !is_finite; pass++) {
            block.is_careful = pass == 1;
            is_finite = attention_run_block(task, &block, first, last - rest, lanes, tile);
            if (tail > 0 && rest > ATTENTION_FEW) {
                is_finite &= attention_run_block(task, &block, last - rest, last, tail, tile);
            } else {
                for (size_t query = last - rest; query < last; query++) {
                    is_finite &= attention_run_query(task, &block, query);
                }
            }
        }
    }
}

static void attention_run_baseline(const void *context, size_t begin, size_t end)
{
    attention_run((const struct attention_task *)context, begin, end, ATTENTION_BASELINE_QUERIES, 0,
                  ATTENTION_TILE);
}

#if defined(OPKIT_AVX2)
/* The same for processors with AVX2: a vector is one register. */
OPKIT_AVX2 static void attention_run_avx2(const void *context, size_t begin, size_t end)
{
    attention_run((const struct attention_task *)context, begin, end, ATTENTION_QUERIES, 0,
                  ATTENTION_TILE);
}
#endif

#if defined(OPKIT_AVX512)
/* The same for processors with AVX-512: a wide vector is one register. */
OPKIT_AVX512 static void attention_run_avx512(const void *context, size_t begin, size_t end)
{
    attention_run((const struct attention_task *)context, begin, end, ATTENTION_MAX_QUERIES,
                  ATTENTION_QUERIES, ATTENTION_MAX_TILE);
}
#endif

/* Computes all blocks of queries, in threads if the description has some. */
static void attention_run_all(struct attention_task *task)
{
    const struct attention_sizes *sizes = &task->sizes;
    const size_t features =
        sizes->features > sizes->value_features ? sizes->features : sizes->value_features;
    opkit_loop_body body = attention_run_baseline;
    size_t lanes = ATTENTION_BASELINE_QUERIES;

#if defined(OPKIT_AVX2)
    if (opkit_has_avx2()) {
        body = attention_run_avx2;
        lanes = ATTENTION_QUERIES;
    }
#endif
#if defined(OPKIT_AVX512)
    if (features <= ATTENTION_ELEMENTS / ATTENTION_MAX_QUERIES && opkit_has_avx512()) {
        body = attention_run_avx512;
        lanes = ATTENTION_MAX_QUERIES;
    }
#endif
    const size_t fitting = ATTENTION_ELEMENTS / (lanes * features);
    task->groups = fitting < ATTENTION_GROUPS ? fitting : (size_t)ATTENTION_GROUPS;
    const size_t queries = task->groups * lanes; /* of a block */
    task->blocks = (sizes->queries + queries - 1) / queries;
    const size_t work = queries * sizes->keys * (sizes->features + sizes->value_features) + 1;
    opkit_parallel_for(sizes->batches * sizes->heads * task->blocks, 1 + ATTENTION_GRAIN / work,
                       body, task);
}

/*
 * Computes the outputs:
 *
 *   inputs->q                        [N, heads, Q, head size] or [N, Q, heads * head size]
 *   inputs->k                        [N, kv heads, K, head size] or [N, K, kv heads * head size]
 *   inputs->v                        [N, kv heads, K, value size] or [N, K, kv heads * value size]
 *   inputs->attn_mask                broadcast to [N, heads, Q, keys]; none: [1] of 0
 *   inputs->past_key                 [N, kv heads, P, head size]; none: [1]
 *   inputs->past_value               [N, kv heads, P, value size]; none: [1]
 *   inputs->nonpad_kv_seqlen         the count of keys that are no padding, [N]; none: [1] of -1
 *   params->is_causal                1: a query takes no keys after its own position
 *   params->kv_num_heads             the heads of k and v of 3 dimensions
 *   params->left_window_size         the keys before a query's position, at most; -1: all
 *   params->q_num_heads              the heads of q of 3 dimensions; 0: of the size of those of k
 *   params->qk_matmul_output_mode    has no effect
 *   params->right_window_size        the keys after a query's position, at most; -1: all
 *   params->scale                    the factor of the scores; below 0: 1 / sqrt(head size)
 *   params->softcap                  above 0: scores x become softcap * tanh(x / softcap)
 *   params->softmax_precision        has no effect: the weights are float32
 *   outputs->y                       the shape of q, with value size instead of head size
 *   outputs->present_key             past_key, then k: [N, kv heads, keys, head size]
 *   outputs->present_value           past_value, then v: [N, kv heads, keys, value size]
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *attention_compute(const struct attention_inputs *inputs,
                                     const struct attention_params *params,
                                     struct attention_outputs *outputs)
{
    struct attention_task task;
    struct attention_sizes *sizes = &task.sizes;

    const char *problem = attention_check_types(inputs, outputs);
    problem = problem != NULL ? problem : attention_check_params(params);
    problem = problem != NULL ? problem : attention_read(inputs, params, sizes);
    problem = problem != NULL ? problem : attention_read_mask(&inputs->attn_mask, &task);
    problem = problem != NULL ? problem : attention_read_used(&inputs->nonpad_kv_seqlen, &task);
    problem = problem != NULL ? problem : attention_check_outputs(inputs, outputs, sizes);
    if (problem != NULL) {
        return problem;
    }
    attention_join(sizes, &inputs->past_key, &inputs->k, &outputs->present_key);
    attention_join(sizes, &inputs->past_value, &inputs->v, &outputs->present_value);
    task.params = params;
    const float scale =
        params->scale < 0.0F ? (float)(1.0 / sqrt((double)sizes->features)) : params->scale;
    task.scale = scale * OPKIT_PER_LN2;
    task.softcap = params->softcap * OPKIT_PER_LN2;
    task.q = inputs->q.float32;
    task.k = outputs->present_key.float32;
    task.v = outputs->present_value.float32;
    task.y = outputs->y.float32;
    task.q_steps = attention_steps_of(&inputs->q, sizes->heads, sizes->queries, sizes->features);
    task.y_steps =
        attention_steps_of(&outputs->y, sizes->heads, sizes->queries, sizes->value_features);
    attention_run_all(&task);
    return NULL;
}

#endif
