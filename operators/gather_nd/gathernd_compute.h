/*
 * The math of GatherND: the elements or slices of data at indices.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in gathernd_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16; integer tensors are
 * not converted.
 */
#ifndef GATHERND_COMPUTE_H
#define GATHERND_COMPUTE_H

#include <string.h>

#include "generated/gathernd.h"

/* The sizes of a call. */
struct gathernd_sizes {
    size_t batches;
    size_t batch; /* elements of data in a batch */
    size_t tuples; /* tuples of coordinates in a batch */
    size_t coordinates; /* in a tuple */
    size_t slice; /* elements of data at a tuple */
};

/* Checks types and shapes; computes the sizes. Returns NULL, or an error message. */
static const char *gathernd_check(const struct gathernd_inputs *inputs, int64_t batch_dims,
                                  const struct opkit_tensor *y, struct gathernd_sizes *sizes)
{
    const struct opkit_tensor *x = &inputs->data;
    const struct opkit_tensor *indices = &inputs->indices;

    if (indices->type != OPKIT_INT64 || y->type != x->type) {
        return "indices must be int64, and output of the type of data";
    }
    if (batch_dims < 0 || (uint64_t)batch_dims >= indices->rank ||
        (uint64_t)batch_dims >= x->rank) {
        return "batch_dims must be 0 or more, and less than the ranks of data and indices";
    }
    const size_t first = (size_t)batch_dims;
    sizes->coordinates = indices->shape[indices->rank - 1];
    if (sizes->coordinates < 1 || sizes->coordinates > x->rank - first) {
        return "the last dimension of indices must be 1 to the rank of data minus batch_dims";
    }
    sizes->batches = sizes->batch = sizes->slice = 1;
    for (size_t i = 0; i < x->rank; i++) {
        if (i < first && x->shape[i] != indices->shape[i]) {
            return "data and indices must have the same first batch_dims dimensions";
        }
        sizes->batches *= i < first ? x->shape[i] : 1;
        sizes->batch *= i < first ? 1 : x->shape[i];
        sizes->slice *= i < first + sizes->coordinates ? 1 : x->shape[i];
    }
    sizes->tuples = indices->size / (sizes->batches * sizes->coordinates);
    return y->size == sizes->batches * sizes->tuples * sizes->slice
               ? NULL
               : "output must be [batches..., ..., and the rest of data's dimensions]";
}

/* Copies one slice. Most are single elements, for which a call of memcpy would be slow. */
static inline void gathernd_copy(char *to, const char *from, size_t size)
{
    if (size == 4) {
        memcpy(to, from, 4);
    } else {
        memcpy(to, from, size);
    }
}

/*
 * Computes the outputs:
 *
 *   inputs->data          any shape
 *   inputs->indices       [batches..., ..., K]: coordinates; negative: counted from the end
 *   params->batch_dims    the number of first dimensions that data and indices share
 *   outputs->output       [batches..., ..., and the dimensions of data after the coordinates]
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *gathernd_compute(const struct gathernd_inputs *inputs,
                                    const struct gathernd_params *params,
                                    struct gathernd_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->data;
    struct gathernd_sizes sizes;

    const char *problem = gathernd_check(inputs, params->batch_dims, &outputs->output, &sizes);
    if (problem != NULL) {
        return problem;
    }

    const size_t *shape = x->shape + params->batch_dims; /* of a batch */
    const size_t element = opkit_element_size(x->type);
    const size_t size = sizes.slice * element;
    const int64_t *index = inputs->indices.int64;
    char *to = (char *)outputs->output.data;
    for (size_t batch = 0; batch < sizes.batches; batch++) {
        const char *from = (const char *)x->data + batch * sizes.batch * element;

        for (size_t tuple = 0; tuple < sizes.tuples; tuple++) {
            size_t place = 0; /* of the slice, in slices */

            for (size_t i = 0; i < sizes.coordinates; i++) {
                const int64_t length = (int64_t)shape[i];
                const int64_t found = index[i] < 0 ? index[i] + length : index[i];

                if (found < 0 || found >= length) {
                    return "indices must be within data: from -length to length - 1";
                }
                place = place * shape[i] + (size_t)found;
            }
            gathernd_copy(to, from + place * size, size);
            index += sizes.coordinates;
            to += size;
        }
    }
    return NULL;
}

#endif
