/*
 * The math of RotaryEmbedding: pairs of features, rotated by angles of their positions.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in rotaryembedding_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in
 * all. Floating-point tensors are arrays of float, also if the model has float16; integer tensors
 * are not converted.
 *
 * A token, the features of one head at one position, is contiguous in both forms of x. Only their
 * order differs: positions within heads, or heads within positions.
 */
#ifndef ROTARYEMBEDDING_COMPUTE_H
#define ROTARYEMBEDDING_COMPUTE_H

#include <string.h>

#include "generated/rotaryembedding.h"
#include "include/opkit/compute/elementwise.h"
#include "include/opkit/compute/rotary.h"

/* The sizes of a call. */
struct rotaryembedding_sizes {
    size_t batches;
    size_t heads;
    size_t positions;
    size_t features; /* of a token */
    size_t pairs; /* of a token; its other features are copied */
};

/* Checks the params; computes the sizes. Returns NULL, or an error message. */
static const char *rotaryembedding_read(const struct opkit_tensor *x,
                                        const struct rotaryembedding_params *params,
                                        struct rotaryembedding_sizes *sizes)
{
    const int64_t heads = params->num_heads, rotated = params->rotary_embedding_dim;

    if (params->interleaved != 0 && params->interleaved != 1) {
        return "interleaved must be 0 or 1";
    }
    sizes->batches = x->shape[0];
    if (x->rank == 4) {
        if (heads != 0 && heads != (int64_t)x->shape[1]) {
            return "num_heads must be 0 or that of x";
        }
        sizes->heads = x->shape[1];
        sizes->positions = x->shape[2];
        sizes->features = x->shape[3];
    } else if (x->rank == 3) {
        if (heads < 1 || (int64_t)x->shape[2] % heads != 0) {
            return "num_heads must be above 0, and divide the last dimension of x";
        }
        sizes->heads = (size_t)heads;
        sizes->positions = x->shape[1];
        sizes->features = x->shape[2] / (size_t)heads;
    } else {
        return "x must be [N, heads, S, head size] or [N, S, heads * head size]";
    }
    const int64_t used = rotated == 0 ? (int64_t)sizes->features : rotated;
    if (used < 0 || used > (int64_t)sizes->features || used % 2 != 0) {
        return "rotary_embedding_dim must be even, from 0 to the size of a head, and not 0 if that "
               "is odd";
    }
    sizes->pairs = (size_t)used / 2;
    return NULL;
}

/* Checks types of floats, and all shapes. Returns NULL, or an error message. */
static const char *rotaryembedding_check(const struct rotaryembedding_inputs *inputs,
                                         const struct opkit_tensor *y,
                                         const struct rotaryembedding_sizes *sizes)
{
    const struct opkit_tensor *x = &inputs->x, *ids = &inputs->position_ids;
    const struct opkit_tensor *cosines = &inputs->cos_cache, *sines = &inputs->sin_cache;

    if (x->type != OPKIT_FLOAT32 || cosines->type != OPKIT_FLOAT32 ||
        sines->type != OPKIT_FLOAT32 || y->type != OPKIT_FLOAT32) {
        return "x, cos_cache, sin_cache and y must be float16 or float32";
    }
    const bool is_of_positions = cosines->rank == 3 && cosines->shape[0] == sizes->batches &&
                                 cosines->shape[1] == sizes->positions;
    if ((cosines->rank != 2 && !is_of_positions) ||
        cosines->shape[cosines->rank - 1] != sizes->pairs) {
        return "cos_cache must be [rows, pairs] or [N, S, pairs]";
    }
    if (sines->rank != cosines->rank ||
        memcmp(sines->shape, cosines->shape, sizeof sines->shape) != 0) {
        return "sin_cache must have the shape of cos_cache";
    }
    if (ids->rank != 2 || ids->shape[0] != sizes->batches || ids->shape[1] != sizes->positions) {
        return "position_ids must be [N, S]";
    }
    if (y->rank != x->rank || memcmp(y->shape, x->shape, sizeof x->shape) != 0) {
        return "y must have the shape of x";
    }
    return NULL;
}

/* Returns the number of rows that position_ids may name. */
static int64_t rotaryembedding_rows(const struct opkit_tensor *cosines)
{
    return cosines->rank == 2 ? (int64_t)cosines->shape[0] : 1;
}

/* Checks the elements of position_ids. Returns NULL, or an error message. */
static const char *rotaryembedding_check_ids(const struct opkit_tensor *ids,
                                             const struct opkit_tensor *cosines)
{
    const int64_t rows = rotaryembedding_rows(cosines);

    if (ids->type != OPKIT_INT64) {
        return "position_ids must be int64";
    }
    for (size_t i = 0; i < ids->size; i++) {
        if (ids->int64[i] < 0 || ids->int64[i] >= rows) {
            return cosines->rank == 2
                       ? "position_ids must be rows of the caches"
                       : "position_ids must be 0 with caches of 3 dimensions, which have a row "
                         "for each position";
        }
    }
    return NULL;
}

/* Rotates all tokens. */
OPKIT_ELEMENT_LOOP void rotaryembedding_run(const struct rotaryembedding_inputs *inputs,
                                            const struct rotaryembedding_sizes *sizes,
                                            bool is_interleaved, float *y)
{
    const bool is_by_head = inputs->x.rank == 4, has_ids = inputs->cos_cache.rank == 2;
    const size_t outer = is_by_head ? sizes->heads : sizes->positions;
    const size_t inner = is_by_head ? sizes->positions : sizes->heads;
    const size_t copied = sizes->features - 2 * sizes->pairs;
    const float *x = inputs->x.float32;

    for (size_t i = 0; i < sizes->batches * outer; i++) {
        const size_t first = i / outer * sizes->positions + (is_by_head ? 0 : i % outer);

        for (size_t j = 0; j < inner; j++) { /* tokens */
            const size_t index = is_by_head ? first + j : first;
            const size_t row = has_ids ? (size_t)inputs->position_ids.int64[index] : index;
            const float *cosines = inputs->cos_cache.float32 + row * sizes->pairs;
            const float *sines = inputs->sin_cache.float32 + row * sizes->pairs;

            opkit_rotate_token(x, cosines, sines, sizes->pairs, copied, is_interleaved, y);
            x += sizes->features;
            y += sizes->features;
        }
    }
}
OPKIT_WIDEST(rotaryembedding_run,
             (const struct rotaryembedding_inputs *inputs,
              const struct rotaryembedding_sizes *sizes, bool is_interleaved, float *y),
             (inputs, sizes, is_interleaved, y))

/*
 * Computes the outputs:
 *
 *   inputs->x                       [N, heads, S, head size] or [N, S, heads * head size]
 *   inputs->cos_cache               [rows, pairs] or [N, S, pairs]: a row for each position
 *   inputs->sin_cache               the same
 *   inputs->position_ids            [N, S]: the rows of caches of 2 dimensions; else 0
 *   params->interleaved             1: the pairs are neighbors; 0: halves of the features
 *   params->num_heads               the heads of x of 3 dimensions
 *   params->rotary_embedding_dim    the features of a head that are rotated; 0: all
 *   outputs->y                      the shape of x
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *rotaryembedding_compute(const struct rotaryembedding_inputs *inputs,
                                           const struct rotaryembedding_params *params,
                                           struct rotaryembedding_outputs *outputs)
{
    struct rotaryembedding_sizes sizes;

    const char *problem = rotaryembedding_read(&inputs->x, params, &sizes);
    if (problem == NULL) {
        problem = rotaryembedding_check(inputs, &outputs->y, &sizes);
    }
    if (problem == NULL) {
        problem = rotaryembedding_check_ids(&inputs->position_ids, &inputs->cos_cache);
    }
    if (problem != NULL) {
        return problem;
    }

    rotaryembedding_run_widest(inputs, &sizes, params->interleaved == 1, outputs->y.float32);
    return NULL;
}

#endif
