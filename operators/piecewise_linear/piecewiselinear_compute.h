/*
 * The math of PiecewiseLinear: linear interpolation between points.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in piecewiselinear_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in
 * all. Floating-point tensors are arrays of float, also if the model has float16. The math is in
 * double, so that a point gets exactly its value.
 */
#ifndef PIECEWISELINEAR_COMPUTE_H
#define PIECEWISELINEAR_COMPUTE_H

#include <stdbool.h>
#include <string.h>

#include "generated/piecewiselinear.h"

/* Checks the params. Returns NULL, or an error message. */
static const char *piecewiselinear_check(const struct piecewiselinear_params *params)
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

/* Returns the index of the point where the line over x begins, at most `count` - 2. */
static size_t piecewiselinear_find(const float *points, size_t count, float x)
{
    size_t low = 0;
    size_t high = count - 1;

    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (x >= points[middle]) { /* false for NaN */
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/*
 * Computes the outputs:
 *
 *   inputs->x          any shape
 *   params->points     the x coordinates of the points, increasing: `count`, `items[]`
 *   params->values     the value at each of the points
 *   params->outside    beyond the points: "clamp" to their values, or "extend" the outer lines
 *   outputs->y         the shape of x
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *piecewiselinear_compute(const struct piecewiselinear_inputs *inputs,
                                           const struct piecewiselinear_params *params,
                                           struct piecewiselinear_outputs *outputs)
{
    const char *problem = piecewiselinear_check(params);
    if (problem != NULL) {
        return problem;
    }
    if (inputs->x.type != OPKIT_FLOAT32 || outputs->y.type != OPKIT_FLOAT32) {
        return "x and y must be float16 or float32";
    }
    if (inputs->x.size != outputs->y.size) {
        return "y must be as large as x";
    }

    const float *points = params->points.items;
    const float *values = params->values.items;
    const size_t last = params->points.count - 1;
    const bool clamps = strcmp(params->outside, "clamp") == 0;
    for (size_t i = 0; i < inputs->x.size; i++) {
        float x = inputs->x.float32[i];
        if (clamps && x < points[0]) { /* false for NaN */
            x = points[0];
        } else if (clamps && x > points[last]) {
            x = points[last];
        }
        const size_t from = piecewiselinear_find(points, last + 1, x);
        const double slope =
            ((double)values[from + 1] - values[from]) / ((double)points[from + 1] - points[from]);
        outputs->y.float32[i] = (float)(values[from] + (x - (double)points[from]) * slope);
    }
    return NULL;
}

#endif
