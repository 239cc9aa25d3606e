/*
 * The shape rule of ${name}, for runtimes that infer shapes at run time.
 *
 * Sets `rank` and `shape` of the outputs from the shapes of the inputs, like output_shapes of the
 * reference: the check compares both in every case. Tensors have no data here.
 * Do not divide by a dimension: it is 0 in an empty tensor.
 */
#ifndef ${upper}_SHAPES_H
#define ${upper}_SHAPES_H

#include <string.h>

#include "../generated/${lower}.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
${declaration}
{
    (void)params;

${so_far}
${statements}
    return NULL;
}

#endif
