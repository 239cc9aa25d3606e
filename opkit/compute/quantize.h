/*
 * Quantized numbers: floats as integers, rounded half to even and saturated, and where the scales
 * of a tensor are.
 *
 * Plain C11 and C++11.
 */
#ifndef OPKIT_QUANTIZE_H
#define OPKIT_QUANTIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elementwise.h"
#include "float_bits.h"
#include "processor.h"
#include "tensor.h"

#define OPKIT_FLOAT_ROUNDER 12582912.0F /* 1.5 * 2^23: a sum with it is an integer */

/* Returns a number within two limits; for NaN, the lower one. */
static inline float opkit_within(float x, float low, float high)
{
    const float above = x > low ? x : low;
    return above < high ? above : high;
}

/*
 * Returns a float within two integers of at most 2^22, rounded half to even; for NaN, the lower
 * one. Compilers vectorize it: there is no call and no branch.
 */
static inline float opkit_round_within(float x, float low, float high)
{
    return (opkit_within(x, low, high) + OPKIT_FLOAT_ROUNDER) - OPKIT_FLOAT_ROUNDER;
}

/*
 * Returns the number of a float in steps of a scale, from a zero point on, within two limits: at
 * least -2^16, and at most 2^16. NaN becomes the lower one. The bits of a sum with the rounder
 * count its integers.
 */
static inline int32_t opkit_quantized(float x, float scale, int32_t zero, float low, float high)
{
    const float offset = (float)zero;
    const float sum = opkit_within(x / scale, low - offset, high - offset) + OPKIT_FLOAT_ROUNDER;

    return (int32_t)(opkit_float_bits(sum) - opkit_float_bits(OPKIT_FLOAT_ROUNDER)) + zero;
}

/* A zero point, and the limits of 8-bit numbers without it. */
struct opkit_byte_range {
    float zero, low, high;
};

/* Returns the range of int8 or uint8 with a zero point of that type. */
static inline struct opkit_byte_range opkit_byte_range_of(const struct opkit_tensor *zero)
{
    const bool is_signed = zero->type == OPKIT_INT8;
    struct opkit_byte_range range;

    range.zero = is_signed ? zero->int8[0] : zero->uint8[0];
    range.low = (is_signed ? -128.0F : 0.0F) - range.zero;
    range.high = range.low + 255.0F;
    return range;
}

/* Quantizes sums with a bias, by a scale for each; int8 and uint8 have the same bits. */
OPKIT_ELEMENT_LOOP void opkit_quantize_sums(const struct opkit_byte_range *range,
                                            const int32_t *sums, int32_t bias, const float *scales,
                                            size_t count, uint8_t *y)
{
    const struct opkit_byte_range own = *range; /* y could change it, as far as compilers know */
    const uint32_t zero = (uint32_t)(int32_t)own.zero;

    for (size_t i = 0; i < count; i++) {
        const int32_t sum = (int32_t)((uint32_t)sums[i] + (uint32_t)bias);
        const float x = opkit_within((float)sum * scales[i], own.low, own.high);

        /* The last byte of the rounder is 0. */
        y[i] = (uint8_t)(opkit_float_bits(x + OPKIT_FLOAT_ROUNDER) + zero);
    }
}
OPKIT_WIDEST(opkit_quantize_sums,
             (const struct opkit_byte_range *range, const int32_t *sums, int32_t bias,
              const float *scales, size_t count, uint8_t *y),
             (range, sums, bias, scales, count, y))

/* Returns whether a tensor has integers of 8 or 16 bits; sets their limits. */
static inline bool opkit_number_limits(const struct opkit_tensor *tensor, float *low, float *high)
{
    const bool is_signed = tensor->type == OPKIT_INT8 || tensor->type == OPKIT_INT16;
    const float count = opkit_element_size(tensor->type) == 1 ? 256.0F : 65536.0F;

    *low = is_signed ? -count / 2.0F : 0.0F;
    *high = *low + count - 1.0F;
    return is_signed || tensor->type == OPKIT_UINT8 || tensor->type == OPKIT_UINT16;
}

/* Copies integers of 8, 16 or 32 bits, but not of uint32. */
OPKIT_ELEMENT_LOOP void opkit_load_numbers(const struct opkit_tensor *tensor, size_t first,
                                           size_t count, int32_t *numbers)
{
    switch (tensor->type) {
    case OPKIT_INT8:
        for (size_t i = 0; i < count; i++) {
            numbers[i] = tensor->int8[first + i];
        }
        break;
    case OPKIT_UINT8:
        for (size_t i = 0; i < count; i++) {
            numbers[i] = tensor->uint8[first + i];
        }
        break;
    case OPKIT_INT16:
        for (size_t i = 0; i < count; i++) {
            numbers[i] = tensor->int16[first + i];
        }
        break;
    case OPKIT_UINT16:
        for (size_t i = 0; i < count; i++) {
            numbers[i] = tensor->uint16[first + i];
        }
        break;
    default:
        for (size_t i = 0; i < count; i++) {
            numbers[i] = tensor->int32[first + i];
        }
        break;
    }
}

/*
 * Where the scales of a tensor are: one for all, one for each place along an axis, or one for each
 * block along it. Its elements are [outer, length, inner].
 */
struct opkit_scales {
    size_t length, inner;
    size_t block; /* places along the axis that share a scale; 0: there are no blocks */
};

/* A run of elements, one behind the other, and their scales. */
struct opkit_scaled_run {
    size_t count;
    size_t scale; /* the index of the first one */
    size_t step; /* from one scale to the next: 0, all have the same, or 1 */
};

/*
 * Plans the scales of x, as ONNX's QuantizeLinear and DequantizeLinear have them. Returns NULL, or
 * an error message. `block_size` is not negative.
 */
OPKIT_SMALL const char *opkit_plan_scales(struct opkit_scales *plan, const struct opkit_tensor *x,
                                          const struct opkit_tensor *scale, int64_t axis,
                                          int64_t block_size)
{
    const int64_t rank = (int64_t)x->rank;
    const size_t place = (size_t)(axis < 0 ? axis + rank : axis);
    const bool has_blocks = block_size > 0;

    plan->length = 1;
    plan->inner = x->size;
    plan->block = 0;
    if (!has_blocks && scale->size == 1) {
        return NULL; /* whatever the axis is */
    }
    if (axis < -rank || axis >= rank) {
        return "axis must be a dimension of x";
    }
    plan->length = x->shape[place];
    plan->inner = 1;
    for (size_t i = place + 1; i < x->rank; i++) {
        plan->inner *= x->shape[i];
    }
    if (!has_blocks) {
        return scale->rank == 1 && scale->size == plan->length
                   ? NULL
                   : "scales must be one number, or one for each place along the axis";
    }
    plan->block = (size_t)block_size;
    bool fits = scale->rank == x->rank;
    for (size_t i = 0; i < x->rank; i++) {
        const size_t blocks = x->shape[i] / plan->block + (x->shape[i] % plan->block > 0);

        fits = fits && scale->shape[i] == (i == place ? blocks : x->shape[i]);
    }
    return fits ? NULL : "scales must be one for each block along the axis";
}

/* Returns the run of elements from `begin` on, which ends at `end` or before. */
static inline struct opkit_scaled_run opkit_run_of(const struct opkit_scales *plan, size_t begin,
                                                   size_t end)
{
    const size_t inner = begin % plan->inner, row = begin / plan->inner;
    const size_t place = row % plan->length, left = plan->length - place;
    struct opkit_scaled_run run = {plan->inner - inner, place, 0};

    if (plan->block > 0) {
        const size_t blocks = plan->length / plan->block + (plan->length % plan->block > 0);
        const size_t in_block = plan->block - place % plan->block;

        run.scale = (row / plan->length * blocks + place / plan->block) * plan->inner + inner;
        run.step = plan->inner > 1;
        if (plan->inner == 1) {
            run.count = in_block < left ? in_block : left;
        }
    } else if (plan->inner == 1) {
        run.count = left;
        run.step = 1;
    }
    run.count = run.count < end - begin ? run.count : end - begin;
    return run;
}

#endif
