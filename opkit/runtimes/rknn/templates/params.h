/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
#ifndef ${upper}_PARAMS_H
#define ${upper}_PARAMS_H

/*
 * How OpenVX hands ${name} its parameters:
 * as one array of references, the inputs first, then the outputs, then the params, in the order of
 * op.yml.
 */

#include <VX/vx_helper.h>

#include "../include/opkit/runtimes/rknn/openvx.h"
#include "${lower}.h"

/* The place of each parameter in that array. */
enum {
$indices
    ${upper}_PARAMETER_COUNT
};

/*
 * The description of the parameters, the same for every kernel. The runtime refuses a reference
 * that does not fit its row; every type of scalar is VX_TYPE_SCALAR here.
 */
static vx_param_description_t kernel_params[] = {
$descriptions
};

/* Everything that one call of the kernel works on. */
struct ${lower}_arguments {
    struct ${lower}_inputs inputs;
    struct ${lower}_params params;
    struct ${lower}_outputs outputs;
    void *memory; /* the elements of all tensors */
$lists};

/*
 * Makes room for all tensors, reads the inputs and then the params. Returns VX_SUCCESS, or the
 * status of what failed, which is then in the log: a lack of memory, or the first parameter that is
 * not what op.yml says, by name. In both cases the arguments have to be released.
 */
$read
{
    const struct opkit_tensor_parameter tensors[] = {
$tensors
    };

    memset(arguments, 0, sizeof *arguments);
    OPKIT_TRY(
        opkit_open_tensors(call, tensors, sizeof tensors / sizeof tensors[0], &arguments->memory));
$reads    return VX_SUCCESS;
}

/* Writes the outputs back. Returns VX_SUCCESS, or the status of the first that could not be. */
$write
{
$writes
    return VX_SUCCESS;
}

/*
 * For a call that failed: makes the elements of each output NaN, or -1 or the largest number if
 * they are integers. What keeps it from doing so is in the log.
 */
$invalidate
{
$invalidates
}

/* Frees what reading took. */
$release
{
    free(arguments->memory);
}

#endif
