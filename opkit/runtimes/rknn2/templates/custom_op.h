/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
#ifndef ${upper}_CUSTOM_OP_H
#define ${upper}_CUSTOM_OP_H

$about

#include <rknn_custom_op.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The operator, as rknn_register_custom_ops takes it: always the same one. */
$function;

/*
 * Registers the operator: for models whose only custom operator it is. Call it after rknn_init, and
 * before the model runs. Returns what rknn_register_custom_ops returns.
 */
$register;

#ifdef __cplusplus
}
#endif

#endif
