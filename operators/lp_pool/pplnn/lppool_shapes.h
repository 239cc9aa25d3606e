/*
 * The shape rule of LpPool, for runtimes that infer shapes at run time.
 *
 * y is [N, C, ...], with an element for each window.
 */
#ifndef LPPOOL_SHAPES_H
#define LPPOOL_SHAPES_H

#include "../lppool_compute.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *lppool_shapes(const struct lppool_inputs *inputs,
                                 const struct lppool_params *params, struct lppool_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->x;
    struct lppool_layout layout;

    const char *problem = lppool_read(params, x, &layout);
    if (problem != NULL) {
        return problem;
    }
    outputs->y.rank = x->rank;
    outputs->y.shape[0] = x->shape[0];
    outputs->y.shape[1] = x->shape[1];
    for (size_t i = 2; i < x->rank; i++) {
        const size_t dimension = LPPOOL_DIMENSIONS - x->rank + i;

        outputs->y.shape[i] = (size_t)layout.dimensions[dimension].windows;
    }
    return NULL;
}

#endif
