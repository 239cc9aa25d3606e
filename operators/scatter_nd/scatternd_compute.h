/*
 * The math of ScatterND: data with elements or slices replaced or changed by updates.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in scatternd_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16; integer tensors are
 * not converted.
 *
 * The updates are applied in their order, each to the result of the one before: scatter.h.
 */
#ifndef SCATTERND_COMPUTE_H
#define SCATTERND_COMPUTE_H

#include <string.h>

#include "generated/scatternd.h"
#include "include/opkit/compute/scatter.h"

/* Checks types and shapes. Returns NULL, or an error message. */
static const char *scatternd_check(const struct scatternd_inputs *inputs,
                                   const struct opkit_tensor *y)
{
    const struct opkit_tensor *x = &inputs->data;
    const struct opkit_tensor *indices = &inputs->indices;
    const struct opkit_tensor *updates = &inputs->updates;
    const size_t coordinates = indices->shape[indices->rank - 1];

    if (updates->type != x->type || y->type != x->type || indices->type != OPKIT_INT64) {
        return "updates and output must be of the type of data, and indices int64";
    }
    if (coordinates < 1 || coordinates > x->rank) {
        return "the last dimension of indices must be 1 to the rank of data";
    }
    /* A single update of a single element: updates without dimensions are [1]. */
    const size_t outer = indices->rank - 1;
    const size_t rank = outer + x->rank - coordinates;
    if (updates->rank != (rank > 0 ? rank : 1) || y->size != x->size) {
        return "updates must be [..., and the rest of data's dimensions], as indices and data";
    }
    for (size_t i = 0; i < rank; i++) {
        const size_t side = i < outer ? indices->shape[i] : x->shape[i - outer + coordinates];

        if (updates->shape[i] != side) {
            return "updates must be [..., and the rest of data's dimensions], as indices and data";
        }
    }
    return NULL;
}

/*
 * Computes the outputs:
 *
 *   inputs->data         any shape
 *   inputs->indices      [..., K]: the first K coordinates in data; negative: from the end
 *   inputs->updates      [..., and the dimensions of data after the first K]
 *   params->reduction    "none": an update replaces elements; "add", "mul", "min", "max"
 *   outputs->output      the changed data, in the shape of data
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *scatternd_compute(const struct scatternd_inputs *inputs,
                                     const struct scatternd_params *params,
                                     struct scatternd_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->data;
    const struct opkit_tensor *updates = &inputs->updates;
    const struct opkit_tensor *y = &outputs->output;
    const enum opkit_reduction_kind reduction = opkit_find_reduction(params->reduction);

    const char *problem = scatternd_check(inputs, y);
    if (problem != NULL) {
        return problem;
    }
    if (reduction == OPKIT_NO_REDUCTION) {
        return "reduction must be none, add, mul, min or max";
    }

    const size_t coordinates = inputs->indices.shape[inputs->indices.rank - 1];
    const size_t element = opkit_element_size(x->type);
    const int64_t *index = inputs->indices.int64;
    size_t slice = 1; /* elements of an update */
    for (size_t i = coordinates; i < x->rank; i++) {
        slice *= x->shape[i];
    }
    memcpy(y->data, x->data, x->size * element);
    for (size_t first = 0; first < updates->size; first += slice) {
        size_t place = 0; /* of the update, in output */

        for (size_t i = 0; i < coordinates; i++) {
            const int64_t length = (int64_t)x->shape[i];
            const int64_t given = *index++;
            const int64_t found = given < 0 ? given + length : given;

            if (found < 0 || found >= length) {
                return "indices must be within data: from -length to length - 1";
            }
            place = place * x->shape[i] + (size_t)found;
        }
        place *= slice;
        if (reduction == OPKIT_REPLACE) {
            memcpy((char *)y->data + place * element, (const char *)updates->data + first * element,
                   slice * element);
        } else if (x->type == OPKIT_FLOAT32) {
            opkit_update_float32(y->float32 + place, NULL, updates->float32 + first, slice,
                                 reduction);
        } else if (x->type == OPKIT_INT32) {
            opkit_update_int32(y->int32 + place, NULL, updates->int32 + first, slice, reduction);
        } else if (x->type == OPKIT_INT64) {
            opkit_update_int64(y->int64 + place, NULL, updates->int64 + first, slice, reduction);
        } else {
            opkit_update_small(y, place, NULL, updates, first, slice, reduction);
        }
    }
    return NULL;
}

#endif
