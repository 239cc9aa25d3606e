/*
 * Conversions of numbers and of bits, and _viv_asm. names.py makes convert_int4_sat_rte and the
 * like out of __OPKIT_CONVERT.
 */

/* To an integer: toward zero; to floating point: to the nearest, even. */
#define __OPKIT_DEFAULT_ROUNDING -1

__OPKIT_FUNCTION double __opkit_round(double value, int rounding)
{
    switch (rounding) {
    case __OPKIT_NEAREST_EVEN:
        return __builtin_rint(value);
    case __OPKIT_TOWARD_INFINITY:
        return __builtin_ceil(value);
    case __OPKIT_TOWARD_MINUS_INFINITY:
        return __builtin_floor(value);
    default:
        return __builtin_trunc(value);
    }
}

/* An element as a wider number that holds it exactly. */
#define __OPKIT_WIDEN(T, wide)                   \
    __OPKIT_FUNCTION wide __opkit_widen(T value) \
    {                                            \
        return (wide)value;                      \
    }
__OPKIT_NARROW_SCALARS(__OPKIT_WIDEN, long)
__OPKIT_WIDEN(bool, long)
__OPKIT_WIDEN(int, long)
__OPKIT_WIDEN(uint, long)
__OPKIT_WIDEN(long, long)
__OPKIT_WIDEN(ulong, ulong)
__OPKIT_FLOAT_SCALARS(__OPKIT_WIDEN, float)
__OPKIT_WIDEN(double, double)

/* A number that an integer type does not have wraps around, unless it is to saturate. */
#define __OPKIT_TO_INTEGER(T, low, high)                                                    \
    __OPKIT_FUNCTION void __opkit_convert(T *to, double from, bool saturates, int rounding) \
    {                                                                                       \
        from = __opkit_round(from, rounding);                                               \
        if (from >= (double)(low) && from < (double)(high) + 1) {                           \
            *to = (T)from;                                                                  \
        } else if (saturates) {                                                             \
            *to = from != from ? 0 : from < 0 ? low : high;                                 \
        } else {                                                                            \
            *to = from > -0x1p63 && from < 0x1p63 ? (T)(long)from : 0;                      \
        }                                                                                   \
    }                                                                                       \
    __OPKIT_FUNCTION void __opkit_convert(T *to, float from, bool saturates, int rounding)  \
    {                                                                                       \
        __opkit_convert(to, (double)from, saturates, rounding);                             \
    }                                                                                       \
    __OPKIT_FUNCTION void __opkit_convert(T *to, long from, bool saturates, int rounding)   \
    {                                                                                       \
        if (saturates && from < (long)(low)) {                                              \
            from = (long)(low);                                                             \
        } else if (saturates && from > 0 && (ulong)from > (ulong)(high)) {                  \
            from = (long)(high);                                                            \
        }                                                                                   \
        *to = (T)from;                                                                      \
    }                                                                                       \
    __OPKIT_FUNCTION void __opkit_convert(T *to, ulong from, bool saturates, int rounding)  \
    {                                                                                       \
        *to = saturates && from > (ulong)(high) ? (T)(high) : (T)from;                      \
    }
__OPKIT_TO_INTEGER(char, -128, 127)
__OPKIT_TO_INTEGER(uchar, 0, 255)
__OPKIT_TO_INTEGER(short, -32768, 32767)
__OPKIT_TO_INTEGER(ushort, 0, 65535)
__OPKIT_TO_INTEGER(int, -0x7fffffff - 1, 0x7fffffff)
__OPKIT_TO_INTEGER(uint, 0, 0xffffffffu)
__OPKIT_TO_INTEGER(long, -0x7fffffffffffffffL - 1, 0x7fffffffffffffffL)
__OPKIT_TO_INTEGER(ulong, 0, 0xffffffffffffffffUL)

/* The next number of a floating-point type, up or down: the next pattern of bits. */
#define __OPKIT_NEIGHBOR(T, bits, sign)                                          \
    __OPKIT_FUNCTION T __opkit_neighbor(T value, bool up)                        \
    {                                                                            \
        bits pattern = *(bits *)&value;                                          \
        if (value == 0) {                                                        \
            pattern = up ? 1 : (sign) | 1;                                       \
        } else {                                                                 \
            pattern = (pattern & (sign)) == 0 == up ? pattern + 1 : pattern - 1; \
        }                                                                        \
        return *(T *)&pattern;                                                   \
    }

/* Whether what came of a number is above it (1) or below (-1). */
__OPKIT_FUNCTION int __opkit_order(double to, double from)
{
    return (to > from) - (to < from);
}
__OPKIT_FUNCTION int __opkit_order(double to, long from)
{
    return to >= 0x1p63f ? 1 : to < -0x1p63f ? -1 : ((long)to > from) - ((long)to < from);
}
__OPKIT_FUNCTION int __opkit_order(double to, ulong from)
{
    return to >= 0x1p64f ? 1 : ((ulong)to > from) - ((ulong)to < from);
}

/*
 * To the nearest, and one step back if that is the wrong side. Saturated, what is too large is the
 * largest number.
 */
#define __OPKIT_ROUNDED(T, from_type)                                                          \
    __OPKIT_FUNCTION void __opkit_convert(T *to, from_type from, bool saturates, int rounding) \
    {                                                                                          \
        *to = (T)from;                                                                         \
        if (rounding != __OPKIT_DEFAULT_ROUNDING && rounding != __OPKIT_NEAREST_EVEN) {        \
            bool toward_minus = rounding == __OPKIT_TOWARD_MINUS_INFINITY ||                   \
                                (rounding == __OPKIT_TOWARD_ZERO && from > 0);                 \
            int order = __opkit_order(*to, from);                                              \
            if (order != 0 && order > 0 == toward_minus) {                                     \
                *to = __opkit_neighbor(*to, !toward_minus);                                    \
            }                                                                                  \
        }                                                                                      \
        if (saturates && *to == *to && *to - *to != 0) {                                       \
            *to = __opkit_neighbor(*to, *to < 0);                                              \
        }                                                                                      \
    }
#define __OPKIT_TO_FLOAT(T, bits, sign) \
    __OPKIT_NEIGHBOR(T, bits, sign)     \
    __OPKIT_ROUNDED(T, float)           \
    __OPKIT_ROUNDED(T, double)          \
    __OPKIT_ROUNDED(T, long)            \
    __OPKIT_ROUNDED(T, ulong)
__OPKIT_TO_FLOAT(half, ushort, 0x8000)
__OPKIT_TO_FLOAT(float, uint, 0x80000000u)
__OPKIT_TO_FLOAT(double, ulong, 0x8000000000000000UL)

/* Converts lane by lane, as many lanes as both have. */
#define __OPKIT_CONVERT_LANES(to, from, saturates, rounding)                                   \
    do {                                                                                       \
        __OPKIT_ELEMENT(to) *__opkit_to_lane = (__OPKIT_ELEMENT(to) *)&to;                     \
        __OPKIT_ELEMENT(from) *__opkit_from_lane = (__OPKIT_ELEMENT(from) *)&from;             \
        for (int __opkit_i = 0; __opkit_i < sizeof(to) / sizeof(*__opkit_to_lane) &&           \
                                __opkit_i < sizeof(from) / sizeof(*__opkit_from_lane);         \
             __opkit_i++) {                                                                    \
            __opkit_convert(&__opkit_to_lane[__opkit_i],                                       \
                            __opkit_widen(__opkit_from_lane[__opkit_i]), saturates, rounding); \
        }                                                                                      \
    } while (0)
#define __OPKIT_CONVERT(T, value, saturates, rounding)                        \
    __extension__({                                                           \
        __auto_type __opkit_from = (value);                                   \
        T __opkit_to;                                                         \
        __OPKIT_SAME_LANES(__opkit_to, __opkit_from, "convert_" #T);          \
        __OPKIT_CONVERT_LANES(__opkit_to, __opkit_from, saturates, rounding); \
        if (__OPKIT_LANES_OF(__opkit_from) == 1) {                            \
            __opkit_to = (T) * (__OPKIT_ELEMENT(__opkit_to) *)&__opkit_to;    \
        }                                                                     \
        __opkit_to;                                                           \
    })
/* A scalar becomes each element. Likely: published kernels convert scalars to vectors. */
#define __OPKIT_SAME_LANES(a, b, name)                                                     \
    _Static_assert(__OPKIT_LANES_OF(a) == __OPKIT_LANES_OF(b) || __OPKIT_LANES_OF(b) == 1, \
                   name " needs a scalar, or a value of as many elements as its result has")
#define __OPKIT_AS(T, value)                                              \
    __extension__({                                                       \
        __auto_type __opkit_from = (value);                               \
        T __opkit_to;                                                     \
        _Static_assert(sizeof(__opkit_to) == sizeof(__opkit_from),        \
                       "as_" #T " needs a value of the same size");       \
        __builtin_memcpy(&__opkit_to, &__opkit_from, sizeof(__opkit_to)); \
        __opkit_to;                                                       \
    })

/*
 * Copies bytes of a register's image to another's. In it, the lanes of a small vector that is not
 * packed are 4 bytes apart.
 */
__OPKIT_FUNCTION void __opkit_copy(const struct __opkit_operand *to,
                                   const struct __opkit_operand *from, int bytes)
{
    if (to->spacing == to->element_size && from->spacing == from->element_size) {
        bytes = bytes < to->size ? bytes : to->size;
        bytes = bytes < from->size ? bytes : from->size;
        __builtin_memcpy(to->data, from->data, bytes);
        return;
    }
    for (int i = 0; i < bytes; i++) {
        int target = i / to->spacing * to->element_size + i % to->spacing;
        int source = i / from->spacing * from->element_size + i % from->spacing;
        if (i % to->spacing < to->element_size && target < to->size &&
            i / from->spacing * from->element_size < from->size) {
            ((uchar *)to->data)[target] =
                i % from->spacing < from->element_size ? ((uchar *)from->data)[source] : 0;
        }
    }
}

#define __OPKIT_ASM_CONVERT(to, from, saturates, rounding)                    \
    do {                                                                      \
        __auto_type __opkit_from = (from);                                    \
        __typeof__(to) __opkit_to = (to);                                     \
        __OPKIT_CONVERT_LANES(__opkit_to, __opkit_from, saturates, rounding); \
        (to) = __opkit_to;                                                    \
    } while (0)
#define __OPKIT_ASM_CONV(to, from) __OPKIT_ASM_CONVERT(to, from, 0, __OPKIT_DEFAULT_ROUNDING)
#define __OPKIT_ASM_CONV_RTE(to, from) __OPKIT_ASM_CONVERT(to, from, 0, __OPKIT_NEAREST_EVEN)
#define __OPKIT_ASM_CONV_RTZ(to, from) __OPKIT_ASM_CONVERT(to, from, 0, __OPKIT_TOWARD_ZERO)
#define __OPKIT_ASM_CONV_RTP(to, from) __OPKIT_ASM_CONVERT(to, from, 0, __OPKIT_TOWARD_INFINITY)
#define __OPKIT_ASM_CONV_RTN(to, from) \
    __OPKIT_ASM_CONVERT(to, from, 0, __OPKIT_TOWARD_MINUS_INFINITY)
#define __OPKIT_ASM_CONV_SAT(to, from) __OPKIT_ASM_CONVERT(to, from, 1, __OPKIT_DEFAULT_ROUNDING)
#define __OPKIT_ASM_CONV_SAT_RTE(to, from) __OPKIT_ASM_CONVERT(to, from, 1, __OPKIT_NEAREST_EVEN)
#define __OPKIT_ASM_CONV_SAT_RTZ(to, from) __OPKIT_ASM_CONVERT(to, from, 1, __OPKIT_TOWARD_ZERO)
#define __OPKIT_ASM_CONV_SAT_RTP(to, from) __OPKIT_ASM_CONVERT(to, from, 1, __OPKIT_TOWARD_INFINITY)
#define __OPKIT_ASM_CONV_SAT_RTN(to, from) \
    __OPKIT_ASM_CONVERT(to, from, 1, __OPKIT_TOWARD_MINUS_INFINITY)
#define __OPKIT_ASM_COPY(to, from, bytes)                                      \
    do {                                                                       \
        __auto_type __opkit_from = (from);                                     \
        __typeof__(to) __opkit_to = (to);                                      \
        struct __opkit_operand __opkit_target = __OPKIT_OPERAND(__opkit_to),   \
                               __opkit_source = __OPKIT_OPERAND(__opkit_from); \
        __opkit_copy(&__opkit_target, &__opkit_source, bytes);                 \
        (to) = __opkit_to;                                                     \
    } while (0)
#define __OPKIT_ASM_MOV(to, from) (to) = (from)
#define __OPKIT_ASM_CLAMP0MAX(to, value, maximum)                                              \
    do {                                                                                       \
        __auto_type __opkit_limit = (maximum);                                                 \
        __typeof__(to) __opkit_to = (value);                                                   \
        typedef __OPKIT_ELEMENT(__opkit_to) __opkit_lane_type;                                 \
        __opkit_lane_type *__opkit_lane = (__opkit_lane_type *)&__opkit_to;                    \
        __OPKIT_ELEMENT(__opkit_limit) *__opkit_maxima =                                       \
            (__OPKIT_ELEMENT(__opkit_limit) *)&__opkit_limit;                                  \
        for (int __opkit_i = 0; __opkit_i < sizeof(__opkit_to) / sizeof(*__opkit_lane);        \
             __opkit_i++) {                                                                    \
            __opkit_lane_type __opkit_high =                                                   \
                __opkit_maxima[__opkit_i % (sizeof(__opkit_limit) / sizeof(*__opkit_maxima))]; \
            if (__opkit_lane[__opkit_i] > __opkit_high) {                                      \
                __opkit_lane[__opkit_i] = __opkit_high;                                        \
            } else if (__opkit_lane[__opkit_i] < 0) {                                          \
                __opkit_lane[__opkit_i] = 0;                                                   \
            }                                                                                  \
        }                                                                                      \
        (to) = __opkit_to;                                                                     \
    } while (0)
#define __OPKIT_ASM_ADDSAT(to, a, b) (to) = add_sat(a, b)
#define __OPKIT_ASM_SUBSAT(to, a, b) (to) = sub_sat(a, b)
#define __OPKIT_ASM_NAMED(operation, ...) __OPKIT_ASM_##operation(__VA_ARGS__)
#define _viv_asm(operation, ...) __OPKIT_ASM_NAMED(operation, __VA_ARGS__)
