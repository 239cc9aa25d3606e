/*
 * The shape rule of AffineGrid, for runtimes that infer shapes at run time.
 *
 * grid is [N, H, W, 2] for theta [N, 2, 3], and [N, D, H, W, 3] for [N, 3, 4].
 */
#ifndef AFFINEGRID_SHAPES_H
#define AFFINEGRID_SHAPES_H

#include "../affinegrid_compute.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *affinegrid_shapes(const struct affinegrid_inputs *inputs,
                                     const struct affinegrid_params *params,
                                     struct affinegrid_outputs *outputs)
{
    return affinegrid_shape(&inputs->theta, params, &outputs->grid);
}

#endif
