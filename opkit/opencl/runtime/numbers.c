/*
 * Elements of any type as numbers. A double holds every number of 32 bits and every half exactly.
 */
#include <math.h>
#include <string.h>

#include "runtime.h"

/* Half precision in integer arithmetic, for processors without F16C. */
static float half_to_float(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    uint32_t exponent = half >> 10 & 31;
    uint32_t mantissa = half & 0x3ff;
    uint32_t bits;
    float value;

    if (exponent == 0) {
        value = (float)mantissa * 0x1p-24f;
        return sign != 0 ? -value : value;
    }
    bits = sign | (exponent == 31 ? 0x7f800000 : (exponent + 112) << 23) | mantissa << 13;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Rounds to a whole number. */
static long double round_as(long double value, int rounding)
{
    switch (rounding) {
    case __OPKIT_NEAREST_EVEN:
        return nearbyintl(value);
    case __OPKIT_TOWARD_INFINITY:
        return ceill(value);
    case __OPKIT_TOWARD_MINUS_INFINITY:
        return floorl(value);
    default:
        return truncl(value);
    }
}

static uint16_t double_to_half(double value, int rounding)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    double size = fabs(value);
    int exponent;
    double steps;

    if (isnan(value)) {
        return sign | 0x7e00;
    }
    if (isinf(value)) {
        return sign | 0x7c00;
    }
    (void)frexp(size, &exponent);
    exponent = exponent - 1 < -14 ? -14 : exponent - 1;
    steps = (double)round_as(copysign(ldexp(size, 10 - exponent), value), rounding);
    size = ldexp(fabs(steps), exponent - 10);
    if (size >= 65536) {
        bool overflows = rounding == __OPKIT_NEAREST_EVEN ||
                         (rounding == __OPKIT_TOWARD_INFINITY && sign == 0) ||
                         (rounding == __OPKIT_TOWARD_MINUS_INFINITY && sign != 0);
        return sign | (overflows ? 0x7c00 : 0x7bff);
    }
    if (size < 0x1p-14) {
        return sign | (uint16_t)ldexp(size, 24);
    }
    (void)frexp(size, &exponent);
    return sign | (uint16_t)(((unsigned)(exponent - 1 + 15) << 10) +
                             (unsigned)(ldexp(size, 11 - exponent) - 1024));
}

/*
 * What the compiler calls for half where the processor has no instruction. Their arguments travel
 * in vector registers.
 */
typedef _Float16 __opkit_half;
float __extendhfsf2(__opkit_half half);
__opkit_half __truncsfhf2(float value);
__opkit_half __truncdfhf2(double value);
float __extendhfsf2(__opkit_half half)
{
    uint16_t bits;
    memcpy(&bits, &half, sizeof bits);
    return half_to_float(bits);
}
__opkit_half __truncdfhf2(double value)
{
    uint16_t bits = double_to_half(value, __OPKIT_NEAREST_EVEN);
    __opkit_half half;
    memcpy(&half, &bits, sizeof half);
    return half;
}
__opkit_half __truncsfhf2(float value)
{
    return __truncdfhf2(value);
}

int __opkit_size_of(int type)
{
    static const int sizes[] = {4, 2, 4, 2, 1, 4, 2, 1, 8, 8, 8};
    return sizes[type];
}

#define AS(T) (*(T *)memcpy(&(T){0}, element, sizeof(T)))

double __opkit_load(const void *element, int type)
{
    switch (type) {
    case __OPKIT_FLOAT32:
        return AS(float);
    case __OPKIT_FLOAT16:
        return half_to_float(AS(uint16_t));
    case __OPKIT_INT32:
        return AS(int32_t);
    case __OPKIT_INT16:
        return AS(int16_t);
    case __OPKIT_INT8:
        return AS(int8_t);
    case __OPKIT_UINT32:
        return AS(uint32_t);
    case __OPKIT_UINT16:
        return AS(uint16_t);
    case __OPKIT_UINT8:
        return AS(uint8_t);
    case __OPKIT_INT64:
        return (double)AS(int64_t);
    case __OPKIT_UINT64:
        return (double)AS(uint64_t);
    default:
        return AS(double);
    }
}

static double low_of(int type)
{
    switch (type) {
    case __OPKIT_INT8:
        return -128;
    case __OPKIT_INT16:
        return -32768;
    case __OPKIT_INT32:
        return -0x1p31;
    case __OPKIT_INT64:
        return -0x1p63;
    default:
        return 0;
    }
}

/* The nearest float, or the next one in the direction of rounding. */
static float single_of(long double value, int rounding)
{
    float nearest = (float)value;
    bool too_low = nearest<value, too_high = nearest> value;

    if (rounding == __OPKIT_TOWARD_ZERO) {
        too_low &= value < 0;
        too_high &= value > 0;
    } else {
        too_low &= rounding == __OPKIT_TOWARD_INFINITY;
        too_high &= rounding == __OPKIT_TOWARD_MINUS_INFINITY;
    }
    return too_low    ? nextafterf(nearest, INFINITY)
           : too_high ? nextafterf(nearest, -INFINITY)
                      : nearest;
}

/* Sets an element. Without saturation, the low bits of a whole number that does not fit. */
void __opkit_store(void *element, int type, long double value, int rounding, bool saturates)
{
    if (type == __OPKIT_FLOAT32) {
        float single = single_of(value, rounding);
        memcpy(element, &single, sizeof single);
    } else if (type == __OPKIT_FLOAT16) {
        uint16_t half = double_to_half((double)value, rounding);
        if (saturates && (half & 0x7fff) == 0x7c00) {
            half--;
        }
        memcpy(element, &half, sizeof half);
    } else if (type == __OPKIT_FLOAT64) {
        memcpy(element, &(double){(double)value}, sizeof(double));
    } else {
        int size = __opkit_size_of(type);
        double low = low_of(type);
        double end = low + ldexp(1, 8 * size); /* the first number that is too large */
        uint64_t bits = 0;
        value = isnan(value) ? 0 : round_as(value, rounding);
        if (saturates) {
            value = value < low ? low : value;
        }
        if (saturates && value >= end) {
            bits = low < 0 ? ((uint64_t)1 << (8 * size - 1)) - 1 : UINT64_MAX;
        } else if (value >= 0 && value < 0x1p64) {
            bits = (uint64_t)value;
        } else if (value < 0 && value >= -0x1p63) {
            bits = (uint64_t)(int64_t)value;
        }
        memcpy(element, &bits, (size_t)size);
    }
}

int __opkit_lane_count(const struct __opkit_operand *operand)
{
    return operand->size / operand->element_size;
}

double __opkit_lane(const struct __opkit_operand *operand, int lane)
{
    if (lane < 0 || lane >= __opkit_lane_count(operand)) {
        return 0;
    }
    return __opkit_load((const char *)operand->data + lane * operand->element_size, operand->type);
}
