/* The math of TakeRows, the operator of opkit/docs/cases.md. */
#ifndef TAKEROWS_COMPUTE_H
#define TAKEROWS_COMPUTE_H

#include "generated/takerows.h"

static size_t takerows_index(const struct opkit_tensor *indices, size_t i)
{
    switch (indices->type) {
    case OPKIT_INT32:
        return (size_t)indices->int32[i];
    case OPKIT_UINT8:
        return indices->uint8[i];
    default:
        return (size_t)indices->float32[i];
    }
}

static const char *takerows_compute(const struct takerows_inputs *inputs,
                                    const struct takerows_params *params,
                                    struct takerows_outputs *outputs)
{
    const size_t columns = inputs->table.shape[1];

    for (size_t row = 0; row < inputs->indices.size; row++) {
        const size_t index = takerows_index(&inputs->indices, row);

        if (index >= inputs->table.shape[0]) {
            return "indices must be rows of table";
        }
        for (size_t column = 0; column < columns; column++) {
            outputs->rows.float32[row * columns + column] =
                inputs->table.float32[index * columns + column] * params->scale;
        }
    }
    return NULL;
}

#endif
