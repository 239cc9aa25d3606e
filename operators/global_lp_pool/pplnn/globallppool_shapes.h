/*
 * The shape rule of GlobalLpPool, for runtimes that infer shapes at run time.
 *
 * y is [N, C, 1, ...], in the rank of x.
 */
#ifndef GLOBALLPPOOL_SHAPES_H
#define GLOBALLPPOOL_SHAPES_H

#include "../generated/globallppool.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *globallppool_shapes(const struct globallppool_inputs *inputs,
                                       const struct globallppool_params *params,
                                       struct globallppool_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->x;

    (void)params;
    if (x->rank < 3) {
        return "x must be [N, C, D1, ...], with 3 dimensions or more";
    }
    outputs->y.rank = x->rank;
    for (size_t i = 0; i < x->rank; i++) {
        outputs->y.shape[i] = i < 2 ? x->shape[i] : 1;
    }
    return NULL;
}

#endif
