/*
 * The shape rule of QLinearMatMul, for runtimes that infer shapes at run time: that of numpy's
 * matmul.
 */
#ifndef QLINEARMATMUL_SHAPES_H
#define QLINEARMATMUL_SHAPES_H

#include "../generated/qlinearmatmul.h"
#include "../include/opkit/compute/integer_matmul.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *qlinearmatmul_shapes(const struct qlinearmatmul_inputs *inputs,
                                        const struct qlinearmatmul_params *params,
                                        struct qlinearmatmul_outputs *outputs)
{
    (void)params;
    return opkit_matmul_shape(&inputs->a, &inputs->b, &outputs->y)
               ? NULL
               : "a must be [..., M, K] and b [..., K, N]";
}

#endif
