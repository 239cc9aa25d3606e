/*
 * A straightforward version of the conversions, one element at a time: the benchmark's baseline for
 * opkit/half.h. Rounds to nearest even; has the functions of opkit/half.h that kernels need.
 */
#ifndef OPKIT_HALF_H
#define OPKIT_HALF_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define OPKIT_SMALL __attribute__((unused)) static
#define OPKIT_LOOP OPKIT_SMALL

static float baseline_float_of(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half >> 15) << 31;
    const uint32_t exponent = half >> 10 & 31;
    const uint32_t fraction = half & 1023;
    uint32_t bits;
    float value;

    if (exponent == 0) { /* a multiple of 2^-24 */
        value = (float)fraction * 5.9604644775390625e-8F;
        return sign != 0 ? -value : value;
    }
    if (exponent == 31) {
        bits = sign | 255u << 23 | fraction << 13;
    } else {
        bits = sign | (exponent + 112) << 23 | fraction << 13;
    }
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint16_t baseline_half_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint32_t sign = bits >> 31 << 15;
    const int exponent = (int)(bits >> 23 & 255) - 112;
    uint32_t fraction = bits & 0x7FFFFF;
    uint32_t dropped = 13; /* bits */

    if (exponent == 143) { /* infinity, or NaN */
        return (uint16_t)(sign | 0x7C00 | (fraction != 0 ? 0x200 : 0));
    }
    if (exponent >= 31) {
        return (uint16_t)(sign | 0x7C00);
    }
    if (exponent < -10) {
        return (uint16_t)sign;
    }
    if (exponent <= 0) { /* the leading 1 of a subnormal half is explicit */
        fraction |= 1u << 23;
        dropped += (uint32_t)(1 - exponent);
    }
    const uint32_t rest = fraction & ((1u << dropped) - 1);
    const uint32_t middle = 1u << (dropped - 1);
    uint32_t half = (exponent > 0 ? (uint32_t)exponent << 10 : 0) + (fraction >> dropped);
    if (rest > middle || (rest == middle && (half & 1) != 0)) {
        half++; /* may carry into the exponent, as IEEE 754 requires */
    }
    return (uint16_t)(sign | half);
}

OPKIT_SMALL void opkit_halves_to_floats(const uint16_t *halves, float *floats, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        floats[i] = baseline_float_of(halves[i]);
    }
}

OPKIT_SMALL void opkit_floats_to_halves(const float *floats, uint16_t *halves, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        halves[i] = baseline_half_of(floats[i]);
    }
}

/* The results of an elementwise function, which the baseline does not keep. */
struct opkit_half_table {
    char unused;
};

static inline void opkit_release_half_table(struct opkit_half_table *table)
{
    (void)table;
}

#endif
