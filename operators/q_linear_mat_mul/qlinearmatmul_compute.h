/*
 * The math of QLinearMatMul: products of matrices of quantized numbers, quantized again.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in qlinearmatmul_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16.
 *
 * Sums are integers. One float scales the sums of a column, as in onnxruntime.
 */
#ifndef QLINEARMATMUL_COMPUTE_H
#define QLINEARMATMUL_COMPUTE_H

#include "generated/qlinearmatmul.h"
#include "include/opkit/compute/integer_matmul.h"
#include "include/opkit/compute/parallel.h"
#include "include/opkit/compute/quantize.h"

struct qlinearmatmul_task {
    struct opkit_matmul plan;
    const struct qlinearmatmul_inputs *inputs;
    struct opkit_byte_range range; /* of y */
};

/* Computes some blocks of the output. */
static void qlinearmatmul_part(const void *context, size_t begin, size_t end)
{
    const struct qlinearmatmul_task *task = (const struct qlinearmatmul_task *)context;
    const struct opkit_tensor *b_scale = &task->inputs->b_scale;
    const float a_scale = task->inputs->a_scale.float32[0];
    const float y_scale = task->inputs->y_scale.float32[0];
    struct opkit_integer_block block;
    float scales[OPKIT_MATMUL_COLUMNS];
    size_t column;

    block.summed = NULL;
    for (size_t index = begin; index < end; index++) {
        uint8_t *y = task->plan.y->uint8 + opkit_run_matmul(&task->plan, index, &block, &column);

        for (size_t i = 0; i < block.columns; i++) {
            scales[i] = a_scale * b_scale->float32[b_scale->size == 1 ? 0 : column + i] / y_scale;
        }
        for (size_t row = 0; row < block.rows; row++) {
            opkit_quantize_sums_widest(&task->range, block.sums + row * OPKIT_MATMUL_COLUMNS, 0,
                                       scales, block.columns, y + row * task->plan.product.columns);
        }
    }
}

/* Checks types and shapes. Returns NULL, or an error message. */
static const char *qlinearmatmul_check(const struct qlinearmatmul_inputs *inputs,
                                       const struct opkit_tensor *y)
{
    const struct opkit_tensor *a = &inputs->a, *b = &inputs->b;

    if (!opkit_holds_bytes(a) || !opkit_holds_bytes(b) || y->type != a->type) {
        return "a and b must be int8 or uint8, and y of the type of a";
    }
    if (inputs->a_zero_point.type != a->type || inputs->b_zero_point.type != b->type ||
        inputs->y_zero_point.type != y->type) {
        return "zero points must be of the types of a, b and y";
    }
    if (inputs->a_scale.type != OPKIT_FLOAT32 || inputs->b_scale.type != OPKIT_FLOAT32 ||
        inputs->y_scale.type != OPKIT_FLOAT32) {
        return "scales must be float16 or float32";
    }
    if (!opkit_is_matmul_of(y, a, b)) {
        return "a must be [..., M, K], b [..., K, N] and y [..., M, N]";
    }
    if (inputs->a_scale.size != 1 || inputs->a_zero_point.size != 1 || inputs->y_scale.size != 1 ||
        inputs->y_zero_point.size != 1) {
        return "scales and zero points of a and y must be one number";
    }
    if (!opkit_are_zeros_of(&inputs->b_scale, b->shape[b->rank - 1]) ||
        !opkit_are_zeros_of(&inputs->b_zero_point, b->shape[b->rank - 1])) {
        return "b_scale and b_zero_point must be one number or [N]";
    }
    return NULL;
}

/*
 * Computes the outputs:
 *
 *   inputs->a, b                          int8 or uint8, [..., M, K] and [..., K, N]
 *   inputs->a_scale, a_zero_point         one number
 *   inputs->b_scale, b_zero_point         one number, or [N]
 *   inputs->y_scale, y_zero_point         one number
 *   outputs->y                            of the type of a, [..., M, N]
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *qlinearmatmul_compute(const struct qlinearmatmul_inputs *inputs,
                                         const struct qlinearmatmul_params *params,
                                         struct qlinearmatmul_outputs *outputs)
{
    struct qlinearmatmul_task task;
    const char *problem = qlinearmatmul_check(inputs, &outputs->y);

    (void)params;
    if (problem != NULL) {
        return problem;
    }
    opkit_plan_matmul(&task.plan, &inputs->a, &inputs->b, &outputs->y, &inputs->a_zero_point,
                      &inputs->b_zero_point);
    task.inputs = inputs;
    task.range = opkit_byte_range_of(&inputs->y_zero_point);
    opkit_parallel_for(opkit_matmul_blocks(&task.plan), 1, qlinearmatmul_part, &task);
    return NULL;
}

#endif
