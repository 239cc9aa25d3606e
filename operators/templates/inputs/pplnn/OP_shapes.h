{% set output = spec.outputs[0].name %}
{% set start = "static const char *" ~ lower ~ "_shapes(" %}
/*
 * The shape rule of {{ spec.name }}, for runtimes that infer shapes at run time.
 *
 * The inputs are broadcast as in numpy.
 */
#ifndef {{ upper }}_SHAPES_H
#define {{ upper }}_SHAPES_H

#include "../generated/{{ lower }}.h"
#include "../include/opkit/compute/elementwise.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
{{ start }}const struct {{ lower }}_inputs *inputs, const struct {{ lower }}_params *params,
{{ " " * start|length }}struct {{ lower }}_outputs *outputs)
{
    enum {
        COUNT = sizeof *inputs / sizeof(struct opkit_tensor)
    };
    const struct opkit_tensor *data = (const struct opkit_tensor *)(const void *)inputs;
    const struct opkit_tensor *tensors[COUNT];

    (void)params;
    for (size_t i = 0; i < COUNT; i++) {
        tensors[i] = &data[i];
    }
    if (!opkit_broadcast_shapes(tensors, COUNT, &outputs->{{ output }})) {
        return "the inputs must broadcast";
    }
    return NULL;
}

#endif
