/*
 * The math of MatMulInteger: products of matrices of 8-bit integers.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in matmulinteger_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 */
#ifndef MATMULINTEGER_COMPUTE_H
#define MATMULINTEGER_COMPUTE_H

#include <string.h>

#include "generated/matmulinteger.h"
#include "include/opkit/compute/integer_matmul.h"
#include "include/opkit/compute/parallel.h"

/* Computes some blocks of the output. */
static void matmulinteger_part(const void *context, size_t begin, size_t end)
{
    const struct opkit_matmul *plan = (const struct opkit_matmul *)context;
    struct opkit_integer_block block;
    size_t column;

    block.summed = NULL;
    for (size_t index = begin; index < end; index++) {
        int32_t *y = plan->y->int32 + opkit_run_matmul(plan, index, &block, &column);

        for (size_t row = 0; row < block.rows; row++) {
            memcpy(y + row * plan->product.columns, block.sums + row * OPKIT_MATMUL_COLUMNS,
                   block.columns * sizeof *y);
        }
    }
}

/*
 * Computes the outputs:
 *
 *   inputs->a               int8 or uint8, [..., M, K]
 *   inputs->b               int8 or uint8, [..., K, N]
 *   inputs->a_zero_point    one number, or [M]
 *   inputs->b_zero_point    one number, or [N]
 *   outputs->y              int32, [..., M, N]
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *matmulinteger_compute(const struct matmulinteger_inputs *inputs,
                                         const struct matmulinteger_params *params,
                                         struct matmulinteger_outputs *outputs)
{
    const struct opkit_tensor *a = &inputs->a, *b = &inputs->b, *y = &outputs->y;
    struct opkit_matmul plan;

    (void)params;
    if (!opkit_holds_bytes(a) || !opkit_holds_bytes(b) || y->type != OPKIT_INT32) {
        return "a and b must be int8 or uint8, and y int32";
    }
    if (inputs->a_zero_point.type != a->type || inputs->b_zero_point.type != b->type) {
        return "a_zero_point must be of the type of a, and b_zero_point of that of b";
    }
    if (!opkit_is_matmul_of(y, a, b)) {
        return "a must be [..., M, K], b [..., K, N] and y [..., M, N]";
    }
    if (!opkit_are_zeros_of(&inputs->a_zero_point, a->shape[a->rank - 2]) ||
        !opkit_are_zeros_of(&inputs->b_zero_point, b->shape[b->rank - 1])) {
        return "a_zero_point must be one number or [M], and b_zero_point one or [N]";
    }
    opkit_plan_matmul(&plan, a, b, y, &inputs->a_zero_point, &inputs->b_zero_point);
    opkit_parallel_for(opkit_matmul_blocks(&plan), 1, matmulinteger_part, &plan);
    return NULL;
}

#endif
