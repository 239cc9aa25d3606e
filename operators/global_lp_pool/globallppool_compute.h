/*
 * The math of GlobalLpPool: the p-norm of each channel of each image.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in globallppool_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16.
 *
 * Several sums advance side by side, in vectors, and are added at the end. Powers are in double:
 * those of float overflow early.
 */
#ifndef GLOBALLPPOOL_COMPUTE_H
#define GLOBALLPPOOL_COMPUTE_H

#include <math.h>

#include "generated/globallppool.h"
#include "include/opkit/compute/processor.h"

enum {
    GLOBALLPPOOL_LANES = 16 /* sums side by side */
};

/* Returns |x|^p, for p above 0. */
static inline double globallppool_power(float x, int64_t p)
{
    double square = fabs((double)x), result = 1.0;

    for (; p > 1; p /= 2) {
        result *= p % 2 != 0 ? square : 1.0;
        square *= square;
    }
    return result * square;
}

/* Returns the sum of the powers. Inlined, so that loops for a constant p are vectors. */
OPKIT_INLINE double globallppool_sum(const float *x, size_t count, int64_t p)
{
    double sums[GLOBALLPPOOL_LANES] = {0.0};
    double total = 0.0;
    size_t i = 0;

    for (; i + GLOBALLPPOOL_LANES <= count; i += GLOBALLPPOOL_LANES) {
        for (size_t lane = 0; lane < GLOBALLPPOOL_LANES; lane++) {
            sums[lane] += globallppool_power(x[i + lane], p);
        }
    }
    for (; i < count; i++) {
        total += globallppool_power(x[i], p);
    }
    for (size_t lane = 0; lane < GLOBALLPPOOL_LANES; lane++) {
        total += sums[lane];
    }
    return total;
}

/* Returns the p-norm. */
static float globallppool_norm(const float *x, size_t count, int64_t p)
{
    if (p == 1) {
        return (float)globallppool_sum(x, count, 1);
    }
    if (p == 2) {
        return (float)sqrt(globallppool_sum(x, count, 2));
    }
    return (float)pow(globallppool_sum(x, count, p), 1.0 / (double)p);
}

/*
 * Computes the outputs:
 *
 *   inputs->x     [N, C, D1, ...]
 *   params->p     1 or more: (sum of |x|^p)^(1/p)
 *   outputs->y    [N, C, 1, ...], in the rank of x
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *globallppool_compute(const struct globallppool_inputs *inputs,
                                        const struct globallppool_params *params,
                                        struct globallppool_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->x;
    const struct opkit_tensor *y = &outputs->y;

    if (x->type != OPKIT_FLOAT32 || y->type != OPKIT_FLOAT32) {
        return "x and y must be float16 or float32";
    }
    if (x->rank < 3) {
        return "x must be [N, C, D1, ...], with 3 dimensions or more";
    }
    if (y->size != x->shape[0] * x->shape[1]) {
        return "y must be [N, C, 1, ...]";
    }

    const size_t count = x->size / y->size;
    for (size_t i = 0; i < y->size; i++) {
        y->float32[i] = globallppool_norm(x->float32 + i * count, count, params->p);
    }
    return NULL;
}

#endif
