/*
 * The math of ConvInteger: convolutions of 8-bit integers.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in convinteger_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 */
#ifndef CONVINTEGER_COMPUTE_H
#define CONVINTEGER_COMPUTE_H

#include <string.h>

#include "generated/convinteger.h"
#include "include/opkit/compute/integer_conv.h"
#include "include/opkit/compute/parallel.h"

struct convinteger_task {
    struct opkit_conv conv;
    int32_t *y;
};

static inline struct opkit_conv_params convinteger_attributes(const struct convinteger_params *from)
{
    const struct opkit_conv_params params = {from->kernel_shape, from->strides,  from->dilations,
                                             from->pads,         from->auto_pad, from->group};

    return params;
}

/* Computes some blocks of the output. */
static void convinteger_part(const void *context, size_t begin, size_t end)
{
    const struct convinteger_task *task = (const struct convinteger_task *)context;
    struct opkit_conv_block block;

    block.sums.summed = NULL;
    for (size_t index = begin; index < end; index++) {
        opkit_run_conv(&task->conv, index, &block);
        for (size_t row = 0; row < block.sums.rows; row++) {
            memcpy(task->y + opkit_conv_place(&task->conv, &block, row),
                   block.sums.sums + row * OPKIT_MATMUL_COLUMNS,
                   block.sums.columns * sizeof *task->y);
        }
    }
}

/*
 * Computes the outputs:
 *
 *   inputs->x               int8 or uint8, [N, C, ...], with 1 to 3 dimensions behind C
 *   inputs->w               int8 or uint8, [M, C / group, ...]
 *   inputs->x_zero_point    one number
 *   inputs->w_zero_point    one number, or [M]
 *   params->kernel_shape    the shape of w behind its channels, or [0]
 *   params->strides         the distances of windows; one item is for all dimensions
 *   params->dilations       the distances of a window's numbers; one item is for all dimensions
 *   params->pads            places before each dimension, then after each; or one item
 *   params->auto_pad        "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"
 *   params->group           the count of groups of channels
 *   outputs->y              int32, [N, M, ...]
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *convinteger_compute(const struct convinteger_inputs *inputs,
                                       const struct convinteger_params *params,
                                       struct convinteger_outputs *outputs)
{
    const struct opkit_conv_params attributes = convinteger_attributes(params);
    struct convinteger_task task;

    if (outputs->y.type != OPKIT_INT32) {
        return "y must be int32";
    }
    const char *problem = opkit_plan_conv(&task.conv, &inputs->x, &inputs->w, &inputs->x_zero_point,
                                          &inputs->w_zero_point, &outputs->y, &attributes);
    if (problem != NULL) {
        return problem;
    }
    task.y = outputs->y.int32;
    opkit_parallel_for(opkit_conv_blocks(&task.conv), 1, convinteger_part, &task);
    return NULL;
}

#endif
