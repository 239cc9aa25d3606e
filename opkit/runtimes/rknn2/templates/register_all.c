/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */

$about
${includes}#include "${lower}_custom_op.h"

enum {
    OPERATOR_COUNT = 1
};

$register
{
    static rknn_custom_op operators[OPERATOR_COUNT]; /* the runtime may keep the pointer */

    operators[0] = *${lower}_custom_op();
$status}
