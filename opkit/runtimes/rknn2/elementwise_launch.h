/* The launch of the GPU kernel of an elementwise operator, whose inputs broadcast. */
#ifndef OPKIT_ELEMENTWISE_LAUNCH_H
#define OPKIT_ELEMENTWISE_LAUNCH_H

#include <stdbool.h>

#include "../../compute/tensor.h"
#include "launch.h"

enum {
    OPKIT_MAX_BROADCAST = 8 /* inputs */
};

/*
 * Adds the arguments with which a kernel finds the elements of broadcast inputs: an int, the rank
 * of the output; and an array of int: its shape, and for each input the steps between elements
 * along each dimension, 0 where it is broadcast. Returns false if an input does not broadcast.
 */
static inline bool opkit_add_broadcast(struct opkit_launch *launch,
                                       const struct opkit_tensor *output,
                                       const struct opkit_tensor *const *inputs, size_t input_count)
{
    int32_t table[(1 + OPKIT_MAX_BROADCAST) * OPKIT_MAX_RANK];
    int32_t *row = table;

    for (size_t i = 0; i < output->rank; i++) {
        *row++ = (int32_t)output->shape[i];
    }
    for (size_t k = 0; k < input_count; k++, row += output->rank) {
        const struct opkit_tensor *input = inputs[k];
        const size_t missing = output->rank - input->rank;
        size_t step = 1;

        if (input->rank > output->rank) {
            return false;
        }
        for (size_t i = output->rank; i-- > 0;) {
            const size_t size = i < missing ? 1 : input->shape[i - missing];

            if (size != 1 && size != output->shape[i]) {
                return false;
            }
            row[i] = size == 1 ? 0 : (int32_t)step;
            step *= size;
        }
    }
    opkit_add_int(launch, (int32_t)output->rank);
    opkit_add_array(launch, table, (size_t)(row - table) * sizeof *table);
    return true;
}

#endif
