${includes}#include "custom_ops.h"

$declarations

int custom_ops_register_all(rknn_context context)
{
    static rknn_custom_op operators[$count]; /* the runtime may keep the pointer */

$copies
$status
}
