/*
 * The math of QuantizeLinear: floats as integers, in steps of a scale from a zero point on.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in quantizelinear_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in
 * all. Floating-point tensors are arrays of float, also if the model has float16.
 */
#ifndef QUANTIZELINEAR_COMPUTE_H
#define QUANTIZELINEAR_COMPUTE_H

#include "generated/quantizelinear.h"
#include "include/opkit/compute/elementwise.h"
#include "include/opkit/compute/parallel.h"
#include "include/opkit/compute/quantize.h"

enum {
    QUANTIZELINEAR_RUN = 512, /* elements with scales of their own that are computed at a time */
    QUANTIZELINEAR_GRAIN = 16384 /* elements worth a thread */
};

struct quantizelinear_task {
    const struct quantizelinear_inputs *inputs;
    const struct opkit_tensor *y;
    struct opkit_scales scales;
    float low, high; /* the limits of the numbers of y */
};

/* Elements, their scales and zero points; a step of 0: the first ones are those of all. */
struct quantizelinear_run {
    const float *x, *scales;
    int32_t zeros[QUANTIZELINEAR_RUN];
    size_t count;
    float low, high;
};

/* Returns a number of a run. */
OPKIT_ELEMENT_LOOP int32_t quantizelinear_of(const struct quantizelinear_run *run, size_t i,
                                             size_t step)
{
    return opkit_quantized(run->x[i], run->scales[i * step], run->zeros[i * step], run->low,
                           run->high);
}

/* Signed and unsigned numbers have the same bits. */
OPKIT_ELEMENT_LOOP void quantizelinear_bytes(const struct quantizelinear_run *run, size_t step,
                                             uint8_t *__restrict__ y)
{
    for (size_t i = 0; i < run->count; i++) {
        y[i] = (uint8_t)quantizelinear_of(run, i, step);
    }
}

OPKIT_ELEMENT_LOOP void quantizelinear_words(const struct quantizelinear_run *run, size_t step,
                                             uint16_t *__restrict__ y)
{
    for (size_t i = 0; i < run->count; i++) {
        y[i] = (uint16_t)quantizelinear_of(run, i, step);
    }
}

OPKIT_ELEMENT_LOOP void quantizelinear_run(const void *context, size_t begin, size_t end)
{
    const struct quantizelinear_task *task = (const struct quantizelinear_task *)context;
    const struct opkit_tensor *scale = &task->inputs->y_scale, *y = task->y;
    const bool are_bytes = opkit_element_size(y->type) == 1;
    struct quantizelinear_run run;

    run.low = task->low;
    run.high = task->high;
    while (begin < end) {
        struct opkit_scaled_run place = opkit_run_of(&task->scales, begin, end);

        if (place.step == 1 && place.count > QUANTIZELINEAR_RUN) {
            place.count = QUANTIZELINEAR_RUN;
        }
        run.x = task->inputs->x.float32 + begin;
        run.scales = scale->float32 + place.scale;
        run.count = place.count;
        opkit_load_numbers(&task->inputs->y_zero_point, place.scale,
                           place.step == 1 ? place.count : 1, run.zeros);
        if (are_bytes && place.step == 0) {
            quantizelinear_bytes(&run, 0, y->uint8 + begin);
        } else if (are_bytes) {
            quantizelinear_bytes(&run, 1, y->uint8 + begin);
        } else if (place.step == 0) {
            quantizelinear_words(&run, 0, y->uint16 + begin);
        } else {
            quantizelinear_words(&run, 1, y->uint16 + begin);
        }
        begin += place.count;
    }
}
OPKIT_WIDEST(quantizelinear_run, (const void *context, size_t begin, size_t end),
             (context, begin, end))

/*
 * Computes the outputs:
 *
 *   inputs->x               floats, any shape
 *   inputs->y_scale         one, or one for each place along the axis, or for each block along it
 *   inputs->y_zero_point    of the type of y, one for each scale
 *   params->axis            the axis of several scales
 *   params->block_size      the places that share a scale; 0: there are no blocks
 *   params->output_dtype    the type of y in ONNX, or 0
 *   outputs->y              int8, uint8, int16 or uint16, in the shape of x
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *quantizelinear_compute(const struct quantizelinear_inputs *inputs,
                                          const struct quantizelinear_params *params,
                                          struct quantizelinear_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->x, *y = &outputs->y, *zeros = &inputs->y_zero_point;
    struct quantizelinear_task task;

    (void)params->precision; /* always float32 */
    (void)params->saturate; /* of types that runtimes lack */
    if (x->type != OPKIT_FLOAT32 || inputs->y_scale.type != OPKIT_FLOAT32) {
        return "x and y_scale must be float16 or float32";
    }
    if (!opkit_number_limits(y, &task.low, &task.high) || zeros->type != y->type) {
        return "y must be int8, uint8, int16 or uint16, and y_zero_point of its type";
    }
    if (params->output_dtype != 0 && params->output_dtype != opkit_onnx_type(y->type)) {
        return "output_dtype must be 0 or the type of y";
    }
    if (y->size != x->size || zeros->size != inputs->y_scale.size) {
        return "y must have the shape of x, and y_zero_point that of y_scale";
    }
    const char *problem =
        opkit_plan_scales(&task.scales, x, &inputs->y_scale, params->axis, params->block_size);
    if (problem != NULL) {
        return problem;
    }
    task.inputs = inputs;
    task.y = y;
    opkit_parallel_for(x->size, QUANTIZELINEAR_GRAIN, quantizelinear_run_widest, &task);
    return NULL;
}

#endif
