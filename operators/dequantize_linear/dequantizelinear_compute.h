/*
 * The math of DequantizeLinear: integers as floats, by a scale and a zero point.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in dequantizelinear_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in
 * all. Floating-point tensors are arrays of float, also if the model has float16.
 */
#ifndef DEQUANTIZELINEAR_COMPUTE_H
#define DEQUANTIZELINEAR_COMPUTE_H

#include "generated/dequantizelinear.h"
#include "include/opkit/compute/elementwise.h"
#include "include/opkit/compute/parallel.h"
#include "include/opkit/compute/quantize.h"

enum {
    DEQUANTIZELINEAR_GRAIN = 16384 /* elements worth a thread */
};

struct dequantizelinear_task {
    const struct dequantizelinear_inputs *inputs;
    float *y;
    struct opkit_scales scales;
};

/*
 * Defines a function for elements of a type. Differences of int32 wrap around. A step of 0: the
 * first scale and zero point are those of all.
 */
#define DEQUANTIZELINEAR_DEFINE(name, type)                                                      \
    OPKIT_ELEMENT_LOOP void name(const type *x, const type *zeros, const float *scales,          \
                                 size_t step, size_t count, float *__restrict__ y)               \
    {                                                                                            \
        for (size_t i = 0; i < count; i++) {                                                     \
            const uint32_t steps = (uint32_t)(int32_t)x[i] - (uint32_t)(int32_t)zeros[i * step]; \
                                                                                                 \
            y[i] = (float)(int32_t)steps * scales[i * step];                                     \
        }                                                                                        \
    }

DEQUANTIZELINEAR_DEFINE(dequantizelinear_int8, int8_t)
DEQUANTIZELINEAR_DEFINE(dequantizelinear_uint8, uint8_t)
DEQUANTIZELINEAR_DEFINE(dequantizelinear_int16, int16_t)
DEQUANTIZELINEAR_DEFINE(dequantizelinear_uint16, uint16_t)
DEQUANTIZELINEAR_DEFINE(dequantizelinear_int32, int32_t)

/* Computes elements with neighboring scales, or with one: the step is constant in each loop. */
OPKIT_ELEMENT_LOOP void dequantizelinear_part(const struct dequantizelinear_inputs *inputs,
                                              size_t first, size_t scale, size_t step, size_t count,
                                              float *y)
{
    const struct opkit_tensor *x = &inputs->x, *zeros = &inputs->x_zero_point;
    const float *scales = inputs->x_scale.float32 + scale;

    switch (x->type) {
    case OPKIT_INT8:
        dequantizelinear_int8(x->int8 + first, zeros->int8 + scale, scales, step, count, y);
        break;
    case OPKIT_UINT8:
        dequantizelinear_uint8(x->uint8 + first, zeros->uint8 + scale, scales, step, count, y);
        break;
    case OPKIT_INT16:
        dequantizelinear_int16(x->int16 + first, zeros->int16 + scale, scales, step, count, y);
        break;
    case OPKIT_UINT16:
        dequantizelinear_uint16(x->uint16 + first, zeros->uint16 + scale, scales, step, count, y);
        break;
    default:
        dequantizelinear_int32(x->int32 + first, zeros->int32 + scale, scales, step, count, y);
        break;
    }
}

OPKIT_ELEMENT_LOOP void dequantizelinear_run(const void *context, size_t begin, size_t end)
{
    const struct dequantizelinear_task *task = (const struct dequantizelinear_task *)context;

    while (begin < end) {
        const struct opkit_scaled_run run = opkit_run_of(&task->scales, begin, end);
        float *y = task->y + begin;

        if (run.step == 0) {
            dequantizelinear_part(task->inputs, begin, run.scale, 0, run.count, y);
        } else {
            dequantizelinear_part(task->inputs, begin, run.scale, 1, run.count, y);
        }
        begin += run.count;
    }
}
OPKIT_WIDEST(dequantizelinear_run, (const void *context, size_t begin, size_t end),
             (context, begin, end))

/*
 * Computes the outputs:
 *
 *   inputs->x               int8, uint8, int16, uint16 or int32, any shape
 *   inputs->x_scale         one, or one for each place along the axis, or for each block along it
 *   inputs->x_zero_point    of the type of x, one for each scale
 *   params->axis            the axis of several scales
 *   params->block_size      the places that share a scale; 0: there are no blocks
 *   outputs->y              floats, in the shape of x
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *dequantizelinear_compute(const struct dequantizelinear_inputs *inputs,
                                            const struct dequantizelinear_params *params,
                                            struct dequantizelinear_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->x, *zeros = &inputs->x_zero_point;
    struct dequantizelinear_task task;
    float low, high;

    (void)params->output_dtype; /* the runtime converts floats */
    if ((!opkit_number_limits(x, &low, &high) && x->type != OPKIT_INT32) ||
        zeros->type != x->type) {
        return "x must be int8, uint8, int16, uint16 or int32, and x_zero_point of its type";
    }
    if (inputs->x_scale.type != OPKIT_FLOAT32 || outputs->y.type != OPKIT_FLOAT32) {
        return "x_scale and y must be float16 or float32";
    }
    if (outputs->y.size != x->size || zeros->size != inputs->x_scale.size) {
        return "y must have the shape of x, and x_zero_point that of x_scale";
    }
    const char *problem =
        opkit_plan_scales(&task.scales, x, &inputs->x_scale, params->axis, params->block_size);
    if (problem != NULL) {
        return problem;
    }
    task.inputs = inputs;
    task.y = outputs->y.float32;
    opkit_parallel_for(x->size, DEQUANTIZELINEAR_GRAIN, dequantizelinear_run_widest, &task);
    return NULL;
}

#endif
