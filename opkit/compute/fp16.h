/*
 * Elementary functions in arithmetic of halves, without calls and branches, so that compilers
 * vectorize loops: 8 elements at a time where processor.h defines OPKIT_FP16, nothing elsewhere.
 *
 * The errors, on all 65,536 halves, are those of docs/cpu.md of rknn-op-template. As in math.h, the
 * coefficients minimize the maximum error. Sums of products are fused, with every compiler.
 *
 * Plain C11 and C++11, with the type _Float16 of the compiler.
 */
#ifndef OPKIT_FP16_H
#define OPKIT_FP16_H

#include "processor.h"

#if defined(OPKIT_FP16)

#include <stdint.h>
#include <string.h>

OPKIT_FP16_INLINE uint16_t opkit_fp16_bits(opkit_fp16 value)
{
    uint16_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

OPKIT_FP16_INLINE opkit_fp16 opkit_fp16_from_bits(uint16_t bits)
{
    opkit_fp16 value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Returns a * b + c, rounded once. */
OPKIT_FP16_INLINE opkit_fp16 opkit_fp16_fma(opkit_fp16 a, opkit_fp16 b, opkit_fp16 c)
{
    return __builtin_fmaf16(a, b, c);
}

OPKIT_FP16_INLINE opkit_fp16 opkit_fp16_magnitude(opkit_fp16 x)
{
    return opkit_fp16_from_bits(opkit_fp16_bits(x) & 0x7FFFU);
}

/* Return the smaller and the larger of x and a limit; NaN passes unchanged. */
OPKIT_FP16_INLINE opkit_fp16 opkit_fp16_at_most(opkit_fp16 x, opkit_fp16 limit)
{
    return x > limit ? limit : x;
}

OPKIT_FP16_INLINE opkit_fp16 opkit_fp16_at_least(opkit_fp16 x, opkit_fp16 limit)
{
    return x < limit ? limit : x;
}

/* As OPKIT_ROUNDER and OPKIT_BIAS of math.h: 1.5 * 2^10, and the bias of the exponent of a half. */
#define OPKIT_FP16_ROUNDER 1536.0F
#define OPKIT_FP16_BIAS 15.0F

/* Returns 2^n for the bits of a sum of n, rounder and bias; n is from -14 to 15. */
OPKIT_FP16_INLINE opkit_fp16 opkit_fp16_power_of_two(uint16_t rounded)
{
    return opkit_fp16_from_bits((uint16_t)(rounded << 10));
}

/* x = n * ln 2 + rest; |rest| is at most ln 2 / 2. */
struct opkit_fp16_exponent {
    opkit_fp16 rest;
    uint16_t rounded; /* the bits of n + rounder + bias; arbitrary for NaN, as rest is NaN */
};

OPKIT_FP16_INLINE struct opkit_fp16_exponent opkit_fp16_split_exponent(opkit_fp16 x, float bias)
{
    const opkit_fp16 rounder = (opkit_fp16)(OPKIT_FP16_ROUNDER + bias);
    const opkit_fp16 rounded = opkit_fp16_fma(x, (opkit_fp16)1.44269504F, rounder);
    const opkit_fp16 n = rounder - rounded; /* -n */
    /* ln 2 as a half, and the rest of it: the first sum is exact. */
    const opkit_fp16 high = opkit_fp16_fma(n, (opkit_fp16)0.693359375F, x);
    struct opkit_fp16_exponent split;

    split.rest = opkit_fp16_fma(n, (opkit_fp16)-0.00021219444F, high);
    split.rounded = opkit_fp16_bits(rounded);
    return split;
}

/* Returns e^r - 1 for |r| up to ln 2 / 2. */
OPKIT_FP16_INLINE opkit_fp16 opkit_fp16_expm1_near_0(opkit_fp16 r)
{
    const opkit_fp16 square = r * r;
    const opkit_fp16 terms = opkit_fp16_fma(r, (opkit_fp16)0.166625977F, (opkit_fp16)0.50390625F);
    return opkit_fp16_fma(square, terms, r);
}

/* Returns e^x. */
OPKIT_FP16_INLINE opkit_fp16 opkit_fp16_exp(opkit_fp16 x)
{
    /* Beyond these limits the result is 0 or infinity. */
    const opkit_fp16 limited =
        opkit_fp16_at_most(opkit_fp16_at_least(x, (opkit_fp16)-18.0F), (opkit_fp16)12.0F);
    const struct opkit_fp16_exponent split =
        opkit_fp16_split_exponent(limited, 2.0F * OPKIT_FP16_BIAS);
    const opkit_fp16 series = (opkit_fp16)1.0F + opkit_fp16_expm1_near_0(split.rest);
    /* Two factors, because 2^n may overflow or be subnormal where the result does not. */
    const uint16_t half = split.rounded >> 1;
    const uint16_t other = (uint16_t)(split.rounded - half);
    return series * opkit_fp16_power_of_two(half) * opkit_fp16_power_of_two(other);
}

/* Returns 1 / (1 + e^-x). */
OPKIT_FP16_INLINE opkit_fp16 opkit_fp16_sigmoid(opkit_fp16 x)
{
    const opkit_fp16 one = (opkit_fp16)1.0F;
    const opkit_fp16 power = opkit_fp16_exp(-opkit_fp16_magnitude(x));
    return (x < (opkit_fp16)0.0F ? power : one) / (one + power);
}

/* Returns the hyperbolic tangent of x: (1 - p) / (1 + p) of p = e^(-2 |x|). */
OPKIT_FP16_INLINE opkit_fp16 opkit_fp16_tanh(opkit_fp16 x)
{
    const opkit_fp16 one = (opkit_fp16)1.0F;
    /* Beyond, the result is 1. */
    const opkit_fp16 limited = opkit_fp16_at_most(opkit_fp16_magnitude(x), (opkit_fp16)5.0F);
    const struct opkit_fp16_exponent split =
        opkit_fp16_split_exponent((opkit_fp16)-2.0F * limited, OPKIT_FP16_BIAS);
    const opkit_fp16 power = opkit_fp16_power_of_two(split.rounded);
    const opkit_fp16 difference =
        opkit_fp16_fma(power, opkit_fp16_expm1_near_0(split.rest), power - one); /* p - 1 */
    const opkit_fp16 result = difference / ((opkit_fp16)2.0F + difference);
    const uint16_t bits = opkit_fp16_bits(result) & 0x7FFFU;
    return opkit_fp16_from_bits(bits | (uint16_t)(opkit_fp16_bits(x) & 0x8000U));
}

/*
 * Returns the standard normal distribution function of x, (1 + erf(x / sqrt 2)) / 2; 0 below -3.9,
 * where it is less than 2^-14. The tail beyond t = |x| is 2^(t * curve - 1).
 */
OPKIT_FP16_INLINE opkit_fp16 opkit_fp16_normal_cdf(opkit_fp16 x)
{
    const opkit_fp16 one = (opkit_fp16)1.0F;
    const opkit_fp16 t = opkit_fp16_magnitude(x);
    opkit_fp16 curve = opkit_fp16_fma(t, (opkit_fp16)0.0043258667F, (opkit_fp16)-0.0467834473F);
    curve = opkit_fp16_fma(t, curve, (opkit_fp16)-0.463134766F);
    curve = opkit_fp16_fma(t, curve, (opkit_fp16)-1.15039062F);
    const opkit_fp16 rounder = (opkit_fp16)(OPKIT_FP16_ROUNDER + OPKIT_FP16_BIAS - 1.0F);
    const opkit_fp16 rounded = opkit_fp16_fma(t, curve, rounder);
    const opkit_fp16 r = opkit_fp16_fma(t, curve, rounder - rounded);
    opkit_fp16 terms = opkit_fp16_fma(r, (opkit_fp16)0.0546569824F, (opkit_fp16)0.2421875F);
    terms = opkit_fp16_fma(r, terms, (opkit_fp16)0.693359375F);
    const opkit_fp16 tail =
        opkit_fp16_fma(r, terms, one) * opkit_fp16_power_of_two(opkit_fp16_bits(rounded));
    const opkit_fp16 limited = t > (opkit_fp16)3.9F ? (opkit_fp16)0.0F : tail; /* NaN passes */
    return x > (opkit_fp16)0.0F ? one - limited : limited;
}

#endif

#endif
