/*
 * The math of PiecewiseLinear: a curve of straight lines between points.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in piecewiselinear_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in
 * all. Floating-point tensors are arrays of float, whatever the model holds. The math is in double,
 * so that a point gets exactly its value.
 */
#ifndef PIECEWISELINEAR_COMPUTE_H
#define PIECEWISELINEAR_COMPUTE_H

#include <stdbool.h>
#include <string.h>

#include "generated/piecewiselinear.h"

/* The line that begins at a point. */
struct piecewiselinear_line {
    double start;
    double value;
    double slope;
};

/* Returns why the params are no curve; NULL if they are one. */
static const char *piecewiselinear_refusal(const struct piecewiselinear_params *params)
{
    if (params->points.count < 2 || params->points.count != params->values.count) {
        return "points must be 2 or more, with a value each";
    }
    for (size_t i = 1; i < params->points.count; i++) {
        if (!(params->points.items[i] > params->points.items[i - 1])) {
            return "each of points must be larger than the one before";
        }
    }
    if (strcmp(params->outside, "clamp") != 0 && strcmp(params->outside, "extend") != 0) {
        return "outside must be clamp or extend";
    }
    return NULL;
}

/*
 * Arguments:
 *   inputs->x         any shape
 *   params->points    where the lines meet: `count`, `items[]`, growing
 *   params->values    the value at each of the points
 *   params->outside   beyond them: "clamp", or "extend" the lines
 *   outputs->y        the shape of x
 *
 * Returns NULL, or what is wrong with the arguments.
 */
static const char *piecewiselinear_compute(const struct piecewiselinear_inputs *inputs,
                                           const struct piecewiselinear_params *params,
                                           struct piecewiselinear_outputs *outputs)
{
    const char *refusal = piecewiselinear_refusal(params);
    if (refusal != NULL) {
        return refusal;
    }
    if (inputs->x.type != OPKIT_FLOAT32 || outputs->y.type != OPKIT_FLOAT32) {
        return "x and y must be float16 or float32";
    }
    if (inputs->x.size != outputs->y.size) {
        return "y must be as large as x";
    }

    struct piecewiselinear_line lines[OPKIT_MAX_ITEMS];
    const float *points = params->points.items;
    const float *values = params->values.items;
    const size_t last = params->points.count - 1;
    for (size_t i = 0; i < last; i++) {
        lines[i].start = points[i];
        lines[i].value = values[i];
        lines[i].slope = ((double)values[i + 1] - values[i]) / ((double)points[i + 1] - points[i]);
    }

    const bool clamps = strcmp(params->outside, "clamp") == 0;
    for (size_t i = 0; i < inputs->x.size; i++) {
        float x = inputs->x.float32[i];
        if (clamps && x < points[0]) { /* which NaN is not */
            x = points[0];
        } else if (clamps && x > points[last]) {
            x = points[last];
        }
        size_t line = 0;
        while (line + 1 < last && x >= points[line + 1]) {
            line++;
        }
        const struct piecewiselinear_line *at = &lines[line];
        outputs->y.float32[i] = (float)(at->value + (x - at->start) * at->slope);
    }
    return NULL;
}

#endif
