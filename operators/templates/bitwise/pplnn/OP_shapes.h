{% set names = spec.inputs|map(attribute="name")|list %}
{% set tensors = "&inputs->" ~ names|join(", &inputs->") %}
{% set problem = names|join(" and ") ~ " must broadcast" %}
{% set count = names|length %}
{% set made = "&outputs->" ~ spec.outputs[0].name %}
{% set start = "static const char *" ~ lower ~ "_shapes(" %}
/*
 * The shape rule of {{ spec.name }}, for runtimes that infer shapes at run time.
 *
{% if names|length == 2 %}
 * The inputs are broadcast as in numpy.
{% else %}
 * The output has the shape of the input.
{% endif %}
 */
#ifndef {{ upper }}_SHAPES_H
#define {{ upper }}_SHAPES_H

#include "../generated/{{ lower }}.h"
#include "../include/opkit/compute/elementwise.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
{{ start }}const struct {{ lower }}_inputs *inputs,
{{ " " * start|length }}const struct {{ lower }}_params *params,
{{ " " * start|length }}struct {{ lower }}_outputs *outputs)
{
    const struct opkit_tensor *const tensors[] = { {{- tensors -}} };

    (void)params;
    return opkit_broadcast_shapes(tensors, {{ count }}, {{ made }}) ? NULL : "{{ problem }}";
}

#endif
