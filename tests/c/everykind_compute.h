/* Writes its params, one of every kind, into its outputs. */
#ifndef EVERYKIND_COMPUTE_H
#define EVERYKIND_COMPUTE_H

#include <string.h>

#include "generated/everykind.h"

static const char *everykind_compute(const struct everykind_inputs *inputs,
                                     const struct everykind_params *params,
                                     struct everykind_outputs *outputs)
{
    int64_t *numbers = outputs->numbers.int64;

    if (outputs->flags.type != OPKIT_UINT8) {
        return "flags must be truth values";
    }
    numbers[0] = params->truth;
    numbers[1] = (unsigned char)params->character;
    numbers[2] = params->i8;
    numbers[3] = params->u8;
    numbers[4] = params->i16;
    numbers[5] = params->u16;
    numbers[6] = params->i32;
    numbers[7] = params->u32;
    numbers[8] = params->i64;
    numbers[9] = (int64_t)params->u64;
    numbers[10] = (int64_t)params->pair.count;
    numbers[11] = params->pair.items[params->pair.count - 1];
    numbers[12] = (int64_t)params->scales.count;
    numbers[13] = (int64_t)strlen(params->mode);
    for (size_t i = 0; i < inputs->x.size; i++) {
        outputs->y.float32[i] = inputs->x.float32[i] * params->scales.items[0] + params->f32;
        outputs->flags.uint8[i] = inputs->x.float32[i] > params->f64;
    }
    return strcmp(params->mode, "refuse") == 0 ? "mode is refuse" : NULL;
}

#endif
