/* A straightforward version of TruncateDiv, for tensors of one shape. */
#ifndef TRUNCATEDIV_COMPUTE_H
#define TRUNCATEDIV_COMPUTE_H

#include <math.h>

#include "generated/truncatediv.h"

static const char *truncatediv_compute(const struct truncatediv_inputs *inputs,
                                       const struct truncatediv_params *params,
                                       struct truncatediv_outputs *outputs)
{
    (void)params;
    for (size_t i = 0; i < outputs->output.size; i++) {
        outputs->output.float32[i] = truncf(inputs->x.float32[i] / inputs->y.float32[i]);
    }
    return NULL;
}

#endif
