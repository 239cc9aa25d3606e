{% set names = spec.inputs|map(attribute="name")|list %}
{% set output = spec.outputs[0].name %}
{% set start = "static const char *" ~ lower ~ "_compute(" %}
{% set bytes = "const uint8_t *" ~ names|join(", const uint8_t *") %}
{% set floats = "const float *" ~ names|join(", const float *") %}
{% set as_bytes = "(const uint8_t *)" ~ names|join(", (const uint8_t *)") %}
{% set as_floats = "(const float *)" ~ names|join(", (const float *)") %}
{% set words = "(uint32_t)(int32_t)" ~ names|join("[i], (uint32_t)(int32_t)") ~ "[i]" %}
{% set tensors = "&inputs->" ~ names|join(", &inputs->") %}
{% set is_binary = names|length == 2 %}
{% set shape = "the shape to which the inputs broadcast" if is_binary else "the shape of x" %}
{% set limits = "those in floats from -2^24 to 2^24 - 1" %}
/*
 * The math of {{ spec.name }}, bit by bit.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in {{ lower }}_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Integers are not converted: they are computed as bytes, whatever their size. Floats are taken,
 * too, because librknnrt 1.6.0 hands over integers as floats.
 */
#ifndef {{ upper }}_COMPUTE_H
#define {{ upper }}_COMPUTE_H

#include "generated/{{ lower }}.h"
#include "include/opkit/compute/elementwise.h"

#define {{ upper }}_LIMIT 16777216.0 /* 2^24: floats have all integers from -2^24 to 2^24 - 1 */
#define {{ upper }}_ROUNDER 6755399441055744.0 /* 1.5 * 2^52: a sum with it is an integer */

enum {
    {{ upper }}_INPUTS = {{ names|length }}
};

{{ own }}

static inline void {{ lower }}_bytes({{ bytes }}, uint8_t *{{ output }}, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        {{ output }}[i] = (uint8_t){{ lower }}_of({{ names|join("[i], ") }}[i]);
    }
}

/* Computes integers in floats. The result is such an integer, too. */
static inline void {{ lower }}_floats({{ floats }}, float *{{ output }}, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        {{ output }}[i] = (float)(int32_t){{ lower }}_of({{ words }});
    }
}

/* Computes a part of the output, block by block. */
static void {{ lower }}_part(const void *context, size_t begin, size_t end)
{
    const struct opkit_loop *loop = (const struct opkit_loop *)context;
    const size_t size = opkit_element_size(loop->type);
    struct opkit_buffer buffers[{{ upper }}_INPUTS];

    opkit_clear_buffers(buffers, {{ upper }}_INPUTS);
    while (begin < end) {
        const size_t count = opkit_block_size(loop, begin, end);
{% for each in names %}
{% set i = loop.index0 %}
        const void *{{ each }} = opkit_load_block(loop, {{ i }}, begin, count, &buffers[{{ i }}]);
{% endfor %}
        void *{{ output }} = loop->data + begin * size;

        if (loop->type == OPKIT_FLOAT32) {
            {{ lower }}_floats({{ as_floats }}, (float *){{ output }}, count);
        } else {
            {{ lower }}_bytes({{ as_bytes }}, (uint8_t *){{ output }}, count * size);
        }
        begin += count;
    }
}

/* Returns whether a tensor of floats has other numbers than integers from -2^24 to 2^24 - 1. */
static bool {{ lower }}_has_others(const struct opkit_tensor *tensor)
{
    const size_t count = tensor->type == OPKIT_FLOAT32 ? tensor->size : 0;
    int others = 0;

    for (size_t i = 0; i < count; i++) {
        const double x = (double)tensor->float32[i];
        const double whole = (x + {{ upper }}_ROUNDER) - {{ upper }}_ROUNDER;

        others |= (whole != x) | (x < -{{ upper }}_LIMIT) | (x >= {{ upper }}_LIMIT);
    }
    return others != 0;
}

/*
 * Computes the outputs:
 *
{% for each in spec.inputs %}
 *   inputs->{{ each.name }}     any shape{{ "; both are broadcast as in numpy" if is_binary }}
{% endfor %}
 *   outputs->{{ output }}    {{ shape }}
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
{{ start }}const struct {{ lower }}_inputs *inputs,
{{ " " * start|length }}const struct {{ lower }}_params *params,
{{ " " * start|length }}struct {{ lower }}_outputs *outputs)
{
    const struct opkit_tensor *const tensors[] = { {{- tensors -}} };
    struct opkit_loop loop;

    for (size_t i = 0; i < {{ upper }}_INPUTS; i++) {
        if (tensors[i]->type != outputs->{{ output }}.type) {
            return "{{ names|join(", ") }} and {{ output }} must be of one type";
        }
        if ({{ lower }}_has_others(tensors[i])) {
            return "{{ names|join(" and ") }} must be integers, and {{ limits }}";
        }
    }
    if (!opkit_plan_loop(&loop, tensors, {{ upper }}_INPUTS, &outputs->{{ output }}, params)) {
        return "{{ output }} must have {{ shape }}";
    }
    opkit_parallel_for(loop.size, OPKIT_GRAIN, {{ lower }}_part, &loop);
    return NULL;
}

#endif
