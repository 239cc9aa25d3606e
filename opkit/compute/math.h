/*
 * Elementary functions of floats without calls and branches, so that compilers vectorize loops.
 *
 * Each result is at most 1 ulp from the float that is nearest to the exact one, NaN, infinities,
 * zeros (with their sign) and subnormals included, with and without fused multiply-add
 * (-ffp-contract), in the default rounding mode, unless a function names another bound.
 * benchmarks/RESULTS.md of rknn-op-template names the arguments that were measured. clang fuses
 * multiplications and additions here where the processor can, whatever the flags say: the last bit
 * of a result may differ between processors.
 *
 * Needs IEEE 754 arithmetic: no -ffast-math, and no flush-to-zero mode. The vectors of 32-bit ARM
 * (NEON) flush subnormals to zero, so that compilers vectorize a loop of floats only if it asks for
 * that, as OPKIT_VECTORIZE in elementwise.h does.
 *
 * The coefficients of the polynomials minimize the maximum error; benchmarks/math_polynomials.py of
 * rknn-op-template computes them. The reductions of arguments are those of W. J. Cody and W. Waite,
 * Software Manual for the Elementary Functions (1980), if no other source is named. J.-M. Muller,
 * Elementary Functions (2016), explains all of them.
 *
 * Plain C11 and C++11. Include it as "opkit/compute/math.h"; it does not replace <math.h>.
 */
#ifndef OPKIT_MATH_H
#define OPKIT_MATH_H

#include <stdint.h>
#include <string.h>

#include "float_bits.h"
#include "processor.h"

#if defined(__clang__) /* GCC does not know the pragma */
#pragma STDC FP_CONTRACT ON
#endif

/* ---- Parts --------------------------------------------------------------------------------- */

#define OPKIT_SIGN_BIT 0x80000000U

static inline float opkit_infinity(void)
{
    return opkit_float_from_bits(0x7F800000U);
}

static inline float opkit_nan(void)
{
    return opkit_float_from_bits(0x7FC00000U);
}

static inline float opkit_magnitude(float x)
{
    return opkit_float_from_bits(opkit_float_bits(x) & ~OPKIT_SIGN_BIT);
}

/* Returns x with the sign of `sign` multiplied to its own. */
static inline float opkit_times_sign(float x, float sign)
{
    return opkit_float_from_bits(opkit_float_bits(x) ^ (opkit_float_bits(sign) & OPKIT_SIGN_BIT));
}

/* 64-bit ARM has one instruction for each, where a comparison and a choice are two or three. */
#if defined(__clang__) && defined(__aarch64__) && defined(__has_builtin)
#if __has_builtin(__builtin_elementwise_minimum)
#define OPKIT_HAS_ELEMENTWISE_MINIMUM
#endif
#endif

/* Return the smaller and the larger of x and a limit, of two zeros either; NaN passes. */
static inline float opkit_at_most(float x, float limit)
{
#if defined(OPKIT_HAS_ELEMENTWISE_MINIMUM)
    return __builtin_elementwise_minimum(x, limit);
#else
    return x > limit ? limit : x;
#endif
}

static inline float opkit_at_least(float x, float limit)
{
#if defined(OPKIT_HAS_ELEMENTWISE_MINIMUM)
    return __builtin_elementwise_maximum(x, limit);
#else
    return x < limit ? limit : x;
#endif
}

static inline uint64_t opkit_double_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double opkit_double_from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/*
 * Added to a number, they round it to an integer, which is in the last bits of the sum. With a bias
 * added, too, it is the integer plus the bias.
 */
#define OPKIT_ROUNDER 12582912.0F /* 1.5 * 2^23 */
#define OPKIT_DOUBLE_ROUNDER 6755399441055744.0 /* 1.5 * 2^52 */

/* The bias of the exponent of a float. */
#define OPKIT_BIAS 127.0F

/* Returns 2^n for the bits of a sum of n, OPKIT_ROUNDER and OPKIT_BIAS; n is from -126 to 127. */
static inline float opkit_power_of_two(uint32_t rounded)
{
    return opkit_float_from_bits(rounded << 23);
}

#define OPKIT_PER_LN2 1.44269504F
/* ln 2 in two parts: the product of the first one and an integer up to 2^8 is exact. */
#define OPKIT_LN2_HIGH 0.693145751953125F
#define OPKIT_LN2_LOW 1.42860677e-6F

/* x = n * ln 2 + rest + rest_low; |rest| is at most ln 2 / 2. */
struct opkit_exponent {
    float rest, rest_low;
    uint32_t rounded; /* the bits of n + bias + OPKIT_ROUNDER; arbitrary for NaN, as rest is NaN */
};

static inline struct opkit_exponent opkit_split_exponent(float x, float bias)
{
    const float rounded = x * OPKIT_PER_LN2 + (OPKIT_ROUNDER + bias);
    const float minus_n = (OPKIT_ROUNDER + bias) - rounded; /* without another constant */
    const float high = x + minus_n * OPKIT_LN2_HIGH; /* exact */
    struct opkit_exponent split;

    /* Products inside of sums, here and below, are fused with them. */
    split.rest = high + minus_n * OPKIT_LN2_LOW;
    split.rest_low = (high - split.rest) + minus_n * OPKIT_LN2_LOW;
    split.rounded = opkit_float_bits(rounded);
    return split;
}

/* Returns (e^r - 1 - r) / r^2 for |r| up to ln 2 / 2. */
static inline float opkit_exp_quotient(float r, float square)
{
    /* Independent pairs, for parallel execution. */
    const float low = 0.49999994F + r * 0.166665211F;
    const float high = 0.0416682586F + r * 0.00836867094F;
    return low + square * (high + square * 0.00138213555F);
}

/* Returns start + e^r - 1 - r for |r| up to ln 2 / 2. */
static inline float opkit_exp_terms(float r, float start)
{
    const float square = r * r;
    return start + square * opkit_exp_quotient(r, square);
}

/* ---- Exponential functions ------------------------------------------------------------------- */

/* Returns e^x. */
static inline float opkit_exp(float x)
{
    /* Beyond these limits the result is 0 or infinity. */
    const float limited = opkit_at_most(opkit_at_least(x, -104.0F), 89.0F);
    const struct opkit_exponent split = opkit_split_exponent(limited, 2.0F * OPKIT_BIAS);
    const float series = 1.0F + opkit_exp_terms(split.rest, split.rest);
    /* Two factors, because 2^n may overflow or be subnormal where the result does not. */
    const uint32_t half = split.rounded >> 1;
    return series * opkit_power_of_two(half) * opkit_power_of_two(split.rounded - half);
}

/*
 * The same in two thirds of the time, for |x| up to 87; of other numbers and NaN, the result is
 * arbitrary.
 */
static inline float opkit_exp_fast(float x)
{
    const struct opkit_exponent split = opkit_split_exponent(x, 0.0F);
    const float series = 1.0F + opkit_exp_terms(split.rest, split.rest);
    return opkit_float_from_bits(opkit_float_bits(series) + (split.rounded << 23)); /* times 2^n */
}

/* Returns the same for a weight of a softmax, x up to 88, in less time: from -87.7 down it is 0. */
static inline float opkit_exp_weight(float x)
{
    const struct opkit_exponent split = opkit_split_exponent(opkit_at_least(x, -88.0F), OPKIT_BIAS);
    const float series = 1.0F + opkit_exp_terms(split.rest, split.rest);
    return series * opkit_power_of_two(split.rounded); /* 0 for an exponent of -127 */
}

/* Returns e^x - 1. */
static inline float opkit_expm1(float x)
{
    /* Half of all, because 2^128 is no float. */
    const float limited = opkit_at_most(opkit_at_least(x, -18.0F), 89.0F);
    const struct opkit_exponent split = opkit_split_exponent(limited, OPKIT_BIAS - 1.0F);
    const float power = opkit_power_of_two(split.rounded);
    const float offset = power - 0.5F;
    const float product = power * split.rest; /* exact */
    const float sum = offset + product;
    const float sum_low = (offset - sum) + product;
    const float terms = opkit_exp_terms(split.rest, split.rest_low);
    const float result = 2.0F * (sum + (sum_low + power * terms));
    return opkit_magnitude(x) < 2.9e-8F ? x : result; /* also keeps -0 and subnormals */
}

/*
 * Returns 1 / (1 + e^-x), as 2^n / (2^n + e^-r) for x = n * ln 2 + r. Both are multiplied by 2^24,
 * because 2^-150 is no float.
 */
static inline float opkit_sigmoid(float x)
{
    const float scale = 16777216.0F; /* 2^24 */
    const float limited = opkit_at_most(opkit_at_least(x, -104.0F), 64.0F);
    const struct opkit_exponent split = opkit_split_exponent(limited, OPKIT_BIAS + 24.0F);
    const float power = opkit_power_of_two(split.rounded);
    const float square = split.rest * split.rest;
    const float minus_terms = split.rest - square * opkit_exp_quotient(-split.rest, square);
    const float terms = power - scale * minus_terms;
    const float divisor = scale + terms;
    const float divisor_low = (scale - divisor) + terms;
    const float quotient = 1.0F / divisor;
    return (quotient - quotient * (quotient * divisor_low)) * power;
}

/*
 * magnitude = b - n * ln 2 / 2. With t = tanh b and p = 2^n, tanh of the magnitude is
 * (1 - p + (1 + p) t) / (1 + p + (1 - p) t). t has few terms, because b is small.
 */
struct opkit_tangent {
    float tangent; /* t */
    float power; /* p */
};

/* A start above 0 moves the intervals of b upward. */
static inline struct opkit_tangent opkit_split_tangent(float magnitude, float start)
{
    const float rounded =
        (start - magnitude * (2.0F * OPKIT_PER_LN2)) + (OPKIT_ROUNDER + OPKIT_BIAS);
    const float n = rounded - (OPKIT_ROUNDER + OPKIT_BIAS);
    const float b = (magnitude + n * (0.5F * OPKIT_LN2_HIGH)) + n * (0.5F * OPKIT_LN2_LOW);
    const float square = b * b;
    const float terms = -0.333332151F + square * (0.133226961F + square * -0.0512267984F);
    struct opkit_tangent split;

    split.tangent = b + b * (square * terms);
    split.power = opkit_power_of_two(opkit_float_bits(rounded));
    return split;
}

/* Returns the hyperbolic tangent of x. */
static inline float opkit_tanh(float x)
{
    const float limited = opkit_at_most(opkit_magnitude(x), 10.0F); /* beyond, the result is 1 */
    /* n is 0 up to 0.26, so that the dividend has no cancellation. */
    const struct opkit_tangent split = opkit_split_tangent(limited, 0.25F);
    const float t = split.tangent, p = split.power;
    const float sum = 1.0F + p;
    const float difference = 1.0F - p;
    const float dividend_product = sum * t;
    const float divisor_product = difference * t;
    const float dividend = difference + dividend_product;
    const float divisor = sum + divisor_product;
    const float dividend_low = (difference - dividend) + dividend_product;
    const float divisor_low = (sum - divisor) + divisor_product;
    const float quotient = dividend / divisor;
    /* For divisors from 1 to 2, this is near to 1 / divisor. */
    const float inverse = 1.457F - 0.5F * divisor;
    const float result = quotient + inverse * (dividend_low - quotient * divisor_low);
    return opkit_times_sign(result, x);
}

/* Returns the hyperbolic tangent of x, at most 2 ulp from it, in less than two thirds of the time.
 */
static inline float opkit_tanh_fast(float x)
{
    const float limited = opkit_at_most(opkit_magnitude(x), 10.0F);
    const struct opkit_tangent split = opkit_split_tangent(limited, 0.0F);
    const float dividend = (1.0F - split.power) + (1.0F + split.power) * split.tangent;
    const float divisor = (1.0F + split.power) + (1.0F - split.power) * split.tangent;
    return opkit_times_sign(dividend / divisor, x);
}

/*
 * x = n ln 2 + r for a magnitude x: sinh x = sinh(n ln 2) cosh r + cosh(n ln 2) sinh r, and
 * cosh x = cosh(n ln 2) cosh r + sinh(n ln 2) sinh r.
 */
struct opkit_hyperbolic {
    float even, even_low; /* cosh(n ln 2) / 4 */
    float odd; /* sinh(n ln 2) / 4 */
    float rest; /* r */
    float cosh_terms, sinh_terms; /* cosh r - 1, sinh r - r */
};

static inline struct opkit_hyperbolic opkit_split_hyperbolic(float magnitude)
{
    const struct opkit_exponent split =
        opkit_split_exponent(opkit_at_most(magnitude, 90.0F), OPKIT_BIAS - 3.0F);
    const float grown = opkit_power_of_two(split.rounded);
    /* 2^-3 / grown / 2^3, or 2^-126 where that is smaller: beyond, the bits are 0 or negative. */
    const uint32_t inverse = 0x3E000000U + 0x3E000000U - opkit_float_bits(grown);
    const float shrunk = opkit_at_least(opkit_float_from_bits(inverse), 1.17549435e-38F);
    const float r = split.rest;
    const float square = r * r;
    struct opkit_hyperbolic parts;

    parts.even = grown + shrunk;
    parts.even_low = (grown - parts.even) + shrunk;
    parts.odd = grown - shrunk;
    parts.rest = r;
    parts.cosh_terms =
        square * (0.5F + square * (0.0416664593F + square * 0.00139354228F)) + r * split.rest_low;
    parts.sinh_terms =
        split.rest_low +
        r * square * (0.166666672F + square * (0.00833317544F + square * 0.000199740971F));
    return parts;
}

/* Returns the hyperbolic sine of x. */
static inline float opkit_sinh(float x)
{
    const float magnitude = opkit_magnitude(x);
    const struct opkit_hyperbolic parts = opkit_split_hyperbolic(magnitude);
    const float product = parts.even * parts.rest;
    const float sum = parts.odd + product;
    const float sum_low = (parts.odd - sum) + product;
    const float terms = parts.even * parts.sinh_terms + parts.odd * parts.cosh_terms;
    const float result = 4.0F * (sum + (sum_low + terms));
    return magnitude < 1e-4F ? x : opkit_times_sign(result, x);
}

/* Returns the hyperbolic cosine of x. */
static inline float opkit_cosh(float x)
{
    const struct opkit_hyperbolic parts = opkit_split_hyperbolic(opkit_magnitude(x));
    const float product = parts.odd * parts.rest;
    const float sum = parts.even + product;
    const float sum_low = ((parts.even - sum) + product) + parts.even_low;
    const float terms = parts.even * parts.cosh_terms + parts.odd * parts.sinh_terms;
    return 4.0F * (sum + (sum_low + terms));
}

/* ---- Logarithms ------------------------------------------------------------------------------ */

/* x = 2^power * (1 + fraction) with 1 + fraction from sqrt(1/2) to sqrt(2), for x > 0. */
struct opkit_logarithm {
    int32_t power;
    float fraction;
};

/* For x from 2^-126, and 0. */
static inline struct opkit_logarithm opkit_split_normal(float x)
{
    const uint32_t least = 0x3F3504F3U; /* the bits of sqrt(1/2) */
    const uint32_t bits = opkit_float_bits(x) - least;
    struct opkit_logarithm split;

    split.power = (int32_t)bits >> 23;
    split.fraction = opkit_float_from_bits((bits & 0x007FFFFFU) + least) - 1.0F;
    return split;
}

static inline struct opkit_logarithm opkit_split_logarithm(float x)
{
    const int subnormal = x < 1.17549435e-38F;
    struct opkit_logarithm split = opkit_split_normal(subnormal ? x * 33554432.0F : x);

    split.power -= subnormal ? 25 : 0; /* 33554432 is 2^25 */
    return split;
}

/* Returns power * ln 2 + ln(1 + fraction) + low. */
static inline float opkit_log_sum(int32_t power, float fraction, float low)
{
    const float n = (float)power;
    const float square = fraction * fraction;
    const float pair0 = 0.333333135F + fraction * -0.250000089F;
    const float pair1 = 0.200020716F + fraction * -0.166679889F;
    const float pair2 = 0.142203599F + fraction * -0.124062404F;
    const float pair3 = 0.118835382F + fraction * -0.116700158F;
    const float terms =
        pair0 + square * (pair1 + square * (pair2 + square * (pair3 + square * 0.0674917474F)));
    const float product = n * OPKIT_LN2_HIGH; /* exact */
    const float sum = product + fraction;
    const float sum_low = (product - sum) + fraction;
    const float rest = square * (fraction * terms - 0.5F) + (n * OPKIT_LN2_LOW + low);
    return sum + (sum_low + rest);
}

/* Returns the result of a logarithm whose argument, x, starts at 0. */
static inline float opkit_log_result(float x, float result)
{
    /* A NaN with all bits: choices of them are an instruction less. */
    const float outside = x == 0.0F ? -opkit_infinity() : opkit_float_from_bits(0xFFFFFFFFU);
    const float inside = x > 3.40282347e38F ? x : result;
    return x > 0.0F ? inside : outside;
}

/* Returns the natural logarithm of x. */
static inline float opkit_log(float x)
{
    const struct opkit_logarithm split = opkit_split_logarithm(x);
    return opkit_log_result(x, opkit_log_sum(split.power, split.fraction, 0.0F));
}

/* Returns the natural logarithm of 1 + x. */
static inline float opkit_log1p(float x)
{
    const float sum = 1.0F + x;
    const float rounded = sum - 1.0F;
    const float sum_low = (1.0F - (sum - rounded)) + (x - rounded); /* exact */
    const struct opkit_logarithm split = opkit_split_normal(sum);
    /* ln(f + low) is ln f + low / f; 1 / (1 + f) is near to 1 - f. */
    const int32_t scale = 127 - split.power;
    const float inverse = opkit_power_of_two((uint32_t)(scale > 0 ? scale : 0));
    const float low = sum_low * inverse * (1.0F - split.fraction);
    const float result = opkit_log_sum(split.power, split.fraction, low);
    const float checked = opkit_log_result(sum, result);
    const uint32_t sign = opkit_float_bits(x) & OPKIT_SIGN_BIT;
    return opkit_float_from_bits(opkit_float_bits(checked) | sign); /* of -0 */
}

/* ---- Trigonometric functions ----------------------------------------------------------------- */

/* x = quadrant * pi / 2 + rest - excess, up to a multiple of 2 pi; |rest| is at most pi / 4. */
struct opkit_angle {
    float rest, excess;
    uint32_t quadrant; /* in the last two bits */
};

/* Returns the one of five values that belongs to the range of a magnitude. */
static inline double opkit_of_range(double magnitude, double from_0, double from_2_45,
                                    double from_2_66, double from_2_87, double from_2_108)
{
    const double low = magnitude < 35184372088832.0 ? from_0 : from_2_45;
    const double high = magnitude < 1.5474250491067253e+26 ? from_2_66 : from_2_87;
    const double middle = magnitude < 7.3786976294838206e+19 ? low : high;
    return magnitude < 3.2451855365842673e+32 ? middle : from_2_108;
}

#define OPKIT_HALF_PI 1.5707963267948966

static inline struct opkit_angle opkit_split_angle(float x)
{
    const double wide = (double)x;
    const double magnitude = (double)opkit_magnitude(x);
    /*
     * 2 / pi in three parts, without the bits whose product with x is a multiple of 4, and so that
     * the products of x and both first parts are exact (M. Payne and R. Hanek, Radian reduction
     * for trigonometric functions, 1983).
     */
    const double part0 =
        opkit_of_range(magnitude, 0.63661977089941502, 2.0449648729936598e-07,
                       2.4187823967992744e-13, 1.0760572788072771e-19, 7.6967048473567051e-26);
    const double part1 =
        opkit_of_range(magnitude, 1.4681663246252086e-09, 2.9370955127187795e-16,
                       3.2543805045785129e-23, 2.2665977992894375e-28, 1.6682867657019525e-34);
    const double part2 =
        opkit_of_range(magnitude, 2.2760100730783962e-18, 2.7653040394377357e-24,
                       1.0455616024900778e-30, 5.6675570577803892e-37, 1.1588713353428143e-43);
    const double product0 = wide * part0;
    const double product1 = wide * part1;
    const double product2 = wide * part2;
    const double rounded = (product0 + product1) + OPKIT_DOUBLE_ROUNDER;
    const double n = rounded - OPKIT_DOUBLE_ROUNDER;
    const double angle = (((product0 - n) + product1) + product2) * OPKIT_HALF_PI;
    struct opkit_angle split;

    split.rest = (float)angle;
    split.excess = (float)((double)split.rest - angle);
    split.quadrant = (uint32_t)opkit_double_bits(rounded);
    return split;
}

/*
 * The same for |x| up to 3,000, in floats. The products of the first three parts of pi / 2 and an
 * integer up to 2^11 are exact.
 */
static inline struct opkit_angle opkit_split_small_angle(float x)
{
    const float rounded = x * 0.636619747F + OPKIT_ROUNDER;
    const float n = rounded - OPKIT_ROUNDER;
    const float first = x - n * 1.57055664F; /* exact */
    const float second = first - n * 0.000239670277F;
    const float second_excess = n * 0.000239670277F - (first - second);
    const float third = second - n * 1.58906914e-08F;
    const float third_excess = n * 1.58906914e-08F - (second - third);
    const float excess = (second_excess + third_excess) + n * 2.56334407e-12F;
    struct opkit_angle split;

    split.rest = third - excess;
    split.excess = excess - (third - split.rest);
    split.quadrant = opkit_float_bits(rounded);
    return split;
}

/* Returns the sine of an angle plus shift * pi / 2. */
static inline float opkit_sin_of_angle(struct opkit_angle angle, uint32_t shift)
{
    const uint32_t quadrant = angle.quadrant + shift;
    const float r = angle.rest;
    const float square = r * r;
    const float cubic = -0.166666552F + square * (0.00833218917F + square * -0.000195182874F);
    /* Differences, also of zeros, so that the sign of -0 stays. */
    const float sine = r - (angle.excess - r * (square * cubic));
    const float terms =
        square * (0.0416666456F + square * (-0.00138873013F + square * 2.44306684e-05F));
    const float cosine = 1.0F - square * (0.5F - terms);
    const float result = quadrant & 1U ? cosine : sine;
    return opkit_float_from_bits(opkit_float_bits(result) ^ (quadrant & 2U) << 30);
}

/* Returns a number without the lower half of its bits. */
static inline float opkit_high_bits(float x)
{
    return opkit_float_from_bits(opkit_float_bits(x) & 0xFFFFF000U);
}

/* Returns the tangent of an angle. */
static inline float opkit_tan_of_angle(struct opkit_angle angle)
{
    const float r = angle.rest;
    const float square = r * r;
    const float fourth = square * square;
    const float low = 0.333333492F + square * 0.133326754F;
    const float middle = 0.054058902F + square * 0.0212863423F;
    const float high = 0.0108268941F + square * 9.91840789e-05F;
    const float terms =
        r * square * (low + fourth * (middle + fourth * (high + fourth * 0.00437212503F)));
    /* The derivative of the tangent is near to 1 + r^2 + r^4. */
    const float difference = (angle.excess + angle.excess * (square + fourth)) - terms;
    const float tangent = r - difference;
    /* Parts with half of the bits, whose product is exact. */
    const float inverse = -1.0F / tangent;
    const float inverse_high = opkit_high_bits(inverse);
    const float high_bits = opkit_high_bits(tangent);
    const float low_bits = (r - high_bits) - difference;
    const float rest = (1.0F + inverse_high * high_bits) + inverse_high * low_bits;
    const float cotangent = inverse_high + inverse * rest;
    return angle.quadrant & 1U ? cotangent : tangent;
}

/* Returns the sine of x in radians. */
static inline float opkit_sin(float x)
{
    return opkit_sin_of_angle(opkit_split_angle(x), 0U);
}

/* Returns the cosine of x in radians. */
static inline float opkit_cos(float x)
{
    return opkit_sin_of_angle(opkit_split_angle(x), 1U);
}

/* Returns the tangent of x in radians. */
static inline float opkit_tan(float x)
{
    return opkit_tan_of_angle(opkit_split_angle(x));
}

/*
 * The same functions in less than half of the time, for |x| up to 3,000; beyond, except for NaN and
 * infinities, the result is arbitrary. They, too, are at most 1 ulp from the nearest float.
 */
static inline float opkit_sin_fast(float x)
{
    return opkit_sin_of_angle(opkit_split_small_angle(x), 0U);
}

static inline float opkit_cos_fast(float x)
{
    return opkit_sin_of_angle(opkit_split_small_angle(x), 1U);
}

static inline float opkit_tan_fast(float x)
{
    return opkit_tan_of_angle(opkit_split_small_angle(x));
}

/* ---- Roots ----------------------------------------------------------------------------------- */

/* Unlike sqrtf it does not set errno, so that loops are vectorized. */
#if defined(__has_builtin) && defined(__clang__)
#if __has_builtin(__builtin_elementwise_sqrt)
#define OPKIT_HAS_ELEMENTWISE_SQRT
#endif
#endif

/* Returns the square root of x, by the processor's instruction. */
static inline float opkit_sqrt(float x)
{
#if defined(OPKIT_HAS_ELEMENTWISE_SQRT)
    return __builtin_elementwise_sqrt(x);
#else
    return __builtin_sqrtf(x);
#endif
}

/* Returns 1 / the square root of x. */
static inline float opkit_rsqrt(float x)
{
    return 1.0F / opkit_sqrt(x);
}

/* ---- Inverse trigonometric functions --------------------------------------------------------- */

#define OPKIT_HALF_PI_HIGH 1.57079637F
#define OPKIT_HALF_PI_LOW (-4.37113883e-8F)

/*
 * For |x| > 1/2, asin |x| = pi / 2 - 2 asin(sqrt((1 - |x|) / 2)); acos |x| is twice that arc sine.
 */
struct opkit_arc {
    int large; /* |x| > 1/2 */
    float sine, excess; /* of the arc: its sine, asin(sine) - sine */
};

static inline struct opkit_arc opkit_split_arc(float magnitude)
{
    const float half = 0.5F - 0.5F * magnitude;
    const float root = opkit_sqrt(half);
    struct opkit_arc arc;

    /* The smaller ones are the right ones; NaN beyond 1 stays. */
    arc.large = magnitude > 0.5F;
    arc.sine = opkit_at_most(root, magnitude);
    const float square = opkit_at_most(half, magnitude * magnitude);
    const float low = 0.166667521F + square * 0.0749530941F;
    const float high = 0.0454691499F + square * 0.0241847783F;
    const float fourth = square * square;
    arc.excess = arc.sine * square * (low + fourth * (high + fourth * 0.0421583056F));
    return arc;
}

/* Returns the arc sine of x. */
static inline float opkit_asin(float x)
{
    const struct opkit_arc arc = opkit_split_arc(opkit_magnitude(x));
    const float small = arc.sine + arc.excess;
    const float difference = OPKIT_HALF_PI_HIGH - 2.0F * arc.sine;
    const float difference_low = (OPKIT_HALF_PI_HIGH - difference) - 2.0F * arc.sine;
    const float large = difference + (difference_low - (2.0F * arc.excess - OPKIT_HALF_PI_LOW));
    return opkit_times_sign(arc.large ? large : small, x);
}

/* Returns the arc cosine of x. */
static inline float opkit_acos(float x)
{
    const struct opkit_arc arc = opkit_split_arc(opkit_magnitude(x));
    const float angle = arc.sine + arc.excess;
    const float small = OPKIT_HALF_PI_HIGH - (opkit_times_sign(angle, x) - OPKIT_HALF_PI_LOW);
    const float twice = 2.0F * angle;
    const float obtuse = 2.0F * OPKIT_HALF_PI_HIGH - (twice - 2.0F * OPKIT_HALF_PI_LOW);
    const float large = x < 0.0F ? obtuse : twice;
    return arc.large ? large : small;
}

/* Returns the arc tangent of x. */
static inline float opkit_atan(float x)
{
    const float magnitude = opkit_magnitude(x);
    const int large = magnitude > 1.0F;
    const float inverse = 1.0F / magnitude;
    const float s = opkit_at_most(magnitude, inverse);
    const float square = s * s;
    const float fourth = square * square;
    const float pair0 = -0.333333284F + square * 0.199997157F;
    const float pair1 = -0.142803431F + square * 0.110612333F;
    const float pair2 = -0.0882146209F + square * 0.0676364899F;
    const float pair3 = -0.0449832566F + square * 0.022777617F;
    const float pair4 = -0.00742536318F + square * 0.00113452214F;
    const float terms =
        pair0 + fourth * (pair1 + fourth * (pair2 + fourth * (pair3 + fourth * pair4)));
    const float excess = s * square * terms;
    const float difference = OPKIT_HALF_PI_HIGH - s;
    const float difference_low = (OPKIT_HALF_PI_HIGH - difference) - s;
    const float complement = difference + (difference_low - (excess - OPKIT_HALF_PI_LOW));
    return opkit_times_sign(large ? complement : s + excess, x);
}

/* ---- The error function, the normal distribution --------------------------------------------- */

/* Returns 2^r for |r| up to 1/2. */
static inline float opkit_exp2_near_0(float r)
{
    const float square = r * r;
    const float low = 0.693147004F + r * 0.240222469F;
    const float high = 0.0555071086F + r * 0.00967129227F;
    return 1.0F + r * (low + square * (high + square * 0.00132695353F));
}

/*
 * Returns 2^x, at most 2 ulp from it, for x up to 127; of larger numbers, the result is arbitrary.
 * From -126.5 down it is 0.
 */
static inline float opkit_exp2_fast(float x)
{
    const float limited = opkit_at_least(x, -127.0F);
    const float rounded = limited + (OPKIT_ROUNDER + OPKIT_BIAS);
    const float r = limited - (rounded - (OPKIT_ROUNDER + OPKIT_BIAS));
    return opkit_exp2_near_0(r) * opkit_power_of_two(opkit_float_bits(rounded));
}

/*
 * Returns the error function of x: near 0 a polynomial, else 1 - 2^e, where e is a polynomial near
 * log2(erfc |x|).
 */
static inline float opkit_erf(float x)
{
    const float t = opkit_at_most(opkit_magnitude(x), 3.93F); /* beyond, the result is 1 */
    const float square = t * t;
    const float fourth = square * square;
    const float low = 0.128379151F + square * -0.376124978F;
    const float middle = 0.112818435F + square * -0.0267673489F;
    const float high = 0.00499403803F + square * -0.00059945049F;
    const float small = t + t * (low + fourth * (middle + fourth * high));

    const float pair0 = -0.000284509355F + t * -1.62688291F;
    const float pair1 = -0.919275045F + t * -0.149928063F;
    const float pair2 = 0.0320601054F + t * -0.00438877381F;
    const float rest = pair1 + square * (pair2 + square * 0.000282506313F);
    const float rounded = pair0 + square * rest + (OPKIT_ROUNDER + OPKIT_BIAS);
    /* Their sum has a rounding error; this difference of pair0 is exact. */
    const float r = pair0 - (rounded - (OPKIT_ROUNDER + OPKIT_BIAS)) + square * rest;
    const float large = 1.0F - opkit_exp2_near_0(r) * opkit_power_of_two(opkit_float_bits(rounded));
    return opkit_times_sign(t > 0.921875F ? large : small, x);
}

/*
 * Returns the standard normal distribution function of x, (1 + erf(x / sqrt 2)) / 2: at most 2 ulp
 * from it for x >= 0. Below 0 the error is at most 2^-19 of the result down to -3, 2^-16 of it down
 * to -4, and 2^-31 beyond; below -6.2 the result is 0.
 *
 * The tail beyond t = |x| is 2^(t * curve - 1), where curve is a polynomial.
 */
static inline float opkit_normal_cdf(float x)
{
    const float t = opkit_magnitude(x);
    const float square = t * t;
    const float fourth = square * square;
    const float pair0 = -1.15110469F + t * -0.45921576F;
    const float pair1 = -0.052459579F + t * 0.00698116608F;
    const float pair2 = -3.87314176e-05F + t * -0.000251898455F;
    const float pair3 = 6.39659411e-05F + t * -7.61215233e-06F;
    const float curve =
        pair0 + square * pair1 + fourth * (pair2 + square * pair3 + fourth * 3.73507334e-07F);
    const float rounded = t * curve + (OPKIT_ROUNDER + OPKIT_BIAS - 1.0F);
    const float r = t * curve - (rounded - (OPKIT_ROUNDER + OPKIT_BIAS - 1.0F));
    const float tail = opkit_exp2_near_0(r) * opkit_power_of_two(opkit_float_bits(rounded));
    const float limited = t > 6.2F ? 0.0F : tail; /* NaN passes */
    return x > 0.0F ? 1.0F - limited : limited;
}

/* ---- Powers ---------------------------------------------------------------------------------- */

/* Returns log2 of a positive float, at most 2^-39 of it from the exact one. */
static inline double opkit_log2_double(float x)
{
    const struct opkit_logarithm split = opkit_split_logarithm(x);
    const double fraction = (double)split.fraction;
    const double ratio = fraction / (2.0 + fraction);
    const double square = ratio * ratio;
    const double low = 2.885390081790141 + square * 0.96179667328402074;
    const double high = 0.57708359448243218 + square * 0.41167221755003358;
    const double fourth = square * square;
    return (double)split.power + ratio * (low + fourth * (high + fourth * 0.34073835687166404));
}

/* Returns 2^x; NaN for NaN. */
static inline float opkit_exp2_of_double(double x)
{
    /* Beyond these limits a float is 0 or infinity. */
    const double above = x < -160.0 ? -160.0 : x;
    const double limited = above > 130.0 ? 130.0 : above;
    const double rounded = limited + OPKIT_DOUBLE_ROUNDER;
    const double r = limited - (rounded - OPKIT_DOUBLE_ROUNDER);
    const double low = 0.24022651066561992 + r * 0.055504103659882002;
    const double middle = 0.0096180381319795564 + r * 0.0013333935059806194;
    const double high = 0.00015466756331590148 + r * 1.5196155177262821e-05;
    const double square = r * r;
    const double series =
        1.0 + r * 0.69314718070453341 + square * (low + square * (middle + square * high));
    return (float)(series * opkit_double_from_bits((opkit_double_bits(rounded) + 1023U) << 52));
}

/* Returns x to the power of y, with the special values of C (C11, F.10.4.4). */
static inline float opkit_pow(float x, float y)
{
    const float magnitude = opkit_magnitude(x);
    const float y_magnitude = opkit_magnitude(y);
    const double finite = opkit_log2_double(magnitude);
    const double nonzero = magnitude < opkit_infinity() ? finite : (double)magnitude;
    const double logarithm = magnitude == 0.0F ? -(double)opkit_infinity() : nonzero;
    const float power = opkit_exp2_of_double((double)y * logarithm);

    /* From 2^24 on all floats are even integers. NaN is not less. */
    const float limited = y_magnitude < 16777216.0F ? y_magnitude : 16777216.0F;
    const int32_t truncated = (int32_t)limited;
    const int is_integer = (float)truncated == limited;
    const uint32_t odd = is_integer ? (uint32_t)truncated << 31 : 0U;
    const float signed_power =
        opkit_float_from_bits(opkit_float_bits(power) ^ (opkit_float_bits(x) & odd));

    const int is_negative = (x < 0.0F) & (magnitude < opkit_infinity());
    const float real = (is_negative & !is_integer) ? opkit_nan() : signed_power;
    const int is_one =
        (x == 1.0F) | (y == 0.0F) | ((magnitude == 1.0F) & (y_magnitude == opkit_infinity()));
    return is_one ? 1.0F : real;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

#define OPKIT_ROW_BLOCK 256 /* elements */

/* Returns whether an element's magnitude is larger than a limit; those of NaN and infinity are. */
static inline int opkit_has_larger(const float *x, size_t count, float limit)
{
    int32_t largest = -1; /* not 0: else clang compares without signs, which SSE2 cannot */

    for (size_t i = 0; i < count; i++) {
        const int32_t bits = (int32_t)(opkit_float_bits(x[i]) & ~OPKIT_SIGN_BIT);
        largest = bits > largest ? bits : largest;
    }
    return largest > (int32_t)opkit_float_bits(limit);
}

/* Computes y[i] from x[i], which may be the same; the blocks within the limit fast. */
#define OPKIT_DEFINE_ROW(name, limit)                                                     \
    OPKIT_INLINE void opkit_##name##_row(const float *x, float *y, size_t count)          \
    {                                                                                     \
        for (size_t begin = 0; begin < count; begin += OPKIT_ROW_BLOCK) {                 \
            const size_t left = count - begin;                                            \
            const size_t end = begin + (left < OPKIT_ROW_BLOCK ? left : OPKIT_ROW_BLOCK); \
            if (opkit_has_larger(x + begin, end - begin, limit)) {                        \
                for (size_t i = begin; i < end; i++) {                                    \
                    y[i] = opkit_##name(x[i]);                                            \
                }                                                                         \
            } else {                                                                      \
                for (size_t i = begin; i < end; i++) {                                    \
                    y[i] = opkit_##name##_fast(x[i]);                                     \
                }                                                                         \
            }                                                                             \
        }                                                                                 \
    }

/* The functions of rows: opkit_exp_row and so on. */
OPKIT_DEFINE_ROW(exp, 87.0F)
OPKIT_DEFINE_ROW(sin, 3000.0F)
OPKIT_DEFINE_ROW(cos, 3000.0F)
OPKIT_DEFINE_ROW(tan, 3000.0F)

#if defined(__clang__)
#pragma STDC FP_CONTRACT DEFAULT
#endif

#endif
