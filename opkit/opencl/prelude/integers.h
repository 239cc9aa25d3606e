/* The mathematics of OpenCL 1.2 for integers of 8 to 64 bits, scalars and vectors. */

__OPKIT_BY_OPERATORS_MIXED(INTEGER, BINARY, SECOND, min, b < a ? b : a)
__OPKIT_BY_OPERATORS_MIXED(INTEGER, BINARY, SECOND, max, a < b ? b : a)
__OPKIT_BY_OPERATORS_MIXED(INTEGER, TERNARY, LAST_TWO, clamp, a<b ? b : a> c ? c : a)
__OPKIT_BY_OPERATORS(INTEGER, BINARY, hadd, (a & b) + ((a ^ b) >> 1))
__OPKIT_BY_OPERATORS(INTEGER, BINARY, rhadd, (a | b) - ((a ^ b) >> 1))

/* Computed without a sign; `convert` is that of scalars or that of vectors. */
#define __OPKIT_CAST(a, T) ((T)(a))
#define __OPKIT_UNSIGNED(T, U, bits, convert)                                                   \
    __OPKIT_FUNCTION U abs(T a)                                                                 \
    {                                                                                           \
        return a < (T)0 ? (U) - convert(a, U) : convert(a, U);                                  \
    }                                                                                           \
    __OPKIT_FUNCTION U abs_diff(T a, T b)                                                       \
    {                                                                                           \
        return a < b ? (U)(convert(b, U) - convert(a, U)) : (U)(convert(a, U) - convert(b, U)); \
    }                                                                                           \
    __OPKIT_FUNCTION T rotate(T a, T b)                                                         \
    {                                                                                           \
        U shift = convert(b, U) & (U)(bits - 1), back = (U)((U)(bits) - shift) & (U)(bits - 1); \
        return convert(((U)(convert(a, U) << shift) | (U)(convert(a, U) >> back)), T);          \
    }
#define __OPKIT_UNSIGNED_VECTOR(V, T, lanes, U, bits) \
    __OPKIT_UNSIGNED(V, U##lanes, bits, __OPKIT_CONVERT_VECTOR)
#define __OPKIT_CONVERT_VECTOR(a, V) __builtin_convertvector(a, V)
#define __OPKIT_UNSIGNED_NARROW(T, U, bits)                                      \
    __OPKIT_UNSIGNED(T, U, bits, __OPKIT_CAST)                                   \
    __OPKIT_UNSIGNED(__opkit_packed_##T, __opkit_packed_##U, bits, __OPKIT_CAST) \
    __OPKIT_PLAIN_VECTORS(__OPKIT_UNSIGNED_VECTOR, T, T, U, bits)                \
    __OPKIT_PACKED_VECTORS(__OPKIT_UNSIGNED_VECTOR, T, T, vxc_##U, bits)
#define __OPKIT_UNSIGNED_WIDE(T, U, bits)      \
    __OPKIT_UNSIGNED(T, U, bits, __OPKIT_CAST) \
    __OPKIT_WIDE_VECTORS(__OPKIT_UNSIGNED_VECTOR, T, U, bits)
__OPKIT_UNSIGNED_NARROW(char, uchar, 8)
__OPKIT_UNSIGNED_NARROW(uchar, uchar, 8)
__OPKIT_UNSIGNED_NARROW(short, ushort, 16)
__OPKIT_UNSIGNED_NARROW(ushort, ushort, 16)
__OPKIT_UNSIGNED_WIDE(int, uint, 32)
__OPKIT_UNSIGNED_WIDE(uint, uint, 32)
__OPKIT_UNSIGNED_WIDE(long, ulong, 64)
__OPKIT_UNSIGNED_WIDE(ulong, ulong, 64)

/* Of numbers that have 24 bits; the lower 32 of the result. */
#define __OPKIT_24_BITS(T, U, convert)                                    \
    __OPKIT_FUNCTION T mul24(T a, T b)                                    \
    {                                                                     \
        return convert(convert(a, U) * convert(b, U), T);                 \
    }                                                                     \
    __OPKIT_FUNCTION T mad24(T a, T b, T c)                               \
    {                                                                     \
        return convert(convert(a, U) * convert(b, U) + convert(c, U), T); \
    }
#define __OPKIT_24_BITS_VECTOR(V, T, lanes, _) \
    __OPKIT_24_BITS(V, uint##lanes, __OPKIT_CONVERT_VECTOR)
__OPKIT_24_BITS(int, uint, __OPKIT_CAST)
__OPKIT_24_BITS(uint, uint, __OPKIT_CAST)
__OPKIT_WIDE_VECTORS(__OPKIT_24_BITS_VECTOR, int, )
__OPKIT_WIDE_VECTORS(__OPKIT_24_BITS_VECTOR, uint, )

/*
 * One element: its type's lowest and highest number, the unsigned type, its bits; types with room
 * for a sum and for a product.
 */
#define __OPKIT_SIZED(T, low, high, unsigned_type, bits, wide, product)                        \
    __OPKIT_FUNCTION T __opkit_add_sat_of(T a, T b)                                            \
    {                                                                                          \
        return __OPKIT_SATURATED(T, low, high, wide, (wide)a + (wide)b);                       \
    }                                                                                          \
    __OPKIT_FUNCTION T __opkit_sub_sat_of(T a, T b)                                            \
    {                                                                                          \
        return __OPKIT_SATURATED(T, low, high, wide, (wide)a - (wide)b);                       \
    }                                                                                          \
    __OPKIT_FUNCTION T __opkit_mad_sat_of(T a, T b, T c)                                       \
    {                                                                                          \
        return __OPKIT_SATURATED(T, low, high, product, (product)a * (product)b + (product)c); \
    }                                                                                          \
    __OPKIT_FUNCTION T __opkit_mul_hi_of(T a, T b)                                             \
    {                                                                                          \
        return (T)((product)a * (product)b >> bits);                                           \
    }                                                                                          \
    __OPKIT_FUNCTION T __opkit_mad_hi_of(T a, T b, T c)                                        \
    {                                                                                          \
        return (T)((ulong)__opkit_mul_hi_of(a, b) + (ulong)c);                                 \
    }                                                                                          \
    __OPKIT_FUNCTION T __opkit_clz_of(T a)                                                     \
    {                                                                                          \
        return (T)(a == 0 ? bits : __builtin_clzl((ulong)(unsigned_type)a) - (64 - bits));     \
    }                                                                                          \
    __OPKIT_FUNCTION T __opkit_popcount_of(T a)                                                \
    {                                                                                          \
        return (T)__builtin_popcountl((ulong)(unsigned_type)a);                                \
    }
#define __OPKIT_SATURATED(T, low, high, wide, value) \
    ((value) < (wide)(low) ? (T)(low) : (value) > (wide)(high) ? (T)(high) : (T)(value))
#define __OPKIT_SIZED_NARROW(T, low, high, unsigned_type, bits) \
    __OPKIT_SIZED(T, low, high, unsigned_type, bits, int, long) \
    __OPKIT_SIZED(__opkit_packed_##T, low, high, unsigned_type, bits, int, long)
__OPKIT_SIZED_NARROW(char, CHAR_MIN, CHAR_MAX, uchar, 8)
__OPKIT_SIZED_NARROW(uchar, 0, UCHAR_MAX, uchar, 8)
__OPKIT_SIZED_NARROW(short, SHRT_MIN, SHRT_MAX, ushort, 16)
__OPKIT_SIZED_NARROW(ushort, 0, USHRT_MAX, ushort, 16)
__OPKIT_SIZED(int, INT_MIN, INT_MAX, uint, 32, long, long)
__OPKIT_SIZED(uint, 0, UINT_MAX, uint, 32, long, ulong)
__OPKIT_SIZED(long, LONG_MIN, LONG_MAX, ulong, 64, __int128, __int128)
__OPKIT_SIZED(ulong, 0, ULONG_MAX, ulong, 64, __int128, unsigned __int128)

#define __OPKIT_SIZED_UNARY_SCALAR(T, name) \
    __OPKIT_FUNCTION T name(T a)            \
    {                                       \
        return __opkit_##name##_of(a);      \
    }
#define __OPKIT_SIZED_UNARY_VECTOR(V, T, lanes, name) \
    __OPKIT_FUNCTION V name(V a)                      \
    {                                                 \
        V result;                                     \
        for (int i = 0; i < lanes; i++) {             \
            result[i] = __opkit_##name##_of((T)a[i]); \
        }                                             \
        return result;                                \
    }
#define __OPKIT_SIZED_BINARY_SCALAR(T, name) \
    __OPKIT_FUNCTION T name(T a, T b)        \
    {                                        \
        return __opkit_##name##_of(a, b);    \
    }
#define __OPKIT_SIZED_BINARY_VECTOR(V, T, lanes, name)         \
    __OPKIT_FUNCTION V name(V a, V b)                          \
    {                                                          \
        V result;                                              \
        for (int i = 0; i < lanes; i++) {                      \
            result[i] = __opkit_##name##_of((T)a[i], (T)b[i]); \
        }                                                      \
        return result;                                         \
    }
#define __OPKIT_SIZED_TERNARY_SCALAR(T, name) \
    __OPKIT_FUNCTION T name(T a, T b, T c)    \
    {                                         \
        return __opkit_##name##_of(a, b, c);  \
    }
#define __OPKIT_SIZED_TERNARY_VECTOR(V, T, lanes, name)                 \
    __OPKIT_FUNCTION V name(V a, V b, V c)                              \
    {                                                                   \
        V result;                                                       \
        for (int i = 0; i < lanes; i++) {                               \
            result[i] = __opkit_##name##_of((T)a[i], (T)b[i], (T)c[i]); \
        }                                                               \
        return result;                                                  \
    }
__OPKIT_INTEGER_SCALARS(__OPKIT_SIZED_UNARY_SCALAR, clz)
__OPKIT_INTEGER_SCALARS(__OPKIT_SIZED_UNARY_SCALAR, popcount)
__OPKIT_INTEGER_SCALARS(__OPKIT_SIZED_BINARY_SCALAR, add_sat)
__OPKIT_INTEGER_SCALARS(__OPKIT_SIZED_BINARY_SCALAR, sub_sat)
__OPKIT_INTEGER_SCALARS(__OPKIT_SIZED_BINARY_SCALAR, mul_hi)
__OPKIT_INTEGER_SCALARS(__OPKIT_SIZED_TERNARY_SCALAR, mad_hi)
__OPKIT_INTEGER_SCALARS(__OPKIT_SIZED_TERNARY_SCALAR, mad_sat)
__OPKIT_INTEGER_PAIRS(__OPKIT_PAIR_BINARY, abs_diff)
__OPKIT_INTEGER_PAIRS(__OPKIT_PAIR_BINARY, rotate)
__OPKIT_INTEGER_PAIRS(__OPKIT_PAIR_BINARY, add_sat)
__OPKIT_INTEGER_PAIRS(__OPKIT_PAIR_BINARY, sub_sat)
__OPKIT_INTEGER_PAIRS(__OPKIT_PAIR_BINARY, mul_hi)
__OPKIT_INTEGER_PAIRS(__OPKIT_PAIR_TERNARY, mad_hi)
__OPKIT_INTEGER_PAIRS(__OPKIT_PAIR_TERNARY, mad_sat)
__OPKIT_INTEGER_VECTORS(__OPKIT_SIZED_UNARY_VECTOR, clz)
__OPKIT_INTEGER_VECTORS(__OPKIT_SIZED_UNARY_VECTOR, popcount)
__OPKIT_INTEGER_VECTORS(__OPKIT_OPERATOR_BINARY_VECTOR, add_sat,
                        __builtin_elementwise_add_sat(a, b))
__OPKIT_INTEGER_VECTORS(__OPKIT_OPERATOR_BINARY_VECTOR, sub_sat,
                        __builtin_elementwise_sub_sat(a, b))

/* Vectors by way of a wider type, which does not exist for 64 bits. */
#define __OPKIT_WIDENED(V, T, lanes, wide, low, high, bits)                                       \
    __OPKIT_FUNCTION V mul_hi(V a, V b)                                                           \
    {                                                                                             \
        return __OPKIT_TO(V, __OPKIT_TO(wide##lanes, a) * __OPKIT_TO(wide##lanes, b) >> bits);    \
    }                                                                                             \
    __OPKIT_FUNCTION V mad_hi(V a, V b, V c)                                                      \
    {                                                                                             \
        return __OPKIT_TO(V, (__OPKIT_TO(wide##lanes, a) * __OPKIT_TO(wide##lanes, b) >> bits) +  \
                                 __OPKIT_TO(wide##lanes, c));                                     \
    }                                                                                             \
    __OPKIT_FUNCTION V mad_sat(V a, V b, V c)                                                     \
    {                                                                                             \
        wide##lanes sum =                                                                         \
            __OPKIT_TO(wide##lanes, a) * __OPKIT_TO(wide##lanes, b) + __OPKIT_TO(wide##lanes, c); \
        wide##lanes lowest = (wide##lanes)(wide)(low), highest = (wide##lanes)(wide)(high);       \
        return __OPKIT_TO(V, sum < lowest ? lowest : sum > highest ? highest : sum);              \
    }
__OPKIT_NARROW_VECTORS(__OPKIT_WIDENED, char, int, CHAR_MIN, CHAR_MAX, 8)
__OPKIT_NARROW_VECTORS(__OPKIT_WIDENED, uchar, int, 0, UCHAR_MAX, 8)
__OPKIT_NARROW_VECTORS(__OPKIT_WIDENED, short, int, SHRT_MIN, SHRT_MAX, 16)
__OPKIT_NARROW_VECTORS(__OPKIT_WIDENED, ushort, uint, 0, USHRT_MAX, 16)
__OPKIT_WIDE_VECTORS(__OPKIT_WIDENED, int, long, INT_MIN, INT_MAX, 32)
__OPKIT_WIDE_VECTORS(__OPKIT_WIDENED, uint, ulong, 0, UINT_MAX, 32)
__OPKIT_WIDE_VECTORS(__OPKIT_SIZED_BINARY_VECTOR, long, mul_hi)
__OPKIT_WIDE_VECTORS(__OPKIT_SIZED_BINARY_VECTOR, ulong, mul_hi)
__OPKIT_WIDE_VECTORS(__OPKIT_SIZED_TERNARY_VECTOR, long, mad_hi)
__OPKIT_WIDE_VECTORS(__OPKIT_SIZED_TERNARY_VECTOR, ulong, mad_hi)
__OPKIT_WIDE_VECTORS(__OPKIT_SIZED_TERNARY_VECTOR, long, mad_sat)
__OPKIT_WIDE_VECTORS(__OPKIT_SIZED_TERNARY_VECTOR, ulong, mad_sat)

/* upsample puts two numbers into one of twice the width. */
#define __OPKIT_UPSAMPLE(T, high, low, bits, convert)      \
    __OPKIT_FUNCTION T upsample(high a, low b)             \
    {                                                      \
        return (T)(convert(a, T) << bits | convert(b, T)); \
    }
#define __OPKIT_UPSAMPLE_VECTOR(V, T, lanes, high, low, bits) \
    __OPKIT_UPSAMPLE(V, high##lanes, low##lanes, bits, __OPKIT_CONVERT_VECTOR)
#define __OPKIT_UPSAMPLE_WIDE(T, high, low, bits)      \
    __OPKIT_UPSAMPLE(T, high, low, bits, __OPKIT_CAST) \
    __OPKIT_WIDE_VECTORS(__OPKIT_UPSAMPLE_VECTOR, T, high, low, bits)
#define __OPKIT_UPSAMPLE_PACKED(T, high, low)                               \
    __OPKIT_LANES(__OPKIT_UPSAMPLE_VECTOR, T, T, vxc_##high, vxc_##low, 16) \
    __OPKIT_UPSAMPLE_VECTOR(T##8, T, 8, vxc_##high, vxc_##low, 16)
#define __OPKIT_UPSAMPLE_NARROW(T, high, low, bits)                       \
    __OPKIT_UPSAMPLE(T, high, low, bits, __OPKIT_CAST)                    \
    __OPKIT_PLAIN_VECTORS(__OPKIT_UPSAMPLE_VECTOR, T, T, high, low, bits) \
    __OPKIT_PACKED_VECTORS(__OPKIT_UPSAMPLE_VECTOR, T, T, vxc_##high, vxc_##low, bits)
__OPKIT_UPSAMPLE_NARROW(short, char, uchar, 8)
__OPKIT_UPSAMPLE_NARROW(ushort, uchar, uchar, 8)
__OPKIT_UPSAMPLE_WIDE(int, short, ushort, 16)
__OPKIT_UPSAMPLE_WIDE(uint, ushort, ushort, 16)
__OPKIT_UPSAMPLE_PACKED(int, short, ushort)
__OPKIT_UPSAMPLE_PACKED(uint, ushort, ushort)
__OPKIT_UPSAMPLE_WIDE(long, int, uint, 32)
__OPKIT_UPSAMPLE_WIDE(ulong, uint, uint, 32)
