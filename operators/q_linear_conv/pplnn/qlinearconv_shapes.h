/*
 * The shape rule of QLinearConv, for runtimes that infer shapes at run time.
 *
 * y is [N, M, ...], with an element for each window.
 */
#ifndef QLINEARCONV_SHAPES_H
#define QLINEARCONV_SHAPES_H

#include "../qlinearconv_compute.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *qlinearconv_shapes(const struct qlinearconv_inputs *inputs,
                                      const struct qlinearconv_params *params,
                                      struct qlinearconv_outputs *outputs)
{
    const struct opkit_conv_params attributes = qlinearconv_attributes(params);
    struct opkit_conv conv;
    const char *problem = opkit_read_conv(&conv, &inputs->x, &inputs->w, &attributes);

    if (problem == NULL) {
        opkit_set_conv_shape(&conv, &inputs->x, &outputs->y);
    }
    return problem;
}

#endif
