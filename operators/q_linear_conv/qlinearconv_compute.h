/*
 * The math of QLinearConv: convolutions of quantized numbers, quantized again.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in qlinearconv_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16.
 *
 * Sums are integers. One float scales the sums of a channel, as in onnxruntime.
 */
#ifndef QLINEARCONV_COMPUTE_H
#define QLINEARCONV_COMPUTE_H

#include "generated/qlinearconv.h"
#include "include/opkit/compute/integer_conv.h"
#include "include/opkit/compute/parallel.h"
#include "include/opkit/compute/quantize.h"

struct qlinearconv_task {
    struct opkit_conv conv;
    const struct qlinearconv_inputs *inputs;
    uint8_t *y;
    struct opkit_byte_range range; /* of y */
};

static inline struct opkit_conv_params qlinearconv_attributes(const struct qlinearconv_params *from)
{
    const struct opkit_conv_params params = {from->kernel_shape, from->strides,  from->dilations,
                                             from->pads,         from->auto_pad, from->group};

    return params;
}

/* Computes some blocks of the output. */
static void qlinearconv_part(const void *context, size_t begin, size_t end)
{
    const struct qlinearconv_task *task = (const struct qlinearconv_task *)context;
    const struct opkit_tensor *w_scale = &task->inputs->w_scale;
    const float x_scale = task->inputs->x_scale.float32[0];
    const float y_scale = task->inputs->y_scale.float32[0];
    struct opkit_conv_block block;
    float scales[OPKIT_MATMUL_COLUMNS];

    block.sums.summed = NULL;
    for (size_t index = begin; index < end; index++) {
        opkit_run_conv(&task->conv, index, &block);
        for (size_t row = 0; row < block.sums.rows; row++) {
            const size_t kernel = block.kernel + row;
            const float scale = w_scale->float32[w_scale->size == 1 ? 0 : kernel];

            for (size_t i = 0; i < block.sums.columns; i++) {
                scales[i] = x_scale * scale / y_scale;
            }
            opkit_quantize_sums_widest(&task->range, block.sums.sums + row * OPKIT_MATMUL_COLUMNS,
                                       task->inputs->b.int32[kernel], scales, block.sums.columns,
                                       task->y + opkit_conv_place(&task->conv, &block, row));
        }
    }
}

/* Checks what ConvInteger does not have. Returns NULL, or an error message. */
static const char *qlinearconv_check(const struct qlinearconv_inputs *inputs,
                                     const struct opkit_tensor *y)
{
    const size_t kernels = inputs->w.shape[0];

    if (y->type != inputs->x.type || inputs->y_zero_point.type != y->type) {
        return "y and y_zero_point must be of the type of x";
    }
    if (inputs->x_scale.type != OPKIT_FLOAT32 || inputs->w_scale.type != OPKIT_FLOAT32 ||
        inputs->y_scale.type != OPKIT_FLOAT32) {
        return "scales must be float16 or float32";
    }
    if (inputs->x_scale.size != 1 || inputs->y_scale.size != 1 || inputs->y_zero_point.size != 1) {
        return "scales and zero points of x and y must be one number";
    }
    if (!opkit_are_zeros_of(&inputs->w_scale, kernels)) {
        return "w_scale must be one number or [M]";
    }
    if (inputs->b.type != OPKIT_INT32 || inputs->b.size != kernels) {
        return "b must be int32, [M]";
    }
    return NULL;
}

/*
 * Computes the outputs:
 *
 *   inputs->x                             int8 or uint8, [N, C, ...]
 *   inputs->x_scale, x_zero_point         one number
 *   inputs->w                             int8 or uint8, [M, C / group, ...]
 *   inputs->w_scale, w_zero_point         one number, or [M]
 *   inputs->y_scale, y_zero_point         one number
 *   inputs->b                             int32, [M]
 *   params->kernel_shape                  the shape of w behind its channels, or [0]
 *   params->strides                       the distances of windows; one item is for all dimensions
 *   params->dilations                     the distances of a window's numbers; one item is for all
 *   params->pads                          places before each dimension, then after; or one item
 *   params->auto_pad                      "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"
 *   params->group                         the count of groups of channels
 *   outputs->y                            of the type of x, [N, M, ...]
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *qlinearconv_compute(const struct qlinearconv_inputs *inputs,
                                       const struct qlinearconv_params *params,
                                       struct qlinearconv_outputs *outputs)
{
    const struct opkit_conv_params attributes = qlinearconv_attributes(params);
    struct qlinearconv_task task;

    const char *problem = opkit_plan_conv(&task.conv, &inputs->x, &inputs->w, &inputs->x_zero_point,
                                          &inputs->w_zero_point, &outputs->y, &attributes);
    if (problem == NULL) {
        problem = qlinearconv_check(inputs, &outputs->y);
    }
    if (problem != NULL) {
        return problem;
    }
    task.inputs = inputs;
    task.y = outputs->y.uint8;
    task.range = opkit_byte_range_of(&inputs->y_zero_point);
    opkit_parallel_for(opkit_conv_blocks(&task.conv), 1, qlinearconv_part, &task);
    return NULL;
}

#endif
