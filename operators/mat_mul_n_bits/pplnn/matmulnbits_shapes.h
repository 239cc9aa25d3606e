/*
 * The shape rule of MatMulNBits, for runtimes that infer shapes at run time: that of a, with N
 * columns.
 */
#ifndef MATMULNBITS_SHAPES_H
#define MATMULNBITS_SHAPES_H

#include "../generated/matmulnbits.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *matmulnbits_shapes(const struct matmulnbits_inputs *inputs,
                                      const struct matmulnbits_params *params,
                                      struct matmulnbits_outputs *outputs)
{
    const size_t last = inputs->a.rank - 1;

    if (params->N < 1) {
        return "K and N must be above 0";
    }
    outputs->y = inputs->a;
    outputs->y.shape[last] = (size_t)params->N;
    return NULL;
}

#endif
