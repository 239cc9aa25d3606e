/*
 * The math of ${name}: the only C that has to be written.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in ${lower}_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, whatever the model holds; integer tensors are as they
 * are (opkit/include/opkit/tensor.h). An output has its final shape already.
 */
#ifndef ${upper}_COMPUTE_H
#define ${upper}_COMPUTE_H

#include <string.h>

#include "generated/${lower}.h"

/*
 * Computes the outputs:
 *
$arguments
 *
 * Returns NULL, or a text that says what is wrong with the call; it is logged, and the call fails.
 */
static const char *${lower}_compute(const struct ${lower}_inputs *inputs,
${pad}const struct ${lower}_params *params,
${pad}struct ${lower}_outputs *outputs)
{
    (void)params;

    /* Write the real math here. Until then, $so_far. */
$statements
    return NULL;
}

#endif
