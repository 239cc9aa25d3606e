/*
 * The shape rule of DynamicQuantizeLinear, for runtimes that infer shapes at run time. y has the
 * shape of x, by op.yml.
 */
#ifndef DYNAMICQUANTIZELINEAR_SHAPES_H
#define DYNAMICQUANTIZELINEAR_SHAPES_H

#include "../generated/dynamicquantizelinear.h"

/* Returns NULL, or an error message about the inputs: it is logged. */
static const char *dynamicquantizelinear_shapes(const struct dynamicquantizelinear_inputs *inputs,
                                                const struct dynamicquantizelinear_params *params,
                                                struct dynamicquantizelinear_outputs *outputs)
{
    (void)inputs;
    (void)params;
    outputs->y_scale.rank = outputs->y_zero_point.rank = 1;
    outputs->y_scale.shape[0] = outputs->y_zero_point.shape[0] = 1;
    return NULL;
}

#endif
