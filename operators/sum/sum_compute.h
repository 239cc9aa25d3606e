/*
 * The math of Sum: the sum of all inputs, element by element.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in sum_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16.
 *
 * The count of inputs is that of op.yml. Sums are in double, and rounded once: their order does not
 * matter.
 */
#ifndef SUM_COMPUTE_H
#define SUM_COMPUTE_H

#include "generated/sum.h"
#include "include/opkit/compute/elementwise.h"

enum {
    SUM_INPUTS = sizeof(struct sum_inputs) / sizeof(struct opkit_tensor)
};

/* Computes a block from the elements of each input in a row. */
OPKIT_ELEMENT_LOOP void sum_block(const float *const *data, float *sum, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double total = (double)data[0][i];

        for (size_t input = 1; input < SUM_INPUTS; input++) {
            total += (double)data[input][i];
        }
        sum[i] = (float)total;
    }
}

#if defined(OPKIT_AVX2)
/* The same for processors with AVX2, with the same results. */
OPKIT_AVX2 static void sum_block_avx2(const float *const *data, float *sum, size_t count)
{
    sum_block(data, sum, count);
}
#endif

/* Computes a part of the output, block by block. */
static void sum_part(const void *context, size_t begin, size_t end)
{
    const struct opkit_loop *loop = (const struct opkit_loop *)context;
    struct opkit_buffer buffers[SUM_INPUTS];

    opkit_clear_buffers(buffers, SUM_INPUTS);
    while (begin < end) {
        const size_t count = opkit_block_size(loop, begin, end);
        const float *data[SUM_INPUTS];
        float *sum = (float *)(void *)loop->data + begin;

        for (size_t i = 0; i < SUM_INPUTS; i++) {
            data[i] = (const float *)opkit_load_block(loop, i, begin, count, &buffers[i]);
        }
#if defined(OPKIT_AVX2)
        if (opkit_has_avx2()) {
            sum_block_avx2(data, sum, count);
        } else
#endif
        {
            sum_block(data, sum, count);
        }
        begin += count;
    }
}

/*
 * Computes the outputs:
 *
 *   inputs->data_0, ...    any shapes; all are broadcast as in numpy
 *   outputs->sum            the shape to which the inputs broadcast
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *sum_compute(const struct sum_inputs *inputs, const struct sum_params *params,
                               struct sum_outputs *outputs)
{
    /* The struct has the inputs in a row, and no other members. */
    const struct opkit_tensor *data = (const struct opkit_tensor *)(const void *)inputs;
    const struct opkit_tensor *tensors[SUM_INPUTS];
    struct opkit_loop loop;

    for (size_t i = 0; i < SUM_INPUTS; i++) {
        if (data[i].type != OPKIT_FLOAT32) {
            return "inputs must be float16 or float32";
        }
        tensors[i] = &data[i];
    }
    if (!opkit_plan_loop(&loop, tensors, SUM_INPUTS, &outputs->sum, params)) {
        return "sum must have the shape to which the inputs broadcast";
    }
    opkit_parallel_for(loop.size, OPKIT_GRAIN, sum_part, &loop);
    return NULL;
}

#endif
