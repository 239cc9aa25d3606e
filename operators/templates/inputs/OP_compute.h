{% set output = spec.outputs[0].name %}
{% set block = lower ~ "_block" %}
{% set start = "static const char *" ~ lower ~ "_compute(" %}
/*
 * The math of {{ spec.name }}, element by element.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in {{ lower }}_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16. The count of inputs is
 * that of op.yml.
 */
#ifndef {{ upper }}_COMPUTE_H
#define {{ upper }}_COMPUTE_H

#include "generated/{{ lower }}.h"
#include "include/opkit/compute/elementwise.h"

enum {
    {{ upper }}_INPUTS = sizeof(struct {{ lower }}_inputs) / sizeof(struct opkit_tensor)
};

{{ own }}
OPKIT_WIDEST({{ block }}, (const float *const *data, float *y, size_t count), (data, y, count))

/* Computes a part of the output, block by block. */
static void {{ lower }}_part(const void *context, size_t begin, size_t end)
{
    const struct opkit_loop *loop = (const struct opkit_loop *)context;
    struct opkit_buffer buffers[{{ upper }}_INPUTS];

    opkit_clear_buffers(buffers, {{ upper }}_INPUTS);
    while (begin < end) {
        const size_t count = opkit_block_size(loop, begin, end);
        const float *data[{{ upper }}_INPUTS];
        float *y = (float *)(void *)loop->data + begin;

        for (size_t i = 0; i < {{ upper }}_INPUTS; i++) {
            data[i] = (const float *)opkit_load_block(loop, i, begin, count, &buffers[i]);
        }
        {{ lower }}_block_widest(data, y, count);
        begin += count;
    }
}

/*
 * Computes the outputs:
 *
 *   inputs->data_0, ...    any shapes; all are broadcast as in numpy
 *   outputs->{{ output }}{{ " " * (14 - output|length) }}the shape to which the inputs broadcast
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
{{ start }}const struct {{ lower }}_inputs *inputs, const struct {{ lower }}_params *params,
{{ " " * start|length }}struct {{ lower }}_outputs *outputs)
{
    /* The struct has the inputs in a row, and no other members. */
    const struct opkit_tensor *data = (const struct opkit_tensor *)(const void *)inputs;
    const struct opkit_tensor *tensors[{{ upper }}_INPUTS];
    struct opkit_loop loop;

    for (size_t i = 0; i < {{ upper }}_INPUTS; i++) {
        if (data[i].type != OPKIT_FLOAT32) {
            return "inputs must be float16 or float32";
        }
        tensors[i] = &data[i];
    }
    if (!opkit_plan_loop(&loop, tensors, {{ upper }}_INPUTS, &outputs->{{ output }}, params)) {
        return "{{ output }} must have the shape to which the inputs broadcast";
    }
    opkit_parallel_for(loop.size, OPKIT_GRAIN, {{ lower }}_part, &loop);
    return NULL;
}

#endif
