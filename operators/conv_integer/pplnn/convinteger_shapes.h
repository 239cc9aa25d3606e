/*
 * The shape rule of ConvInteger, for runtimes that infer shapes at run time.
 *
 * y is [N, M, ...], with an element for each window.
 */
#ifndef CONVINTEGER_SHAPES_H
#define CONVINTEGER_SHAPES_H

#include "../convinteger_compute.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *convinteger_shapes(const struct convinteger_inputs *inputs,
                                      const struct convinteger_params *params,
                                      struct convinteger_outputs *outputs)
{
    const struct opkit_conv_params attributes = convinteger_attributes(params);
    struct opkit_conv conv;
    const char *problem = opkit_read_conv(&conv, &inputs->x, &inputs->w, &attributes);

    if (problem == NULL) {
        opkit_set_conv_shape(&conv, &inputs->x, &outputs->y);
    }
    return problem;
}

#endif
