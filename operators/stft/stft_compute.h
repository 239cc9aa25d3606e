/*
 * The math of STFT: Fourier transforms of the frames of a signal.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in stft_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16. The transforms are in
 * double: where terms cancel, an error of float would be all that remains.
 */
#ifndef STFT_COMPUTE_H
#define STFT_COMPUTE_H

#include <stdlib.h>

#include "generated/stft.h"
#include "include/opkit/compute/fourier.h"

/* The transforms of a call. */
struct stft_task {
    const struct opkit_tensor *signal;
    const float *window; /* `length` factors */
    size_t step;
    size_t length; /* of a frame */
    size_t frames; /* of a signal */
    size_t bins;
};

/* Stores the elements of a frame as a row of the transform. */
static void stft_load(const struct stft_task *task, const struct opkit_fourier *plan, size_t rows,
                      size_t row, size_t frame)
{
    const size_t signal = frame / task->frames, start = frame % task->frames * task->step;
    const size_t parts = task->signal->shape[2];
    const float *x = task->signal->float32 + (signal * task->signal->shape[1] + start) * parts;

    if (parts == 1) {
        opkit_load_real(plan, rows, row, x, 1, task->length, task->window);
        return;
    }
    for (size_t i = 0; i < task->length; i++) {
        const double weight = (double)task->window[i];
        plan->x.re[i * rows + row] = (double)x[2 * i] * weight;
        plan->x.im[i * rows + row] = (double)x[2 * i + 1] * weight;
    }
}

/* Writes a row of results. Of a halved row, the plan has the first half. */
static void stft_store(const struct stft_task *task, const struct opkit_fourier *plan, size_t rows,
                       size_t row, float *y)
{
    const size_t known = plan->is_halved ? plan->length + 1 : task->length;

    for (size_t i = 0; i < task->bins; i++) {
        const size_t place = (i < known ? i : task->length - i) * rows + row;
        const double im = i < known ? plan->x.im[place] : -plan->x.im[place];

        y[2 * i] = (float)plan->x.re[place];
        y[2 * i + 1] = (float)im;
    }
}

/* Checks types, shapes and params. Returns NULL, or an error message. */
static const char *stft_check(const struct stft_inputs *inputs, const struct stft_params *params,
                              const struct opkit_tensor *y)
{
    const struct opkit_tensor *x = &inputs->signal;
    const struct opkit_tensor *window = &inputs->window;

    if (x->type != OPKIT_FLOAT32 || window->type != OPKIT_FLOAT32 || y->type != OPKIT_FLOAT32) {
        return "signal, window and output must be float16 or float32";
    }
    if (x->rank != 3 || (x->shape[2] != 1 && x->shape[2] != 2)) {
        return "signal must be [N, length, 1] or [N, length, 2]";
    }
    if (params->frame_step < 1) {
        return "frame_step must be above 0";
    }
    if (params->onesided != 0 && params->onesided != 1) {
        return "onesided must be 0 or 1";
    }
    if (params->onesided == 1 && x->shape[2] == 2) {
        return "signal must be real, [N, length, 1], with onesided";
    }
    if (window->rank != 1 || window->size == 0 ||
        (params->frame_length != 0 && params->frame_length != (int64_t)window->size)) {
        return "window must be [frame_length]";
    }
    return window->size > x->shape[1] ? "a frame must fit into signal" : NULL;
}

/*
 * Computes the outputs:
 *
 *   inputs->signal          real signals, [N, length, 1], or complex ones, [N, length, 2]
 *   inputs->window          the factors of a frame's elements, [frame_length]
 *   params->frame_step      the elements from one frame to the next
 *   params->frame_length    the elements of a frame; 0: as many as in window
 *   params->onesided        1: the first half of the transforms; 0: all
 *   outputs->output         the transforms, [N, frames, bins, 2]
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *stft_compute(const struct stft_inputs *inputs, const struct stft_params *params,
                                struct stft_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->signal;
    const struct opkit_tensor *y = &outputs->output;
    struct opkit_fourier plan;
    struct stft_task task;

    const char *problem = stft_check(inputs, params, y);
    if (problem != NULL) {
        return problem;
    }
    task.signal = x;
    task.window = inputs->window.float32;
    task.length = inputs->window.size;
    task.step = (size_t)params->frame_step;
    task.frames = (x->shape[1] - task.length) / task.step + 1;
    task.bins = params->onesided == 1 ? task.length / 2 + 1 : task.length;
    const size_t count = x->shape[0] * task.frames;
    if (y->size != count * task.bins * 2) {
        return "output must be [N, frames, bins, 2]";
    }

    const size_t most = count < OPKIT_ROWS ? count : (size_t)OPKIT_ROWS;
    double *memory = (double *)malloc(opkit_fourier_memory(task.length, most) * sizeof *memory);
    if (memory == NULL) {
        return "out of memory";
    }
    opkit_start_fourier(&plan, task.length, x->shape[2] == 1, most, memory);
    for (size_t first = 0; first < count; first += OPKIT_ROWS) {
        const size_t rest = count - first;
        const size_t rows = rest < OPKIT_ROWS ? rest : (size_t)OPKIT_ROWS;

        for (size_t row = 0; row < rows; row++) {
            stft_load(&task, &plan, rows, row, first + row);
        }
        opkit_transform(&plan, rows);
        for (size_t row = 0; row < rows; row++) {
            stft_store(&task, &plan, rows, row, y->float32 + (first + row) * task.bins * 2);
        }
    }
    free(memory);
    return NULL;
}

#endif
