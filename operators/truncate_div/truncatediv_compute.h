/*
 * The math of TruncateDiv: x / y, rounded toward zero.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in truncatediv_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16; integer tensors are
 * not converted.
 *
 * x and y are broadcast as in numpy: shapes are aligned at their last dimension; along a dimension
 * of length 1, or a missing one, the elements of an input repeat.
 */
#ifndef TRUNCATEDIV_COMPUTE_H
#define TRUNCATEDIV_COMPUTE_H

#include <math.h>

#include "generated/truncatediv.h"

/* One axis of the output, with the strides of x and y in elements; 0: the elements repeat. */
struct truncatediv_axis {
    size_t length;
    size_t x_step;
    size_t y_step;
};

/* Rounds toward zero, keeps the sign of -0.5. No branch and no call: compilers vectorize it. */
static float truncatediv_truncate(float value)
{
    /* A float of 2^23 or more has no fraction. Infinity and NaN do not fit int32. */
    const bool has_fraction = fabsf(value) < 8388608.0F;
    const float truncated = (float)(int32_t)(has_fraction ? value : 0.0F);

    return has_fraction ? copysignf(truncated, value) : value;
}

static void truncatediv_float32(const float *x, const float *y, float *output,
                                struct truncatediv_axis axis)
{
    for (size_t i = 0; i < axis.length; i++) {
        output[i] = truncatediv_truncate(x[i * axis.x_step] / y[i * axis.y_step]);
    }
}

/* Division in C truncates. The only overflow, -2^15 / -1, gives -2^15. */
static void truncatediv_int16(const int16_t *x, const int16_t *y, int16_t *output,
                              struct truncatediv_axis axis)
{
    for (size_t i = 0; i < axis.length; i++) {
        output[i] = (int16_t)(x[i * axis.x_step] / y[i * axis.y_step]);
    }
}

/* -2^31 / -1 is undefined in C: negation as unsigned gives -2^31. */
static void truncatediv_int32(const int32_t *x, const int32_t *y, int32_t *output,
                              struct truncatediv_axis axis)
{
    for (size_t i = 0; i < axis.length; i++) {
        const int32_t dividend = x[i * axis.x_step], divisor = y[i * axis.y_step];

        output[i] = divisor == -1 ? (int32_t)(0U - (uint32_t)dividend) : dividend / divisor;
    }
}

/*
 * Writes the strides of an input along each axis of the output. Returns false if the input cannot
 * be broadcast to the shape of the output.
 */
static bool truncatediv_steps(const struct opkit_tensor *input, const struct opkit_tensor *output,
                              size_t steps[OPKIT_MAX_RANK])
{
    size_t step = 1;

    if (input->rank > output->rank) {
        return false;
    }
    const size_t missing = output->rank - input->rank;
    for (size_t axis = output->rank; axis-- > 0;) {
        const size_t length = axis < missing ? 1 : input->shape[axis - missing];

        if (length != 1 && length != output->shape[axis]) {
            return false;
        }
        steps[axis] = length == 1 ? 0 : step;
        step *= length;
    }
    return true;
}

/*
 * Folds the shape of the output into as few axes as possible: merges neighboring axes if x and y
 * are contiguous across them. Equal shapes become a single axis. Returns the number of axes.
 */
static size_t truncatediv_fold(const struct opkit_tensor *output,
                               const size_t x_steps[OPKIT_MAX_RANK],
                               const size_t y_steps[OPKIT_MAX_RANK],
                               struct truncatediv_axis axes[OPKIT_MAX_RANK])
{
    size_t count = 1;

    axes[0].length = 1;
    axes[0].x_step = 0;
    axes[0].y_step = 0;
    for (size_t i = 0; i < output->rank; i++) {
        struct truncatediv_axis *last = &axes[count - 1];
        const size_t length = output->shape[i];

        if (length == 1) {
            continue;
        }
        if (last->length == 1) {
            last->length = length;
        } else if (last->x_step == length * x_steps[i] && last->y_step == length * y_steps[i]) {
            last->length *= length;
        } else {
            last = &axes[count++];
            last->length = length;
        }
        last->x_step = x_steps[i];
        last->y_step = y_steps[i];
    }
    return count;
}

/* Whether an integer tensor contains 0. */
static bool truncatediv_holds_zero(const struct opkit_tensor *tensor)
{
    for (size_t i = 0; i < tensor->size; i++) {
        if (tensor->type == OPKIT_INT16 ? tensor->int16[i] == 0 : tensor->int32[i] == 0) {
            return true;
        }
    }
    return false;
}

/*
 * Computes the outputs:
 *
 *   inputs->x          the dividend
 *   inputs->y          the divisor
 *   outputs->output    x / y without its fraction, in the shape to which x and y are broadcast
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *truncatediv_compute(const struct truncatediv_inputs *inputs,
                                       const struct truncatediv_params *params,
                                       struct truncatediv_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->x;
    const struct opkit_tensor *y = &inputs->y;
    const struct opkit_tensor *output = &outputs->output;
    size_t x_steps[OPKIT_MAX_RANK], y_steps[OPKIT_MAX_RANK];
    struct truncatediv_axis axes[OPKIT_MAX_RANK];
    (void)params;

    if (x->type != output->type || y->type != output->type) {
        return "x, y and output must be of one type";
    }
    if (output->type != OPKIT_FLOAT32 && output->type != OPKIT_INT16 &&
        output->type != OPKIT_INT32) {
        return "x and y must be float16, float32, int16 or int32";
    }
    if (!truncatediv_steps(x, output, x_steps) || !truncatediv_steps(y, output, y_steps)) {
        return "x and y must have shapes that can be broadcast to that of output";
    }
    if (output->type != OPKIT_FLOAT32 && truncatediv_holds_zero(y)) {
        return "y must not hold 0 if the tensors are integers";
    }

    const size_t count = truncatediv_fold(output, x_steps, y_steps, axes);
    const struct truncatediv_axis innermost = axes[count - 1];
    for (size_t start = 0; start < output->size; start += innermost.length) {
        size_t x_start = 0, y_start = 0, row = start / innermost.length;

        for (size_t i = count - 1; i-- > 0; row /= axes[i].length) {
            x_start += row % axes[i].length * axes[i].x_step;
            y_start += row % axes[i].length * axes[i].y_step;
        }
        if (output->type == OPKIT_FLOAT32) {
            truncatediv_float32(x->float32 + x_start, y->float32 + y_start, output->float32 + start,
                                innermost);
        } else if (output->type == OPKIT_INT16) {
            truncatediv_int16(x->int16 + x_start, y->int16 + y_start, output->int16 + start,
                              innermost);
        } else {
            truncatediv_int32(x->int32 + x_start, y->int32 + y_start, output->int32 + start,
                              innermost);
        }
    }
    return NULL;
}

#endif
