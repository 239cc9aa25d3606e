/*
 * The math of TensorScatter: a cache with an update at a place of each batch.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in tensorscatter_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Elements are copied as bytes, whatever their type is.
 */
#ifndef TENSORSCATTER_COMPUTE_H
#define TENSORSCATTER_COMPUTE_H

#include <string.h>

#include "generated/tensorscatter.h"

/* Rows of the cache along the axis, in blocks of each batch. */
struct tensorscatter_layout {
    size_t blocks; /* of a batch */
    size_t rows, updates; /* of a block: in the cache, and in the update */
    size_t row; /* bytes */
};

/* Checks types and shapes, and sets the layout. Returns NULL, or an error message. */
static const char *tensorscatter_read(const struct tensorscatter_inputs *inputs,
                                      const struct tensorscatter_params *params,
                                      struct tensorscatter_layout *layout)
{
    const struct opkit_tensor *cache = &inputs->past_cache, *update = &inputs->update;
    const struct opkit_tensor *indices = &inputs->write_indices;
    const int64_t rank = (int64_t)cache->rank;
    const int64_t axis = params->axis < 0 ? params->axis + rank : params->axis;
    size_t row = opkit_element_size(cache->type);

    if (update->type != cache->type || indices->type != OPKIT_INT64) {
        return "update must be of the type of past_cache, and write_indices int64";
    }
    if (axis < 1 || axis >= rank) {
        return "axis must be a dimension of past_cache behind the first one";
    }
    bool fits = update->rank == cache->rank;
    layout->blocks = 1;
    for (size_t i = 0; i < cache->rank; i++) {
        const bool is_axis = i == (size_t)axis;

        fits = fits && (is_axis ? update->shape[i] <= cache->shape[i]
                                : update->shape[i] == cache->shape[i]);
        layout->blocks *= i > 0 && i < (size_t)axis ? cache->shape[i] : 1;
        row *= i > (size_t)axis ? cache->shape[i] : 1;
    }
    if (!fits) {
        return "update must have the shape of past_cache, but along axis it may be shorter";
    }
    if (indices->rank != 1 || indices->size != cache->shape[0]) {
        return "write_indices must be [N], one for each batch";
    }
    layout->rows = cache->shape[axis];
    layout->updates = update->shape[axis];
    layout->row = row;
    return NULL;
}

/*
 * Computes the outputs:
 *
 *   inputs->past_cache        [N, ...]
 *   inputs->update            the same, but shorter along the axis
 *   inputs->write_indices     [N]: the place along the axis of the update's first row
 *   params->mode              "linear": updates end within the cache; "circular": they go on at its
 *                             start
 *   params->axis              the axis of the sequence
 *   outputs->present_cache    the shape of past_cache
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *tensorscatter_compute(const struct tensorscatter_inputs *inputs,
                                         const struct tensorscatter_params *params,
                                         struct tensorscatter_outputs *outputs)
{
    const struct opkit_tensor *cache = &inputs->past_cache, *y = &outputs->present_cache;
    const bool is_circular = strcmp(params->mode, "circular") == 0;
    struct tensorscatter_layout layout;

    const char *problem = tensorscatter_read(inputs, params, &layout);
    if (problem != NULL) {
        return problem;
    }
    if (y->type != cache->type || y->size != cache->size) {
        return "present_cache must have the type and the shape of past_cache";
    }
    memcpy(y->data, cache->data, cache->size * opkit_element_size(cache->type));
    for (size_t batch = 0; batch < cache->shape[0]; batch++) {
        const int64_t index = inputs->write_indices.int64[batch];
        const uint64_t last = layout.rows - layout.updates;

        if (index < 0 || (!is_circular && (uint64_t)index > last)) {
            return "write_indices must not be negative, and updates must end within the cache";
        }
        if (layout.updates == 0) {
            continue;
        }
        /* The rows up to the end of the cache, then those from its start on. */
        const size_t first = (size_t)((uint64_t)index % layout.rows), left = layout.rows - first;
        const size_t head = left < layout.updates ? left : layout.updates;

        for (size_t block = 0; block < layout.blocks; block++) {
            const size_t at = batch * layout.blocks + block;
            char *to = (char *)y->data + at * layout.rows * layout.row;
            const char *from = (const char *)inputs->update.data + at * layout.updates * layout.row;

            memcpy(to + first * layout.row, from, head * layout.row);
            memcpy(to, from + head * layout.row, (layout.updates - head) * layout.row);
        }
    }
    return NULL;
}

#endif
