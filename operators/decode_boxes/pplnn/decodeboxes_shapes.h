/*
 * The shape rule of DecodeBoxes, for runtimes that infer shapes at run time.
 *
 * areas is [..., N], for boxes [..., N, 4]; boxes have the shape of deltas (`same_as`).
 */
#ifndef DECODEBOXES_SHAPES_H
#define DECODEBOXES_SHAPES_H

#include <string.h>

#include "../generated/decodeboxes.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *decodeboxes_shapes(const struct decodeboxes_inputs *inputs,
                                      const struct decodeboxes_params *params,
                                      struct decodeboxes_outputs *outputs)
{
    const struct opkit_tensor *deltas = &inputs->deltas;

    (void)params;
    if (deltas->rank < 3 || deltas->shape[deltas->rank - 1] != 4) {
        return "deltas must be [..., N, 4]";
    }
    outputs->areas.rank = deltas->rank - 1;
    memcpy(outputs->areas.shape, deltas->shape, sizeof deltas->shape);
    return NULL;
}

#endif
