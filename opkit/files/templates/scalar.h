/*
 * The math of ${name} for one element: the only C that you must write.
 *
 * generated/${lower}_compute.h calls ${lower}_of for each element of the output; the
 * inputs are broadcast as in numpy. Floating point is float, also if the model has float16.
 *
 * Compilers compute several elements at once if the math has no loops, and calls only inline
 * functions: without a call of the C library it is many times faster.
 */
#ifndef ${upper}_SCALAR_H
#define ${upper}_SCALAR_H

#include "generated/${lower}.h"

/*
 * Returns an element of ${output}:
 *
$arguments
 */
$declaration
{
$unused

$so_far
    return $result;
}
$half
#endif
