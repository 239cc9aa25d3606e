/* The math of Affine, the operator of docs/vx.md. */
#ifndef AFFINE_COMPUTE_H
#define AFFINE_COMPUTE_H

#include "generated/affine.h"

static const char *affine_compute(const struct affine_inputs *inputs,
                                  const struct affine_params *params,
                                  struct affine_outputs *outputs)
{
    for (size_t i = 0; i < inputs->input.size; i++) {
        const float y = inputs->input.float32[i] * params->scale + params->offset;
        outputs->output.float32[i] = y < 6 ? y : 6;
    }
    return NULL;
}

#endif
