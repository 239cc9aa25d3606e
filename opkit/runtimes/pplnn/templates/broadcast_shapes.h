${notice}/*
 * The shape rule of ${name}, for runtimes that infer shapes at run time: the inputs are broadcast
 * as in numpy. Tensors have no data here.
 */
#ifndef ${upper}_SHAPES_H
#define ${upper}_SHAPES_H

#include "../generated/${lower}.h"
#include "../include/opkit/compute/elementwise.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
${declaration}
{
    const struct opkit_tensor *const tensors[] = {$tensors};

    (void)params;
    if (!opkit_broadcast_shapes(tensors, $count, &outputs->$output)) {
        return $problem;
    }
    return NULL;
}

#endif
