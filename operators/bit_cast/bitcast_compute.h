/*
 * The math of BitCast: the bits of elements as those of another type.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in bitcast_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 */
#ifndef BITCAST_COMPUTE_H
#define BITCAST_COMPUTE_H

#include <string.h>

#include "generated/bitcast.h"

/*
 * Computes the outputs:
 *
 *   inputs->input      any shape
 *   params->to         the type of output in ONNX
 *   outputs->output    the shape of input
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *bitcast_compute(const struct bitcast_inputs *inputs,
                                   const struct bitcast_params *params,
                                   struct bitcast_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->input, *y = &outputs->output;
    const size_t size = opkit_element_size(x->type);

    if (params->to != opkit_onnx_type(y->type)) {
        return "to must be the type of output";
    }
    if (opkit_element_size(y->type) != size || y->size != x->size) {
        return "output must have elements of the size of input's, and its shape";
    }
    memcpy(y->data, x->data, x->size * size);
    return NULL;
}

#endif
