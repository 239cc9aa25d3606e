/* The launch of the GPU kernel of $name: its work items, and its arguments behind the tensors. */
#ifndef ${upper}_GPU_H
#define ${upper}_GPU_H

#include "../include/opkit/runtimes/rknn2/launch.h"
#include "../generated/${lower}.h"

/*
 * Describes the launch for tensors and params. Shapes are set; the elements are on the GPU, so
 * `float32` and the other members for them are NULL.
 *
 * opkit_add_int, opkit_add_float, opkit_add_array, opkit_add_scratch and opkit_add_local add the
 * arguments of $kernel behind inputs and outputs, in its order.
 *
 * Returns NULL, or the reason why the GPU cannot compute this: then the CPU does.
 */
$declaration
{
$unused    if (outputs->$output.size != inputs->$input.size) {
        return "$output must be as large as $input";
    }
    launch->global_size[0] = outputs->$output.size;
${added}    opkit_add_int(launch, (int32_t)outputs->$output.size);
    return NULL;
}

#endif
