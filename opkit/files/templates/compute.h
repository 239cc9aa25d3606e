/*
 * The math of ${name}: the only C that has to be written.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all. An output has its final shape
 * already.
 *
 * The elements are behind the member that the tensor's `type` names: `float32` for floating point,
 * whatever the model holds, and `int32` or its like for integers (opkit/compute/tensor.h). Of a
 * tensor with two dimensions, the element in a row and a column is
 *
$element
 */
#ifndef ${upper}_COMPUTE_H
#define ${upper}_COMPUTE_H

#include "generated/${lower}.h"

/*
 * Computes the outputs:
 *
$arguments
 *
 * Returns NULL, or a text that says what is wrong with the call; it is logged, and the call fails.
 */
$declaration
{
    (void)params;

$so_far
$statements
    return NULL;
}

#endif
