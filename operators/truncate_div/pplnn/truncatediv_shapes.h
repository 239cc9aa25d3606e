/*
 * The shape rule of TruncateDiv, for runtimes that infer shapes at run time.
 *
 * x and y are broadcast as in numpy: shapes are aligned at their last dimension.
 */
#ifndef TRUNCATEDIV_SHAPES_H
#define TRUNCATEDIV_SHAPES_H

#include <string.h>

#include "../generated/truncatediv.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *truncatediv_shapes(const struct truncatediv_inputs *inputs,
                                      const struct truncatediv_params *params,
                                      struct truncatediv_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->x;
    const struct opkit_tensor *y = &inputs->y;
    const size_t rank = x->rank > y->rank ? x->rank : y->rank;

    (void)params;
    outputs->output.rank = rank;
    for (size_t i = 1; i <= rank; i++) {
        const size_t x_size = i <= x->rank ? x->shape[x->rank - i] : 1;
        const size_t y_size = i <= y->rank ? y->shape[y->rank - i] : 1;
        if (x_size != y_size && x_size != 1 && y_size != 1) {
            return "x and y cannot be broadcast";
        }
        outputs->output.shape[rank - i] = x_size == 1 ? y_size : x_size;
    }
    return NULL;
}

#endif
