/*
 * The math of CumProd: the running products along an axis.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in cumprod_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16; integer tensors are
 * not converted.
 *
 * Products of floats are in double: they lose no digits, and hardly leave its range.
 */
#ifndef CUMPROD_COMPUTE_H
#define CUMPROD_COMPUTE_H

#include "generated/cumprod.h"
#include "include/opkit/compute/running.h"

OPKIT_DEFINE_RUNNING(cumprod_float32, float, double, 1, *)
OPKIT_DEFINE_RUNNING(cumprod_uint32, uint32_t, uint32_t, 1, *)
OPKIT_DEFINE_RUNNING(cumprod_uint64, uint64_t, uint64_t, 1, *)

/*
 * Computes the outputs:
 *
 *   inputs->x            any shape
 *   params->axis         the axis of the products; negative: counted from the last one
 *   params->exclusive    1: an element is not a factor of its own product; 0: it is
 *   params->reverse      1: the products begin at the last element of the axis; 0: at the first
 *   outputs->y           the products, in the shape of x
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *cumprod_compute(const struct cumprod_inputs *inputs,
                                   const struct cumprod_params *params,
                                   struct cumprod_outputs *outputs)
{
    const struct opkit_running math = {cumprod_float32, cumprod_uint32, cumprod_uint64};

    return opkit_run_along(&math, &inputs->x, &outputs->y, params->axis, params->exclusive,
                           params->reverse);
}

#endif
