/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
#ifndef ${upper}_CUSTOM_OP_H
#define ${upper}_CUSTOM_OP_H

$about

#include <rknn_custom_op.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the operator for rknn_register_custom_ops; always the same pointer. */
$function;

${of_cpu}/*
 * Registers the operator, for models without other custom operators. Call it after rknn_init, and
 * before the model runs. Returns the status of rknn_register_custom_ops.
 */
$register;

#ifdef __cplusplus
}
#endif

#endif
