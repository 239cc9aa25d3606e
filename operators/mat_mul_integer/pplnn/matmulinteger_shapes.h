/*
 * The shape rule of MatMulInteger, for runtimes that infer shapes at run time: that of numpy's
 * matmul.
 */
#ifndef MATMULINTEGER_SHAPES_H
#define MATMULINTEGER_SHAPES_H

#include "../generated/matmulinteger.h"
#include "../include/opkit/compute/integer_matmul.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *matmulinteger_shapes(const struct matmulinteger_inputs *inputs,
                                        const struct matmulinteger_params *params,
                                        struct matmulinteger_outputs *outputs)
{
    (void)params;
    return opkit_matmul_shape(&inputs->a, &inputs->b, &outputs->y)
               ? NULL
               : "a must be [..., M, K] and b [..., K, N]";
}

#endif
