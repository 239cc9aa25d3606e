/*
 * The math of Mod: the remainder of a division.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in mod_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16; integer tensors are
 * not converted.
 *
 * a and b are broadcast as in numpy. With fmod 0 floats are taken, too: librknnrt 1.6.0 hands over
 * integers as floats.
 */
#ifndef MOD_COMPUTE_H
#define MOD_COMPUTE_H

#include <math.h>

#include "generated/mod.h"
#include "include/opkit/compute/elementwise.h"

#define MOD_ROUNDER 6755399441055744.0 /* 1.5 * 2^52: a sum with it is an integer */
#define MOD_MAX_QUOTIENT 536870912.0 /* 2^29: times a float, it is exact in double */

/*
 * Returns the remainder of a / b. The quotient is rounded to the nearest integer without a call and
 * a branch, so that compilers vectorize loops; the exact rest, from -|b| / 2 to |b| / 2, gets the
 * right sign by one addition. It is exact for numbers of int32, and for floats with a quotient
 * below MOD_MAX_QUOTIENT.
 */
static inline double mod_of(double a, double b, double quotient, bool has_sign_of_a)
{
    const double rest = a - ((quotient + MOD_ROUNDER) - MOD_ROUNDER) * b;
    const double sign = has_sign_of_a ? a : b;
    const double missing = rest * sign < 0.0 ? copysign(b, sign) : 0.0;

    return copysign(rest + missing, sign); /* of 0, too */
}

/* Returns whether mod_of is not exact: a large quotient, a divisor of 0, an infinity or NaN. */
static inline bool mod_is_extreme(double b, double quotient)
{
    return !((fabs(quotient) < MOD_MAX_QUOTIENT) & (fabs(b) < (double)INFINITY));
}

/* Returns the same as mod_of by the C library, for all numbers. */
static double mod_of_extremes(double a, double b, bool has_sign_of_a)
{
    const double rest = fmod(a, b);

    if (has_sign_of_a) {
        return rest;
    }
    if (rest == 0.0) {
        return copysign(0.0, b);
    }
    return (rest < 0.0) != (b < 0.0) ? rest + b : rest;
}

static inline int64_t mod_of_int64(int64_t a, int64_t b, bool has_sign_of_a)
{
    if (b == -1) {
        return 0; /* -2^63 % -1 is undefined in C */
    }
    const int64_t rest = a % b;
    return !has_sign_of_a && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

OPKIT_ELEMENT_LOOP void mod_float32(const float *a, const float *b, float *c, size_t count,
                                    bool has_sign_of_a)
{
    int extremes = 0;

    for (size_t i = 0; i < count; i++) {
        const double divisor = (double)b[i];
        const double quotient = (double)a[i] / divisor;

        c[i] = (float)mod_of((double)a[i], divisor, quotient, has_sign_of_a);
        extremes |= mod_is_extreme(divisor, quotient);
    }
    for (size_t i = 0; i < count && extremes != 0; i++) {
        if (mod_is_extreme((double)b[i], (double)a[i] / (double)b[i])) {
            c[i] = (float)mod_of_extremes((double)a[i], (double)b[i], has_sign_of_a);
        }
    }
}

OPKIT_ELEMENT_LOOP void mod_int32(const int32_t *a, const int32_t *b, int32_t *c, size_t count,
                                  bool has_sign_of_a)
{
    for (size_t i = 0; i < count; i++) {
        const double dividend = (double)a[i], divisor = (double)b[i];

        c[i] = (int32_t)mod_of(dividend, divisor, dividend / divisor, has_sign_of_a);
    }
}

static void mod_int64(const int64_t *a, const int64_t *b, int64_t *c, size_t count,
                      bool has_sign_of_a)
{
    for (size_t i = 0; i < count; i++) {
        c[i] = mod_of_int64(a[i], b[i], has_sign_of_a);
    }
}

/* The elements of a block: of each tensor in a row, without gaps. */
struct mod_block {
    const void *a;
    const void *b;
    void *c;
    enum opkit_type type;
    bool has_sign_of_a;
};

/* Computes a block. */
OPKIT_ELEMENT_LOOP void mod_compute_block(const struct mod_block *block, size_t count)
{
    const bool has_sign_of_a = block->has_sign_of_a;

    if (block->type == OPKIT_FLOAT32) {
        mod_float32((const float *)block->a, (const float *)block->b, (float *)block->c, count,
                    has_sign_of_a);
    } else if (block->type == OPKIT_INT32) {
        mod_int32((const int32_t *)block->a, (const int32_t *)block->b, (int32_t *)block->c, count,
                  has_sign_of_a);
    } else {
        mod_int64((const int64_t *)block->a, (const int64_t *)block->b, (int64_t *)block->c, count,
                  has_sign_of_a);
    }
}
OPKIT_WIDEST(mod_compute_block, (const struct mod_block *block, size_t count), (block, count))

/* Computes a part of the output, block by block. */
static void mod_compute_part(const void *context, size_t begin, size_t end)
{
    const struct opkit_loop *loop = (const struct opkit_loop *)context;
    const struct mod_params *params = (const struct mod_params *)loop->params;
    struct opkit_buffer buffers[2]; /* of a and b */
    struct mod_block block;

    block.type = loop->type;
    block.has_sign_of_a = params->fmod == 1;
    opkit_clear_buffers(buffers, 2);
    while (begin < end) {
        const size_t count = opkit_block_size(loop, begin, end);

        block.a = opkit_load_block(loop, 0, begin, count, &buffers[0]);
        block.b = opkit_load_block(loop, 1, begin, count, &buffers[1]);
        block.c = loop->data + begin * opkit_element_size(loop->type);
        mod_compute_block_widest(&block, count);
        begin += count;
    }
}

/* Returns whether an integer tensor has a 0. */
static bool mod_has_zero(const struct opkit_tensor *tensor)
{
    for (size_t i = 0; i < tensor->size; i++) {
        if (tensor->type == OPKIT_INT32 ? tensor->int32[i] == 0 : tensor->int64[i] == 0) {
            return true;
        }
    }
    return false;
}

/*
 * Computes the outputs:
 *
 *   inputs->a       the dividend
 *   inputs->b       the divisor
 *   params->fmod    0: c has the sign of b, as in Python; 1: the sign of a, as in C
 *   outputs->c      the remainder, in the shape to which a and b broadcast
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *mod_compute(const struct mod_inputs *inputs, const struct mod_params *params,
                               struct mod_outputs *outputs)
{
    const enum opkit_type type = inputs->a.type;
    const struct opkit_tensor *const tensors[] = {&inputs->a, &inputs->b};
    struct opkit_loop loop;

    if (inputs->b.type != type || outputs->c.type != type) {
        return "a, b and c must be of one type";
    }
    if (type != OPKIT_FLOAT32 && type != OPKIT_INT32 && type != OPKIT_INT64) {
        return "a and b must be float16, float32, int32 or int64";
    }
    if (params->fmod != 0 && params->fmod != 1) {
        return "fmod must be 0 or 1";
    }
    if (type != OPKIT_FLOAT32 && mod_has_zero(&inputs->b)) {
        return "b must not have a 0 if the tensors are integers";
    }
    if (!opkit_plan_loop(&loop, tensors, 2, &outputs->c, params)) {
        return "c must have the shape to which a and b broadcast";
    }
    opkit_parallel_for(loop.size, OPKIT_GRAIN, mod_compute_part, &loop);
    return NULL;
}

#endif
