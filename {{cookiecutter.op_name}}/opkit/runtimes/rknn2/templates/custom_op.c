/* Generated from op.yml by opkit. Do not edit: the next build writes it anew. */

$about
#include "${lower}_custom_op.h"

#include "../opkit/runtimes/rknn2/custom_op.h"
#include "../${lower}_compute.h"

$description
$compute_comment
static int compute_callback(rknn_custom_op_context *context, rknn_custom_op_tensor *input_tensors,
                            uint32_t input_count, rknn_custom_op_tensor *output_tensors,
                            uint32_t output_count)
{
$locals

$statements
$compute
    return problem == NULL ? 0 : opkit_fail(&custom_op_description, "%s", problem);
}

$init$function
{
    static rknn_custom_op custom_op = {
        .version = 1,
        .target = RKNN_TARGET_TYPE_CPU,
$op_type
$members
    };

    return &custom_op;
}
