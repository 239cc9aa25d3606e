/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */

$about
${definitions}#include "${lower}_custom_op.h"

${loops}${gpu_include}#include "../include/opkit/runtimes/rknn2/custom_op.h"
$allowed_include#include "../${compute_header}"
${gpu_files}
$description
$compute_comment
static int compute_callback(rknn_custom_op_context *context, rknn_custom_op_tensor *input_tensors,
                            uint32_t input_count, rknn_custom_op_tensor *output_tensors,
                            uint32_t output_count)
{
${call}
    int status = opkit_open_call(&call);
    if (status == 0) {
${refusal}        const char *problem = NULL;
        ${refuse}if (!opkit_are_empty(&outputs, sizeof outputs)) {
$compute
        }
        status = opkit_finish_call(&call, problem);
    }
    opkit_close_call(&call);
    return status;
}

${gpu}$init$function
{
    static rknn_custom_op custom_op = {
        .version = 1,
        .target = RKNN_TARGET_TYPE_CPU,
$op_type
$members
    };

${choice}    return &custom_op;
}
${of_cpu}