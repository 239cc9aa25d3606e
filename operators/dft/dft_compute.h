/*
 * The math of DFT: discrete Fourier transforms along an axis.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in dft_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16. The transforms are in
 * double: where terms cancel, an error of float would be all that remains.
 */
#ifndef DFT_COMPUTE_H
#define DFT_COMPUTE_H

#include <stdlib.h>

#include "generated/dft.h"
#include "include/opkit/compute/fourier.h"

/* The transforms of a call. Rows are along the axis. */
struct dft_task {
    const float *x;
    float *y;
    size_t length; /* of the transforms */
    size_t inner; /* rows side by side: the product of the dimensions after the axis */
    size_t side; /* the length of the axis in x */
    size_t out_side; /* and in y */
    size_t parts; /* of an element of x: 1 if it is real, 2 if it is complex */
    size_t out_parts;
    bool is_inverse;
    bool is_half; /* x has the first half of a transform: that of the others is its conjugate */
};

/* Returns the buffer of a transform, for the inverse one with exchanged parts. */
static struct opkit_complex dft_rows(const struct dft_task *task, const struct opkit_fourier *plan)
{
    return task->is_inverse ? opkit_exchanged(plan->x) : plan->x;
}

/* Stores the elements of a complex row, or those of a real one for an inverse transform. */
static void dft_load(const struct dft_task *task, const struct opkit_fourier *plan, size_t rows,
                     size_t row, const float *x)
{
    const struct opkit_complex to = dft_rows(task, plan);
    const size_t length = task->length;
    const size_t half = task->is_half ? length / 2 + 1 : length;
    const size_t count = task->side < half ? task->side : half;
    const size_t step = task->inner * task->parts;

    for (size_t i = 0; i < length; i++) {
        const bool is_given = i < count;
        to.re[i * rows + row] = is_given ? (double)x[i * step] : 0.0;
        to.im[i * rows + row] = is_given && task->parts == 2 ? (double)x[i * step + 1] : 0.0;
    }
    for (size_t i = half; i < length; i++) {
        to.re[i * rows + row] = to.re[(length - i) * rows + row];
        to.im[i * rows + row] = -to.im[(length - i) * rows + row];
    }
}

/* Writes a row of results. Of a halved row, the plan has the first half. */
static void dft_store(const struct dft_task *task, const struct opkit_fourier *plan, size_t rows,
                      size_t row, float *y)
{
    const struct opkit_complex from = dft_rows(task, plan);
    const double scale = task->is_inverse ? 1.0 / (double)task->length : 1.0;
    const size_t known = plan->is_halved ? plan->length + 1 : task->length;
    const size_t step = task->inner * task->out_parts;

    for (size_t i = 0; i < task->out_side; i++) {
        const size_t place = (i < known ? i : task->length - i) * rows + row;
        const double im = i < known ? from.im[place] : -from.im[place];

        y[i * step] = (float)(from.re[place] * scale);
        if (task->out_parts == 2) {
            y[i * step + 1] = (float)(im * scale);
        }
    }
}

/* Computes `count` transforms. */
static void dft_run(const struct dft_task *task, struct opkit_fourier *plan, size_t count)
{
    const bool is_real = task->parts == 1 && !task->is_inverse;

    for (size_t first = 0; first < count; first += OPKIT_ROWS) {
        const size_t rest = count - first;
        const size_t rows = rest < OPKIT_ROWS ? rest : (size_t)OPKIT_ROWS;

        for (size_t row = 0; row < rows; row++) {
            const size_t outer = (first + row) / task->inner, column = (first + row) % task->inner;
            const float *x = task->x + (outer * task->side * task->inner + column) * task->parts;

            if (is_real) {
                const size_t used = task->side < task->length ? task->side : task->length;
                opkit_load_real(plan, rows, row, x, task->inner, used, NULL);
            } else {
                dft_load(task, plan, rows, row, x);
            }
        }
        opkit_transform(plan, rows);
        for (size_t row = 0; row < rows; row++) {
            const size_t outer = (first + row) / task->inner, column = (first + row) % task->inner;
            const size_t place = outer * task->out_side * task->inner + column;

            dft_store(task, plan, rows, row, task->y + place * task->out_parts);
        }
    }
}

/* Checks types and params; computes the axis. Returns NULL, or an error message. */
static const char *dft_check(const struct opkit_tensor *x, const struct dft_params *params,
                             const struct opkit_tensor *y, size_t *axis)
{
    const int64_t rank = (int64_t)x->rank;

    if (x->type != OPKIT_FLOAT32 || y->type != OPKIT_FLOAT32) {
        return "input and output must be float16 or float32";
    }
    if (rank < 2 || (x->shape[rank - 1] != 1 && x->shape[rank - 1] != 2)) {
        return "input must be [..., 1] or [..., 2]";
    }
    if (params->axis == -1 && rank > 3) {
        return "axis must be given for input of more than 3 dimensions";
    }
    if (params->axis < -rank || params->axis > rank - 2) {
        return "axis must be a dimension of input but the last one";
    }
    if (params->inverse != 0 && params->inverse != 1) {
        return "inverse must be 0 or 1";
    }
    if (params->onesided != 0 && params->onesided != 1) {
        return "onesided must be 0 or 1";
    }
    if (params->onesided == 1 && x->shape[rank - 1] != (params->inverse == 1 ? 2U : 1U)) {
        return params->inverse == 1 ? "input must be complex, [..., 2]"
                                    : "input must be real, [..., 1]";
    }
    const int64_t given = params->axis < 0 ? params->axis + rank : params->axis;
    *axis = (size_t)(params->axis == -1 ? rank - 2 : given);
    return NULL;
}

/*
 * Computes the outputs:
 *
 *   inputs->input         real numbers, [..., 1], or complex ones, [..., 2]
 *   params->dft_length    the length of the transforms; 0: that of the axis
 *   params->axis          the axis; -1: the only one of [N, axis, 1 or 2]
 *   params->inverse       1: the inverse transform, divided by its length
 *   params->onesided      1: the first half of the transforms of real numbers
 *   outputs->output       the transforms, [..., 2]; the inverse of onesided ones is real, [..., 1]
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *dft_compute(const struct dft_inputs *inputs, const struct dft_params *params,
                               struct dft_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->input;
    const struct opkit_tensor *y = &outputs->output;
    struct opkit_fourier plan;
    struct dft_task task;
    size_t axis;

    const char *problem = dft_check(x, params, y, &axis);
    if (problem != NULL) {
        return problem;
    }
    task.x = x->float32;
    task.y = y->float32;
    task.parts = x->shape[x->rank - 1];
    task.is_inverse = params->inverse == 1;
    task.is_half = params->inverse == 1 && params->onesided == 1;
    task.out_parts = task.is_half ? 1 : 2;
    task.side = x->shape[axis];
    const size_t whole = task.is_half ? 2 * (task.side - 1) : task.side;
    if (params->dft_length < 0 || (params->dft_length == 0 && whole == 0)) {
        return "dft_length must be above 0";
    }
    task.length = params->dft_length > 0 ? (size_t)params->dft_length : whole;
    task.out_side = params->onesided == 1 && !task.is_half ? task.length / 2 + 1 : task.length;
    task.inner = 1;
    for (size_t i = axis + 1; i + 1 < x->rank; i++) {
        task.inner *= x->shape[i];
    }
    size_t count = task.inner; /* of transforms */
    for (size_t i = 0; i < axis; i++) {
        count *= x->shape[i];
    }
    if (y->size != count * task.out_side * task.out_parts) {
        return "output must have the length of the transforms along the axis";
    }

    const size_t rows = count < OPKIT_ROWS ? count : (size_t)OPKIT_ROWS;
    double *memory = (double *)malloc(opkit_fourier_memory(task.length, rows) * sizeof *memory);
    if (memory == NULL) {
        return "out of memory";
    }
    opkit_start_fourier(&plan, task.length, task.parts == 1 && !task.is_inverse, rows, memory);
    dft_run(&task, &plan, count);
    free(memory);
    return NULL;
}

#endif
