/*
 * The shape rule of MaxUnpool, for runtimes that infer shapes at run time.
 *
 * The output has the batches and channels of x, and larger images; or output_shape.
 */
#ifndef MAXUNPOOL_SHAPES_H
#define MAXUNPOOL_SHAPES_H

#include "../maxunpool_compute.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *maxunpool_shapes(const struct maxunpool_inputs *inputs,
                                    const struct maxunpool_params *params,
                                    struct maxunpool_outputs *outputs)
{
    struct maxunpool_image image;

    const char *problem = maxunpool_measure(inputs, params, &image);
    if (problem == NULL) {
        outputs->output.rank = inputs->x.rank;
        for (size_t i = 0; i < inputs->x.rank; i++) {
            outputs->output.shape[i] = image.output[i];
        }
    }
    return problem;
}

#endif
