/*
 * The shape rule of {{ spec.name }}, for runtimes that infer shapes at run time.
 *
 * y is [N, M, ...], with an element for each window.
 */
#ifndef {{ upper }}_SHAPES_H
#define {{ upper }}_SHAPES_H

#include "../{{ lower }}_compute.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *{{ lower }}_shapes(const struct {{ lower }}_inputs *inputs,
                                      const struct {{ lower }}_params *params,
                                      struct {{ lower }}_outputs *outputs)
{
    const struct opkit_conv_params attributes = {{ lower }}_attributes(params);
    struct opkit_conv conv;
    const char *problem = opkit_read_conv(&conv, &inputs->x, &inputs->w, &attributes);

    if (problem == NULL) {
        opkit_set_conv_shape(&conv, &inputs->x, &outputs->y);
    }
    return problem;
}

#endif
