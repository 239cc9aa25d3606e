/*
 * Conversion between half (IEEE 754 binary16, kept in uint16_t) and float (binary32), exact in
 * every case: rounding to nearest, ties to even; subnormals, infinities and the sign of zero are
 * kept; a NaN stays a NaN with the upper bits of its payload, and becomes a quiet one.
 *
 * One code for every compiler and processor, so that what is tested on a PC is what runs on the
 * board. The functions work on bit patterns and choose with masks instead of branches, which lets
 * compilers turn the loops into vector code; on 32-bit ARM they do that for integers only, since
 * its vector unit flushes subnormal floats to zero. No subnormal float is ever computed with, so
 * the results do not depend on such flushing.
 *
 * Plain C11 and C++11, without the compilers' own half types, which the toolchains of the boards do
 * not all have.
 */
#ifndef OPKIT_HALF_H
#define OPKIT_HALF_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t opkit_float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float opkit_float_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* All ones where the condition (0 or 1) holds, else 0. */
static inline uint32_t opkit_mask(int condition)
{
    return 0u - (uint32_t)condition;
}

static inline uint32_t opkit_select(int condition, uint32_t yes, uint32_t no)
{
    return (yes & opkit_mask(condition)) | (no & opkit_mask(!condition));
}

/* The bits of the float that equals a half. */
static inline uint32_t opkit_half_to_float_bits(uint16_t half)
{
    const uint32_t rebias = (127u - 15u) << 23;
    const uint32_t sign = (half & 0x8000u) << 16;
    const uint32_t magnitude = half & 0x7FFFu;

    /*
     * A subnormal half is magnitude * 2^-24: a whole number, with 24 taken off its exponent. Zero
     * has no exponent.
     */
    const uint32_t whole = opkit_float_bits((float)(int32_t)magnitude);
    const uint32_t subnormal = (whole - (24u << 23)) & opkit_mask(magnitude != 0);
    const uint32_t normal = (magnitude << 13) + rebias;

    uint32_t bits = opkit_select(magnitude < 0x0400, subnormal, normal);
    bits += rebias & opkit_mask(magnitude >= 0x7C00); /* infinity and NaN: the largest exponent */
    bits |= 0x00400000u & opkit_mask(magnitude > 0x7C00); /* NaN: quiet */
    return sign | bits;
}

/* The half nearest to the float that has these bits. */
static inline uint16_t opkit_float_bits_to_half(uint32_t bits)
{
    const uint32_t smallest_normal = (127u - 14u) << 23; /* 2^-14 */
    const uint32_t beyond_range = (127u + 16u) << 23;    /* 2^16 */
    const uint32_t sign = bits >> 16 & 0x8000u;
    const uint32_t magnitude = bits & 0x7FFFFFFFu;

    /*
     * Rounding adds just under half of the last place that stays, and the bit of that place, which
     * makes ties even.
     */
    const uint32_t within = opkit_select(magnitude < beyond_range, magnitude, beyond_range);
    const uint32_t normal = (within - ((127u - 15u) << 23) + 0x0FFFu + (within >> 13 & 1u)) >> 13;

    /*
     * Below 2^-14 the last place is 2^-24. Scaled by 2^45 the value is below 2^31 and has 21 bits
     * after that place: their integer part is taken, and its lowest bit set where something was cut
     * off, so that a tie is seen as one only if it is.
     */
    const uint32_t scaled = (magnitude & opkit_mask(magnitude < smallest_normal)) + (45u << 23);
    const int32_t whole = (int32_t)opkit_float_from_bits(scaled);
    const uint32_t fixed = (uint32_t)whole | (uint32_t)(opkit_float_bits((float)whole) != scaled);
    const uint32_t subnormal = (fixed + 0x000FFFFFu + (fixed >> 21 & 1u)) >> 21;

    const uint32_t quiet_nan = 0x7E00u | (magnitude >> 13 & 0x03FFu);

    uint32_t half = opkit_select(magnitude < smallest_normal, subnormal, normal);
    half = opkit_select(magnitude > 0x7F800000u, quiet_nan, half);
    return (uint16_t)(sign | half);
}

/* The float that equals a half. */
static inline float opkit_half_to_float(uint16_t half)
{
    return opkit_float_from_bits(opkit_half_to_float_bits(half));
}

/* The half nearest to a float. */
static inline uint16_t opkit_float_to_half(float value)
{
    return opkit_float_bits_to_half(opkit_float_bits(value));
}

/* The loops keep to themselves: inside of a caller that is compiled for size they would be slow. */
#define OPKIT_LOOP __attribute__((noinline, hot, unused)) static

/* Converts `count` halves. The arrays must not overlap. */
OPKIT_LOOP void opkit_halves_to_floats(const uint16_t *halves, float *floats, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t bits = opkit_half_to_float_bits(halves[i]);
        memcpy(&floats[i], &bits, sizeof bits);
    }
}

/* Converts `count` floats. The arrays must not overlap. */
OPKIT_LOOP void opkit_floats_to_halves(const float *floats, uint16_t *halves, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &floats[i], sizeof bits);
        halves[i] = opkit_float_bits_to_half(bits);
    }
}

#endif
