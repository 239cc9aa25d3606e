/*
 * The math of ScatterElements: data with elements replaced or changed by updates.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in scatterelements_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in
 * all. Floating-point tensors are arrays of float, also if the model has float16; integer tensors
 * are not converted.
 *
 * The updates are applied in their order, each to the result of the one before: scatter.h.
 */
#ifndef SCATTERELEMENTS_COMPUTE_H
#define SCATTERELEMENTS_COMPUTE_H

#include <string.h>

#include "generated/scatterelements.h"
#include "include/opkit/compute/scatter.h"

enum {
    SCATTERELEMENTS_BLOCK = 256 /* updates whose places are computed at once */
};

/* Updates in one row of `indices`, and their places. */
struct scatterelements_block {
    size_t start; /* the offset of the first one in indices and updates */
    size_t count;
    size_t places[SCATTERELEMENTS_BLOCK]; /* offsets in output */
};

/*
 * Computes the places of a block's updates: `first` for the index 0 of the first one, `step` more
 * for each next one, and `pitch` for each index. Returns false if an index is outside of the axis.
 * Without comparisons and, if it can be, multiplications: vectors of 64 bits may lack both.
 */
static bool scatterelements_find(const int64_t *indices, int64_t length, size_t pitch, size_t first,
                                 size_t step, struct scatterelements_block *block)
{
    int64_t outside = 0; /* negative if an index is below 0, or above length - 1 */

    for (size_t i = 0; i < block->count; i++) {
        const int64_t index = indices[i] + ((indices[i] >> 63) & length);

        outside |= index | (length - 1 - index);
        block->places[i] = (size_t)index;
    }
    if (pitch == 1 && step == 0) {
        for (size_t i = 0; i < block->count; i++) {
            block->places[i] += first;
        }
    } else {
        for (size_t i = 0; i < block->count; i++) {
            block->places[i] = first + block->places[i] * pitch + i * step;
        }
    }
    return outside >= 0;
}

/* Checks types and shapes. Returns NULL, or an error message. */
static const char *scatterelements_check(const struct scatterelements_inputs *inputs,
                                         const struct scatterelements_params *params,
                                         const struct opkit_tensor *y)
{
    const struct opkit_tensor *x = &inputs->data;
    const struct opkit_tensor *indices = &inputs->indices;
    const struct opkit_tensor *updates = &inputs->updates;
    const int64_t rank = (int64_t)x->rank;
    const int64_t axis = params->axis < 0 ? params->axis + rank : params->axis;

    if (updates->type != x->type || y->type != x->type || indices->type != OPKIT_INT64) {
        return "updates and output must be of the type of data, and indices int64";
    }
    if (axis < 0 || axis >= rank) {
        return "axis must be a dimension of data: from -rank to rank - 1";
    }
    if (indices->rank != x->rank || updates->rank != x->rank || y->size != x->size) {
        return "data, indices, updates and output must have the same rank";
    }
    for (size_t i = 0; i < x->rank; i++) {
        const bool fits = indices->shape[i] <= x->shape[i] || i == (size_t)axis;
        if (indices->shape[i] != updates->shape[i] || !fits) {
            return "indices and updates must be of one shape, larger than data at most along axis";
        }
    }
    return NULL;
}

/*
 * Computes the outputs:
 *
 *   inputs->data         any shape
 *   inputs->indices      the place of each update along the axis; negative: counted from its end
 *   inputs->updates      the shape of indices
 *   params->axis         the axis; negative: counted from the last one
 *   params->reduction    "none": an update replaces the element; "add", "mul", "min", "max"
 *   outputs->output      the changed data, in the shape of data
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *scatterelements_compute(const struct scatterelements_inputs *inputs,
                                           const struct scatterelements_params *params,
                                           struct scatterelements_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->data;
    const struct opkit_tensor *updates = &inputs->updates;
    const struct opkit_tensor *y = &outputs->output;
    const enum opkit_reduction_kind reduction = opkit_find_reduction(params->reduction);

    const char *problem = scatterelements_check(inputs, params, y);
    if (problem != NULL) {
        return problem;
    }
    if (reduction == OPKIT_NO_REDUCTION) {
        return "reduction must be none, add, mul, min or max";
    }

    const size_t last = x->rank - 1;
    const size_t axis = (size_t)(params->axis < 0 ? params->axis + (int64_t)x->rank : params->axis);
    const int64_t length = (int64_t)x->shape[axis];
    const size_t columns = updates->shape[last];
    const size_t step = axis == last ? 0 : 1; /* from one column to the next */
    size_t pitches[OPKIT_MAX_RANK]; /* of data */
    size_t position[OPKIT_MAX_RANK] = {0}; /* of a row of updates */
    struct scatterelements_block block;

    pitches[last] = 1;
    for (size_t i = last; i > 0; i--) {
        pitches[i - 1] = pitches[i] * x->shape[i];
    }
    memcpy(y->data, x->data, x->size * opkit_element_size(x->type));
    for (size_t row = 0; row < updates->size; row += columns) {
        size_t first = 0; /* the place of the row in data, without the axis */
        for (size_t i = 0; i < last; i++) {
            first += i == axis ? 0 : position[i] * pitches[i];
        }
        for (size_t column = 0; column < columns; column += block.count) {
            const size_t rest = columns - column;

            block.start = row + column;
            block.count = rest < SCATTERELEMENTS_BLOCK ? rest : (size_t)SCATTERELEMENTS_BLOCK;
            const int64_t *indices = inputs->indices.int64 + block.start;
            if (!scatterelements_find(indices, length, pitches[axis], first + column * step, step,
                                      &block)) {
                return "indices must be within the axis: from -length to length - 1";
            }
            if (x->type == OPKIT_FLOAT32) {
                opkit_update_float32(y->float32, block.places, updates->float32 + block.start,
                                     block.count, reduction);
            } else if (x->type == OPKIT_INT32) {
                opkit_update_int32(y->int32, block.places, updates->int32 + block.start,
                                   block.count, reduction);
            } else if (x->type == OPKIT_INT64) {
                opkit_update_int64(y->int64, block.places, updates->int64 + block.start,
                                   block.count, reduction);
            } else {
                opkit_update_small(y, 0, block.places, updates, block.start, block.count,
                                   reduction);
            }
        }
        for (size_t i = last; i > 0 && ++position[i - 1] == updates->shape[i - 1]; i--) {
            position[i - 1] = 0;
        }
    }
    return NULL;
}

#endif
