/*
 * The shape rule of Det, for runtimes that infer shapes at run time.
 *
 * y is [...], for matrices [..., M, M]; of a single matrix, [1].
 */
#ifndef DET_SHAPES_H
#define DET_SHAPES_H

#include "../generated/det.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *det_shapes(const struct det_inputs *inputs, const struct det_params *params,
                              struct det_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->x;

    (void)params;
    if (x->rank < 2 || x->shape[x->rank - 2] != x->shape[x->rank - 1]) {
        return "x must be square matrices, [..., M, M]";
    }
    outputs->y.rank = x->rank > 2 ? x->rank - 2 : 1;
    outputs->y.shape[0] = 1;
    for (size_t i = 0; i + 2 < x->rank; i++) {
        outputs->y.shape[i] = x->shape[i];
    }
    return NULL;
}

#endif
