/*
 * The math of Mean: the mean of all inputs, element by element.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in mean_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16.
 *
 * The count of inputs is that of op.yml. The mean is rounded once, and the sum of large numbers
 * does not overflow: sums of more than two are in double.
 */
#ifndef MEAN_COMPUTE_H
#define MEAN_COMPUTE_H

#include "generated/mean.h"
#include "include/opkit/compute/elementwise.h"

enum {
    MEAN_INPUTS = sizeof(struct mean_inputs) / sizeof(struct opkit_tensor)
};

/*
 * Returns the mean of two floats, rounded once: their sum halved, or, if that overflows, the sum of
 * their halves.
 */
static inline float mean_of_two(float a, float b)
{
    const float sum = a + b;
    const float halves = 0.5F * a + 0.5F * b;

    return sum - sum == 0.0F ? 0.5F * sum : halves;
}

/* Returns the mean of the elements at a place of all inputs, rounded once. */
static inline float mean_of_all(const float *const *data, size_t place)
{
    double total = (double)data[0][place];

    for (size_t input = 1; input < MEAN_INPUTS; input++) {
        total += (double)data[input][place];
    }
    return (float)(total / MEAN_INPUTS);
}

/* Computes a block from the elements of each input in a row. */
OPKIT_ELEMENT_LOOP void mean_block(const float *const *data, float *mean, size_t count)
{
    if (MEAN_INPUTS == 2) { /* without conversions to double, which take most of the time */
        for (size_t i = 0; i < count; i++) {
            mean[i] = mean_of_two(data[0][i], data[MEAN_INPUTS - 1][i]);
        }
    } else {
        for (size_t i = 0; i < count; i++) {
            mean[i] = mean_of_all(data, i);
        }
    }
}

#if defined(OPKIT_AVX2)
/* The same for processors with AVX2, with the same results. */
OPKIT_AVX2 static void mean_block_avx2(const float *const *data, float *mean, size_t count)
{
    mean_block(data, mean, count);
}
#endif

/* Computes a part of the output, block by block. */
static void mean_part(const void *context, size_t begin, size_t end)
{
    const struct opkit_loop *loop = (const struct opkit_loop *)context;
    struct opkit_buffer buffers[MEAN_INPUTS];

    opkit_clear_buffers(buffers, MEAN_INPUTS);
    while (begin < end) {
        const size_t count = opkit_block_size(loop, begin, end);
        const float *data[MEAN_INPUTS];
        float *mean = (float *)(void *)loop->data + begin;

        for (size_t i = 0; i < MEAN_INPUTS; i++) {
            data[i] = (const float *)opkit_load_block(loop, i, begin, count, &buffers[i]);
        }
#if defined(OPKIT_AVX2)
        if (opkit_has_avx2()) {
            mean_block_avx2(data, mean, count);
        } else
#endif
        {
            mean_block(data, mean, count);
        }
        begin += count;
    }
}

/*
 * Computes the outputs:
 *
 *   inputs->data_0, ...    any shapes; all are broadcast as in numpy
 *   outputs->mean           the shape to which the inputs broadcast
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *mean_compute(const struct mean_inputs *inputs, const struct mean_params *params,
                                struct mean_outputs *outputs)
{
    /* The struct has the inputs in a row, and no other members. */
    const struct opkit_tensor *data = (const struct opkit_tensor *)(const void *)inputs;
    const struct opkit_tensor *tensors[MEAN_INPUTS];
    struct opkit_loop loop;

    for (size_t i = 0; i < MEAN_INPUTS; i++) {
        if (data[i].type != OPKIT_FLOAT32) {
            return "inputs must be float16 or float32";
        }
        tensors[i] = &data[i];
    }
    if (!opkit_plan_loop(&loop, tensors, MEAN_INPUTS, &outputs->mean, params)) {
        return "mean must have the shape to which the inputs broadcast";
    }
    opkit_parallel_for(loop.size, OPKIT_GRAIN, mean_part, &loop);
    return NULL;
}

#endif
