/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */

$about
#include "${lower}_custom_op.h"

RKNN_CUSTOM_OP_EXPORT rknn_custom_op *get_rknn_custom_op(void);
rknn_custom_op *get_rknn_custom_op(void)
{
    return ${lower}_custom_op();
}
