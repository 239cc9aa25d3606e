/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
#ifndef ${upper}_PARAMS_H
#define ${upper}_PARAMS_H

/*
 * The OpenVX parameters of ${name}:
 * one array of references in the order inputs, outputs, params; each group in the order of op.yml.
 */

#include <VX/vx_helper.h>

#include "../include/opkit/runtimes/rknn/openvx.h"
#include "${lower}.h"
$allowed_include
/* The index of each parameter in that array. */
enum {
$indices
    ${upper}_PARAMETER_COUNT
};

/*
 * The parameter descriptions, the same for every kernel. The runtime rejects references of another
 * type; all scalars are VX_TYPE_SCALAR here.
 */
static vx_param_description_t kernel_params[] = {
$descriptions
};

/* The data of one call of the kernel. */
struct ${lower}_arguments {
    struct ${lower}_inputs inputs;
    struct ${lower}_params params;
    struct ${lower}_outputs outputs;
    struct opkit_scratch memory; /* the elements of all tensors, unless the node keeps them */
$lists};

/*
 * Reserves memory for all tensors, reads the inputs, then the params. Returns VX_SUCCESS, or logs
 * an error and returns its status: not enough memory, or the name of the first parameter that does
 * not match op.yml. In both cases, release the arguments.
 */
$read
{
    const struct opkit_tensor_parameter tensors[] = {
$tensors
    };

    memset(arguments, 0, sizeof *arguments);
    OPKIT_TRY(opkit_open_tensors(call, tensors, sizeof tensors / sizeof tensors[0], $half,
                                 &arguments->memory));
$reads$check_params    return VX_SUCCESS;
}

/* Writes the outputs to the device. Returns VX_SUCCESS, or the status of the first error. */
$write
{
$writes
    return VX_SUCCESS;
}

/*
 * Marks the outputs of a failed call: sets their elements to NaN, or, for integers, to -1 or the
 * largest number. Logs errors.
 */
$invalidate
{
$invalidates
}

/* Frees the memory of the arguments, unless the node keeps it for its next call. */
$release
{
    opkit_release_scratch(&arguments->memory);
}

#endif
