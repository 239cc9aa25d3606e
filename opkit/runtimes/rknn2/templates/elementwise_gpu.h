/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */

/* The launch of the GPU kernel of $name: its work items, and its arguments behind the tensors. */
#ifndef ${upper}_GPU_H
#define ${upper}_GPU_H

#include "../include/opkit/runtimes/rknn2/elementwise_launch.h"
#include "../generated/${lower}.h"

$declaration
{
$unused$broadcast    launch->global_size[0] = outputs->$output.size;
${added}    opkit_add_int(launch, (int32_t)outputs->$output.size);
    return NULL;
}

#endif
