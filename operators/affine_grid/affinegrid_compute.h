/*
 * The math of AffineGrid: the locations of an affine transform of images.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in affinegrid_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16. The math is in double,
 * because its terms may cancel.
 */
#ifndef AFFINEGRID_COMPUTE_H
#define AFFINEGRID_COMPUTE_H

#include <string.h>

#include "generated/affinegrid.h"
#include "include/opkit/compute/parallel.h"
#include "include/opkit/compute/processor.h"

enum {
    AFFINEGRID_MAX_AXES = 3,
    AFFINEGRID_GRAIN = 4096 /* locations worth a thread */
};

/* The positions of the pixels along an axis: the first one, and the distance to the next. */
struct affinegrid_axis {
    size_t length;
    double start;
    double step;
};

/* A call. Rows of the grid are numbered through all images. */
struct affinegrid_call {
    const float *theta;
    float *grid;
    size_t axes; /* of an image: 2 or 3 */
    struct affinegrid_axis x, y, z; /* columns, rows and, of 3 dimensions, slices */
};

static struct affinegrid_axis affinegrid_positions(size_t length, bool align_corners)
{
    struct affinegrid_axis axis = {length, 0.0, 0.0};

    if (!align_corners) {
        axis.step = 2.0 / (double)length;
        axis.start = axis.step / 2.0 - 1.0;
    } else if (length > 1) { /* a single pixel is at 0 */
        axis.step = 2.0 / (double)(length - 1);
        axis.start = -1.0;
    }
    return axis;
}

/* Computes one row of a grid, from the offsets of its start. Vectors convert 32-bit integers alone.
 */
OPKIT_INLINE void affinegrid_row(const struct affinegrid_call *call, const float *theta,
                                 size_t axes, const double *offsets, float *grid)
{
    for (size_t i = 0; i < call->x.length; i++) {
        const double x = call->x.start + (double)(int32_t)i * call->x.step;

        for (size_t axis = 0; axis < axes; axis++) {
            grid[i * axes + axis] = (float)(offsets[axis] + (double)theta[axis * (axes + 1)] * x);
        }
    }
}

/* Computes some rows. */
static void affinegrid_part(const void *context, size_t begin, size_t end)
{
    const struct affinegrid_call *call = (const struct affinegrid_call *)context;
    const size_t axes = call->axes;

    for (size_t row = begin; row < end; row++) {
        const size_t slice = row / call->y.length;
        const float *theta = call->theta + slice / call->z.length * axes * (axes + 1);
        const double y = call->y.start + (double)(row % call->y.length) * call->y.step;
        const double z = call->z.start + (double)(slice % call->z.length) * call->z.step;
        float *grid = call->grid + row * call->x.length * axes;
        double offsets[AFFINEGRID_MAX_AXES];

        for (size_t axis = 0; axis < axes; axis++) {
            const float *factors = theta + axis * (axes + 1);

            offsets[axis] = (double)factors[axes] + (double)factors[1] * y;
            if (axes == AFFINEGRID_MAX_AXES) {
                offsets[axis] += (double)factors[2] * z;
            }
        }
        if (axes == AFFINEGRID_MAX_AXES) {
            affinegrid_row(call, theta, AFFINEGRID_MAX_AXES, offsets, grid);
        } else {
            affinegrid_row(call, theta, 2, offsets, grid);
        }
    }
}

/* Checks theta and params, and computes the shape of the grid. Returns NULL, or an error message.
 */
static const char *affinegrid_shape(const struct opkit_tensor *theta,
                                    const struct affinegrid_params *params,
                                    struct opkit_tensor *grid)
{
    const struct opkit_int32_array size = params->size;

    if (theta->rank != 3 || (theta->shape[1] != 2 && theta->shape[1] != AFFINEGRID_MAX_AXES) ||
        theta->shape[2] != theta->shape[1] + 1) {
        return "theta must be [N, 2, 3] or [N, 3, 4]";
    }
    const size_t axes = theta->shape[1];
    if (size.count != axes + 2) {
        return "size must be [N, C, H, W] for theta [N, 2, 3], and [N, C, D, H, W] for [N, 3, 4]";
    }
    for (size_t i = 0; i < size.count; i++) {
        if (size.items[i] < 0) {
            return "size must not be negative";
        }
    }
    if ((size_t)size.items[0] != theta->shape[0]) {
        return "size must have the N of theta";
    }
    if (params->align_corners != 0 && params->align_corners != 1) {
        return "align_corners must be 0 or 1";
    }
    grid->rank = axes + 2;
    grid->shape[0] = theta->shape[0];
    for (size_t i = 0; i < axes; i++) {
        grid->shape[1 + i] = (size_t)size.items[2 + i];
    }
    grid->shape[axes + 1] = axes;
    return NULL;
}

/*
 * Computes the outputs:
 *
 *   inputs->theta            the transforms, [N, 2, 3] or [N, 3, 4]
 *   params->size             the size of the images, [N, C, H, W] or [N, C, D, H, W]
 *   params->align_corners    1: -1 and 1 are the centers of the first and last pixels; 0: the edges
 *   outputs->grid            [N, H, W, 2] or [N, D, H, W, 3]: x, y, and z of 3 dimensions
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *affinegrid_compute(const struct affinegrid_inputs *inputs,
                                      const struct affinegrid_params *params,
                                      struct affinegrid_outputs *outputs)
{
    const struct opkit_tensor *theta = &inputs->theta;
    const struct opkit_tensor *grid = &outputs->grid;
    struct opkit_tensor expected;

    memset(&expected, 0, sizeof expected);
    if (theta->type != OPKIT_FLOAT32 || grid->type != OPKIT_FLOAT32) {
        return "theta must be float16 or float32";
    }
    const char *problem = affinegrid_shape(theta, params, &expected);
    if (problem != NULL) {
        return problem;
    }
    size_t count = 1;
    for (size_t i = 0; i < expected.rank; i++) {
        count *= expected.shape[i];
    }
    if (grid->size != count) {
        return "grid must be [N, H, W, 2] or [N, D, H, W, 3]";
    }

    const size_t axes = theta->shape[1];
    const size_t *sides = expected.shape + 1;
    const bool is_aligned = params->align_corners == 1;
    const struct affinegrid_call call = {
        theta->float32,
        grid->float32,
        axes,
        affinegrid_positions(sides[axes - 1], is_aligned),
        affinegrid_positions(sides[axes - 2], is_aligned),
        affinegrid_positions(axes == AFFINEGRID_MAX_AXES ? sides[0] : 1, is_aligned),
    };
    opkit_parallel_for(count / axes / call.x.length, AFFINEGRID_GRAIN / call.x.length + 1,
                       affinegrid_part, &call);
    return NULL;
}

#endif
