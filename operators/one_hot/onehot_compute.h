/*
 * The math of OneHot: a row for each index, with one value at its place and another elsewhere.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in onehot_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16; integer tensors are
 * not converted.
 */
#ifndef ONEHOT_COMPUTE_H
#define ONEHOT_COMPUTE_H

#include "generated/onehot.h"
#include "include/opkit/compute/processor.h"

enum {
    ONEHOT_NOWHERE = -1 /* instead of a place */
};

/* Returns the place of the i-th index along the new dimension. */
static int64_t onehot_place(const struct opkit_tensor *indices, size_t i, int64_t depth)
{
    int64_t index;

    if (indices->type == OPKIT_INT64) {
        index = indices->int64[i];
    } else if (indices->type == OPKIT_INT32) {
        index = indices->int32[i];
    } else {
        const float x = indices->float32[i];
        /* In this range, the conversion is defined; NaN is not in it. */
        if (!(x > -9.0e18F && x < 9.0e18F)) {
            return ONEHOT_NOWHERE;
        }
        index = (int64_t)x;
    }
    if (index < -depth || index >= depth) {
        return ONEHOT_NOWHERE;
    }
    return index < 0 ? index + depth : index;
}

/* Checks types and shapes; computes the axis. Returns NULL, or an error message. */
static const char *onehot_check(const struct onehot_inputs *inputs,
                                const struct onehot_params *params,
                                const struct onehot_outputs *outputs, size_t *axis)
{
    const struct opkit_tensor *indices = &inputs->indices;
    const int64_t rank = (int64_t)indices->rank + 1; /* of output */

    if (indices->type != OPKIT_FLOAT32 && indices->type != OPKIT_INT32 &&
        indices->type != OPKIT_INT64) {
        return "indices must be float16, float32, int32 or int64";
    }
    const enum opkit_type type = inputs->values.type;
    if ((type != OPKIT_FLOAT32 && type != OPKIT_INT32 && type != OPKIT_INT64) ||
        outputs->output.type != type) {
        return "values must be float16, float32, int32 or int64, and output of their type";
    }
    if (inputs->values.size != 2) {
        return "values must have 2 elements: off and on";
    }
    if (params->depth < 1) {
        return "depth must be 1 or more";
    }
    if (params->axis < -rank || params->axis >= rank) {
        return "axis must be a dimension of output: from -rank to rank - 1";
    }
    *axis = (size_t)(params->axis < 0 ? params->axis + rank : params->axis);
    return outputs->output.size == indices->size * (size_t)params->depth
               ? NULL
               : "output must have depth elements for each index";
}

/* Writes off everywhere, then on at the places of the indices; floats as their bits. */
OPKIT_INLINE void onehot_write(const struct onehot_inputs *inputs,
                               const struct opkit_tensor *output, int64_t depth, size_t pitch,
                               bool is_wide)
{
    const struct opkit_tensor *indices = &inputs->indices, *values = &inputs->values;
    const size_t count = (size_t)depth * pitch, size = output->size;

    if (is_wide) {
        const int64_t off = values->int64[0];
        int64_t *y = output->int64;

        for (size_t i = 0; i < size; i++) {
            y[i] = off;
        }
    } else {
        const int32_t off = values->int32[0];
        int32_t *y = output->int32;

        for (size_t i = 0; i < size; i++) {
            y[i] = off;
        }
    }
    for (size_t i = 0; i < indices->size; i++) {
        const int64_t place = onehot_place(indices, i, depth);
        const size_t at = i / pitch * count + (size_t)place * pitch + i % pitch;

        if (place != ONEHOT_NOWHERE && is_wide) {
            output->int64[at] = values->int64[1];
        } else if (place != ONEHOT_NOWHERE) {
            output->int32[at] = values->int32[1];
        }
    }
}

/*
 * Computes the outputs:
 *
 *   inputs->indices    any shape
 *   inputs->values     [2]: off and on
 *   params->depth      the number of classes; an index is from -depth to depth - 1
 *   params->axis       the new dimension; negative: counted from the last one of output
 *   outputs->output    the shape of indices, with a new dimension of length depth at the axis
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *onehot_compute(const struct onehot_inputs *inputs,
                                  const struct onehot_params *params,
                                  struct onehot_outputs *outputs)
{
    const struct opkit_tensor *indices = &inputs->indices;
    size_t axis;

    const char *problem = onehot_check(inputs, params, outputs, &axis);
    if (problem != NULL) {
        return problem;
    }

    size_t pitch = 1; /* from one place to the next in memory */
    for (size_t i = axis; i < indices->rank; i++) {
        pitch *= indices->shape[i];
    }
    if (outputs->output.type == OPKIT_INT64) {
        onehot_write(inputs, &outputs->output, params->depth, pitch, true);
    } else {
        onehot_write(inputs, &outputs->output, params->depth, pitch, false);
    }
    return NULL;
}

#endif
