/*
 * The shape rule of {{ spec.name }}, for runtimes that infer shapes at run time.
 *
 * reduced has the shape of data, with 1 along the axes (keepdims 1), or without them.
 */
#ifndef {{ upper }}_SHAPES_H
#define {{ upper }}_SHAPES_H

#include "../generated/{{ lower }}.h"
#include "../include/opkit/compute/axes.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *{{ lower }}_shapes(const struct {{ lower }}_inputs *inputs,
{{ " " * (27 + lower|length) }}const struct {{ lower }}_params *params,
{{ " " * (27 + lower|length) }}struct {{ lower }}_outputs *outputs)
{
    bool is_reduced[OPKIT_MAX_RANK];

    return opkit_infer_reduced(&inputs->data, params->axes, params->keepdims,
                               params->noop_with_empty_axes, is_reduced, &outputs->reduced);
}

#endif
