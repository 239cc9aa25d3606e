/*
 * The math of ${name}: the only C that you must write.
 *
 * Tensors are dense arrays. Shapes are in numpy's order (slowest dimension first), the same as in
 * the reference: `shape[0]` to `shape[rank - 1]`, `size` elements in all. The shapes of the outputs
 * are set before the call.
 *
 * Access the elements through the union member of the tensor's `type`: `float32` for floating
 * point, also if the model has float16; `int32` or another integer member for integers
 * (opkit/compute/tensor.h). In a tensor with two dimensions, the element in a row and a column is
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
 * Returns NULL, or an error message: it is logged, and the call fails. Not called if no output has
 * elements.
 */
$declaration
{
    (void)params;

$so_far
$statements
    return $result;
}

#endif
