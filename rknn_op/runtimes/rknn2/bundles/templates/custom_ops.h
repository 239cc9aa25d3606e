#ifndef CUSTOM_OPS_H
#define CUSTOM_OPS_H

$about

#include <rknn_custom_op.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Registers all operators, in the only call that librknnrt allows for a context. Call it after
 * rknn_init, and before any other function. Returns the status of rknn_register_custom_ops.
 */
int custom_ops_register_all(rknn_context context);

#ifdef __cplusplus
}
#endif

#endif
