/*
 * The shape rule of ${name}, for runtimes that ask for it at run time.
 *
 * Sets `rank` and `shape` of the outputs from those of the inputs, as the reference's
 * output_shapes does: the check compares the two in every case. There is no data yet.
 * A dimension of 0 is an empty tensor: divide by none of them.
 */
#ifndef ${upper}_SHAPES_H
#define ${upper}_SHAPES_H

#include <string.h>

#include "../generated/${lower}.h"

/* Returns NULL, or a text that says what is wrong with the inputs; it is logged. */
${declaration}
{
    (void)params;

${so_far}
${statements}
    return NULL;
}

#endif
