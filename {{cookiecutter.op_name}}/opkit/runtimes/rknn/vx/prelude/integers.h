/* The mathematics of OpenCL 1.2 for integers of 8 to 64 bits, scalars and vectors. */

VX_BY_OPERATORS_MIXED(INTEGER, BINARY, SECOND, min, b < a ? b : a)
VX_BY_OPERATORS_MIXED(INTEGER, BINARY, SECOND, max, a < b ? b : a)
VX_BY_OPERATORS_MIXED(INTEGER, TERNARY, LAST_TWO, clamp, a<b ? b : a> c ? c : a)
VX_BY_OPERATORS(INTEGER, BINARY, hadd, (a & b) + ((a ^ b) >> 1))
VX_BY_OPERATORS(INTEGER, BINARY, rhadd, (a | b) - ((a ^ b) >> 1))

/* Computed without a sign; `convert` is that of scalars or that of vectors. */
#define VX_CAST(a, T) ((T)(a))
#define VX_UNSIGNED(T, U, bits, convert)                                                        \
    VX_FUNCTION U abs(T a)                                                                      \
    {                                                                                           \
        return a < (T)0 ? (U) - convert(a, U) : convert(a, U);                                  \
    }                                                                                           \
    VX_FUNCTION U abs_diff(T a, T b)                                                            \
    {                                                                                           \
        return a < b ? (U)(convert(b, U) - convert(a, U)) : (U)(convert(a, U) - convert(b, U)); \
    }                                                                                           \
    VX_FUNCTION T rotate(T a, T b)                                                              \
    {                                                                                           \
        U shift = convert(b, U) & (U)(bits - 1), back = (U)((U)(bits) - shift) & (U)(bits - 1); \
        return convert(((U)(convert(a, U) << shift) | (U)(convert(a, U) >> back)), T);          \
    }
#define VX_UNSIGNED_VECTOR(V, T, lanes, U, bits) VX_UNSIGNED(V, U##lanes, bits, VX_CONVERT_VECTOR)
#define VX_CONVERT_VECTOR(a, V) __builtin_convertvector(a, V)
#define VX_UNSIGNED_NARROW(T, U, bits)                      \
    VX_UNSIGNED(T, U, bits, VX_CAST)                        \
    VX_UNSIGNED(vx_small_##T, vx_small_##U, bits, VX_CAST)  \
    VX_LANES(VX_UNSIGNED_VECTOR, T, vx_small_##T, U, bits)  \
    VX_LANES(VX_UNSIGNED_VECTOR, vxc_##T, T, vxc_##U, bits) \
    VX_LONG_LANES(VX_UNSIGNED_VECTOR, T, T, U, bits)
#define VX_UNSIGNED_WIDE(T, U, bits) \
    VX_UNSIGNED(T, U, bits, VX_CAST) \
    VX_WIDE_VECTORS(VX_UNSIGNED_VECTOR, T, U, bits)
VX_UNSIGNED_NARROW(char, uchar, 8)
VX_UNSIGNED_NARROW(uchar, uchar, 8)
VX_UNSIGNED_NARROW(short, ushort, 16)
VX_UNSIGNED_NARROW(ushort, ushort, 16)
VX_UNSIGNED_WIDE(int, uint, 32)
VX_UNSIGNED_WIDE(uint, uint, 32)
VX_UNSIGNED_WIDE(long, ulong, 64)
VX_UNSIGNED_WIDE(ulong, ulong, 64)

/* Of numbers that have 24 bits; the lower 32 of the result. */
#define VX_24_BITS(T, U, convert)                                         \
    VX_FUNCTION T mul24(T a, T b)                                         \
    {                                                                     \
        return convert(convert(a, U) * convert(b, U), T);                 \
    }                                                                     \
    VX_FUNCTION T mad24(T a, T b, T c)                                    \
    {                                                                     \
        return convert(convert(a, U) * convert(b, U) + convert(c, U), T); \
    }
#define VX_24_BITS_VECTOR(V, T, lanes, _) VX_24_BITS(V, uint##lanes, VX_CONVERT_VECTOR)
VX_24_BITS(int, uint, VX_CAST)
VX_24_BITS(uint, uint, VX_CAST)
VX_WIDE_VECTORS(VX_24_BITS_VECTOR, int, )
VX_WIDE_VECTORS(VX_24_BITS_VECTOR, uint, )

/* One element: its type's lowest and highest number, the unsigned type, its bits; types with room for a sum and for a product. */
#define VX_SIZED(T, low, high, unsigned_type, bits, wide, product)                         \
    VX_FUNCTION T vx_add_sat_of(T a, T b)                                                  \
    {                                                                                      \
        return VX_SATURATED(T, low, high, wide, (wide)a + (wide)b);                        \
    }                                                                                      \
    VX_FUNCTION T vx_sub_sat_of(T a, T b)                                                  \
    {                                                                                      \
        return VX_SATURATED(T, low, high, wide, (wide)a - (wide)b);                        \
    }                                                                                      \
    VX_FUNCTION T vx_mad_sat_of(T a, T b, T c)                                             \
    {                                                                                      \
        return VX_SATURATED(T, low, high, product, (product)a * (product)b + (product)c);  \
    }                                                                                      \
    VX_FUNCTION T vx_mul_hi_of(T a, T b)                                                   \
    {                                                                                      \
        return (T)((product)a * (product)b >> bits);                                       \
    }                                                                                      \
    VX_FUNCTION T vx_mad_hi_of(T a, T b, T c)                                              \
    {                                                                                      \
        return (T)((ulong)vx_mul_hi_of(a, b) + (ulong)c);                                  \
    }                                                                                      \
    VX_FUNCTION T vx_clz_of(T a)                                                           \
    {                                                                                      \
        return (T)(a == 0 ? bits : __builtin_clzl((ulong)(unsigned_type)a) - (64 - bits)); \
    }                                                                                      \
    VX_FUNCTION T vx_popcount_of(T a)                                                      \
    {                                                                                      \
        return (T)__builtin_popcountl((ulong)(unsigned_type)a);                            \
    }
#define VX_SATURATED(T, low, high, wide, value)                            \
    ((value) < (wide)(low) ? (T)(low) : (value) > (wide)(high) ? (T)(high) \
                                                               : (T)(value))
#define VX_SIZED_NARROW(T, low, high, unsigned_type, bits) \
    VX_SIZED(T, low, high, unsigned_type, bits, int, long) \
    VX_SIZED(vx_small_##T, low, high, vx_small_##unsigned_type, bits, int, long)
VX_SIZED_NARROW(char, CHAR_MIN, CHAR_MAX, uchar, 8)
VX_SIZED_NARROW(uchar, 0, UCHAR_MAX, uchar, 8)
VX_SIZED_NARROW(short, SHRT_MIN, SHRT_MAX, ushort, 16)
VX_SIZED_NARROW(ushort, 0, USHRT_MAX, ushort, 16)
VX_SIZED(int, INT_MIN, INT_MAX, uint, 32, long, long)
VX_SIZED(uint, 0, UINT_MAX, uint, 32, long, ulong)
VX_SIZED(long, LONG_MIN, LONG_MAX, ulong, 64, __int128, __int128)
VX_SIZED(ulong, 0, ULONG_MAX, ulong, 64, __int128, unsigned __int128)

#define VX_SIZED_UNARY_SCALAR(T, name) \
    VX_FUNCTION T name(T a)            \
    {                                  \
        return vx_##name##_of(a);      \
    }
#define VX_SIZED_UNARY_VECTOR(V, T, lanes, name) \
    VX_FUNCTION V name(V a)                      \
    {                                            \
        V result;                                \
        for (int i = 0; i < lanes; i++) {        \
            result[i] = vx_##name##_of((T)a[i]); \
        }                                        \
        return result;                           \
    }
#define VX_SIZED_BINARY_SCALAR(T, name) \
    VX_FUNCTION T name(T a, T b)        \
    {                                   \
        return vx_##name##_of(a, b);    \
    }
#define VX_SIZED_BINARY_VECTOR(V, T, lanes, name)         \
    VX_FUNCTION V name(V a, V b)                          \
    {                                                     \
        V result;                                         \
        for (int i = 0; i < lanes; i++) {                 \
            result[i] = vx_##name##_of((T)a[i], (T)b[i]); \
        }                                                 \
        return result;                                    \
    }
#define VX_SIZED_TERNARY_SCALAR(T, name) \
    VX_FUNCTION T name(T a, T b, T c)    \
    {                                    \
        return vx_##name##_of(a, b, c);  \
    }
#define VX_SIZED_TERNARY_VECTOR(V, T, lanes, name)                 \
    VX_FUNCTION V name(V a, V b, V c)                              \
    {                                                              \
        V result;                                                  \
        for (int i = 0; i < lanes; i++) {                          \
            result[i] = vx_##name##_of((T)a[i], (T)b[i], (T)c[i]); \
        }                                                          \
        return result;                                             \
    }
VX_INTEGER_SCALARS(VX_SIZED_UNARY_SCALAR, clz)
VX_INTEGER_SCALARS(VX_SIZED_UNARY_SCALAR, popcount)
VX_INTEGER_SCALARS(VX_SIZED_BINARY_SCALAR, add_sat)
VX_INTEGER_SCALARS(VX_SIZED_BINARY_SCALAR, sub_sat)
VX_INTEGER_SCALARS(VX_SIZED_BINARY_SCALAR, mul_hi)
VX_INTEGER_SCALARS(VX_SIZED_TERNARY_SCALAR, mad_hi)
VX_INTEGER_SCALARS(VX_SIZED_TERNARY_SCALAR, mad_sat)
VX_INTEGER_VECTORS(VX_SIZED_UNARY_VECTOR, clz)
VX_INTEGER_VECTORS(VX_SIZED_UNARY_VECTOR, popcount)
VX_INTEGER_VECTORS(VX_OPERATOR_BINARY_VECTOR, add_sat, __builtin_elementwise_add_sat(a, b))
VX_INTEGER_VECTORS(VX_OPERATOR_BINARY_VECTOR, sub_sat, __builtin_elementwise_sub_sat(a, b))

/* Vectors by way of a wider type, which there is not for 64 bits. */
#define VX_WIDENED(V, T, lanes, wide, low, high, bits)                                                    \
    VX_FUNCTION V mul_hi(V a, V b)                                                                        \
    {                                                                                                     \
        return VX_TO(V, VX_TO(wide##lanes, a) * VX_TO(wide##lanes, b) >> bits);                           \
    }                                                                                                     \
    VX_FUNCTION V mad_hi(V a, V b, V c)                                                                   \
    {                                                                                                     \
        return VX_TO(V, (VX_TO(wide##lanes, a) * VX_TO(wide##lanes, b) >> bits) + VX_TO(wide##lanes, c)); \
    }                                                                                                     \
    VX_FUNCTION V mad_sat(V a, V b, V c)                                                                  \
    {                                                                                                     \
        wide##lanes sum = VX_TO(wide##lanes, a) * VX_TO(wide##lanes, b) + VX_TO(wide##lanes, c);          \
        wide##lanes least = (wide##lanes)(wide)(low), most = (wide##lanes)(wide)(high);                   \
        return VX_TO(V, sum < least ? least : sum > most ? most                                           \
                                                         : sum);                                          \
    }
VX_NARROW_VECTORS(VX_WIDENED, char, int, CHAR_MIN, CHAR_MAX, 8)
VX_NARROW_VECTORS(VX_WIDENED, uchar, int, 0, UCHAR_MAX, 8)
VX_NARROW_VECTORS(VX_WIDENED, short, int, SHRT_MIN, SHRT_MAX, 16)
VX_NARROW_VECTORS(VX_WIDENED, ushort, uint, 0, USHRT_MAX, 16)
VX_WIDE_VECTORS(VX_WIDENED, int, long, INT_MIN, INT_MAX, 32)
VX_WIDE_VECTORS(VX_WIDENED, uint, ulong, 0, UINT_MAX, 32)
VX_WIDE_VECTORS(VX_SIZED_BINARY_VECTOR, long, mul_hi)
VX_WIDE_VECTORS(VX_SIZED_BINARY_VECTOR, ulong, mul_hi)
VX_WIDE_VECTORS(VX_SIZED_TERNARY_VECTOR, long, mad_hi)
VX_WIDE_VECTORS(VX_SIZED_TERNARY_VECTOR, ulong, mad_hi)
VX_WIDE_VECTORS(VX_SIZED_TERNARY_VECTOR, long, mad_sat)
VX_WIDE_VECTORS(VX_SIZED_TERNARY_VECTOR, ulong, mad_sat)

/* upsample puts two numbers into one of twice the width. */
#define VX_UPSAMPLE(T, high, low, bits, convert)           \
    VX_FUNCTION T upsample(high a, low b)                  \
    {                                                      \
        return (T)(convert(a, T) << bits | convert(b, T)); \
    }
#define VX_UPSAMPLE_VECTOR(V, T, lanes, high, low, bits) VX_UPSAMPLE(V, high##lanes, low##lanes, bits, VX_CONVERT_VECTOR)
#define VX_UPSAMPLE_WIDE(T, high, low, bits) \
    VX_UPSAMPLE(T, high, low, bits, VX_CAST) \
    VX_WIDE_VECTORS(VX_UPSAMPLE_VECTOR, T, high, low, bits)
#define VX_UPSAMPLE_NARROW(T, high, low, bits)                            \
    VX_UPSAMPLE(T, high, low, bits, VX_CAST)                              \
    VX_LANES(VX_UPSAMPLE_VECTOR, T, vx_small_##T, high, low, bits)        \
    VX_LANES(VX_UPSAMPLE_VECTOR, vxc_##T, T, vxc_##high, vxc_##low, bits) \
    VX_LONG_LANES(VX_UPSAMPLE_VECTOR, T, T, high, low, bits)
VX_UPSAMPLE_NARROW(short, char, uchar, 8)
VX_UPSAMPLE_NARROW(ushort, uchar, uchar, 8)
VX_UPSAMPLE_WIDE(int, short, ushort, 16)
VX_UPSAMPLE_WIDE(uint, ushort, ushort, 16)
VX_LANES(VX_UPSAMPLE_VECTOR, int, int, vxc_short, vxc_ushort, 16)
VX_LANES(VX_UPSAMPLE_VECTOR, uint, uint, vxc_ushort, vxc_ushort, 16)
VX_UPSAMPLE_WIDE(long, int, uint, 32)
VX_UPSAMPLE_WIDE(ulong, uint, uint, 32)
