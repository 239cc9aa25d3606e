/* The mathematics of OpenCL 1.2, for scalars and vectors. A vector's is its elements'; half is computed as float. */

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VALF __builtin_inff()
#define FLT_MAX 0x1.fffffep127f
#define FLT_MIN 0x1p-126f
#define FLT_EPSILON 0x1p-23f
#define HALF_MAX 65504.0f
#define HALF_MIN 0x1p-14f
#define HALF_EPSILON 0x1p-10f
#define CHAR_BIT 8
#define CHAR_MAX 127
#define CHAR_MIN (-128)
#define SCHAR_MAX 127
#define SCHAR_MIN (-128)
#define UCHAR_MAX 255
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define USHRT_MAX 65535
#define INT_MAX 0x7fffffff
#define INT_MIN (-0x7fffffff - 1)
#define UINT_MAX 0xffffffffu
#define M_E_F 2.71828182845904523536f
#define M_LOG2E_F 1.44269504088896340736f
#define M_LOG10E_F 0.43429448190325182765f
#define M_LN2_F 0.69314718055994530942f
#define M_LN10_F 2.30258509299404568402f
#define M_PI_F 3.14159265358979323846f
#define M_PI_2_F 1.57079632679489661923f
#define M_PI_4_F 0.78539816339744830962f
#define M_1_PI_F 0.31830988618379067154f
#define M_2_PI_F 0.63661977236758134308f
#define M_2_SQRTPI_F 1.12837916709551257390f
#define M_SQRT2_F 1.41421356237309504880f
#define M_SQRT1_2_F 0.70710678118654752440f

/* name(a), name(a, b), name(a, b, c) for the scalars and vectors of a kind, from vx_name for one element of type `type`. */
#define VX_UNARY_SCALAR(T, type, name) \
    VX_FUNCTION T name(T a)            \
    {                                  \
        return (T)vx_##name((type)a);  \
    }
#define VX_UNARY_VECTOR(V, T, lanes, type, name)  \
    VX_FUNCTION V name(V a)                       \
    {                                             \
        V result;                                 \
        for (int i = 0; i < lanes; i++) {         \
            result[i] = (T)vx_##name((type)a[i]); \
        }                                         \
        return result;                            \
    }
#define VX_BINARY_SCALAR(T, type, name)        \
    VX_FUNCTION T name(T a, T b)               \
    {                                          \
        return (T)vx_##name((type)a, (type)b); \
    }
#define VX_BINARY_VECTOR(V, T, lanes, type, name)             \
    VX_FUNCTION V name(V a, V b)                              \
    {                                                         \
        V result;                                             \
        for (int i = 0; i < lanes; i++) {                     \
            result[i] = (T)vx_##name((type)a[i], (type)b[i]); \
        }                                                     \
        return result;                                        \
    }
/* The second argument may be one scalar for all elements. */
#define VX_BINARY_MIXED(V, T, lanes, type, name) \
    VX_FUNCTION V name(V a, T b)                 \
    {                                            \
        return name(a, (V)b);                    \
    }
#define VX_TERNARY_SCALAR(T, type, name)                \
    VX_FUNCTION T name(T a, T b, T c)                   \
    {                                                   \
        return (T)vx_##name((type)a, (type)b, (type)c); \
    }
#define VX_TERNARY_VECTOR(V, T, lanes, type, name)                        \
    VX_FUNCTION V name(V a, V b, V c)                                     \
    {                                                                     \
        V result;                                                         \
        for (int i = 0; i < lanes; i++) {                                 \
            result[i] = (T)vx_##name((type)a[i], (type)b[i], (type)c[i]); \
        }                                                                 \
        return result;                                                    \
    }
#define VX_LAST_MIXED(V, T, lanes, type, name) \
    VX_FUNCTION V name(V a, V b, T c)          \
    {                                          \
        return name(a, b, (V)c);               \
    }
#define VX_LAST_TWO_MIXED(V, T, lanes, type, name) \
    VX_FUNCTION V name(V a, T b, T c)              \
    {                                              \
        return name(a, (V)b, (V)c);                \
    }
#define VX_FIRST_MIXED(V, T, lanes, type, name) \
    VX_FUNCTION V name(T a, V b)                \
    {                                           \
        return name((V)a, b);                   \
    }
#define VX_FIRST_TWO_MIXED(V, T, lanes, type, name) \
    VX_FUNCTION V name(T a, T b, V c)               \
    {                                               \
        return name((V)a, (V)b, c);                 \
    }

#define VX_FLOAT_UNARY(name)                       \
    VX_FLOAT_SCALARS(VX_UNARY_SCALAR, float, name) \
    VX_FLOAT_VECTORS(VX_UNARY_VECTOR, float, name)
#define VX_FLOAT_BINARY(name)                       \
    VX_FLOAT_SCALARS(VX_BINARY_SCALAR, float, name) \
    VX_FLOAT_VECTORS(VX_BINARY_VECTOR, float, name)
#define VX_FLOAT_TERNARY(name)                       \
    VX_FLOAT_SCALARS(VX_TERNARY_SCALAR, float, name) \
    VX_FLOAT_VECTORS(VX_TERNARY_VECTOR, float, name)

/* These are the runtime's, under names that no kernel has. */
#define VX_LIBRARY_UNARY(name) \
    float vx_##name(float);    \
    VX_FLOAT_UNARY(name)
#define VX_LIBRARY_BINARY(name)    \
    float vx_##name(float, float); \
    VX_FLOAT_BINARY(name)
VX_LIBRARY_UNARY(exp)
VX_LIBRARY_UNARY(exp2)
VX_LIBRARY_UNARY(exp10)
VX_LIBRARY_UNARY(expm1)
VX_LIBRARY_UNARY(log)
VX_LIBRARY_UNARY(log2)
VX_LIBRARY_UNARY(log10)
VX_LIBRARY_UNARY(log1p)
VX_LIBRARY_UNARY(logb)
VX_LIBRARY_UNARY(cbrt)
VX_LIBRARY_UNARY(sin)
VX_LIBRARY_UNARY(cos)
VX_LIBRARY_UNARY(tan)
VX_LIBRARY_UNARY(asin)
VX_LIBRARY_UNARY(acos)
VX_LIBRARY_UNARY(atan)
VX_LIBRARY_UNARY(sinh)
VX_LIBRARY_UNARY(cosh)
VX_LIBRARY_UNARY(tanh)
VX_LIBRARY_UNARY(asinh)
VX_LIBRARY_UNARY(acosh)
VX_LIBRARY_UNARY(atanh)
VX_LIBRARY_UNARY(sinpi)
VX_LIBRARY_UNARY(cospi)
VX_LIBRARY_UNARY(tanpi)
VX_LIBRARY_UNARY(asinpi)
VX_LIBRARY_UNARY(acospi)
VX_LIBRARY_UNARY(atanpi)
VX_LIBRARY_UNARY(erf)
VX_LIBRARY_UNARY(erfc)
VX_LIBRARY_UNARY(tgamma)
VX_LIBRARY_UNARY(lgamma)
VX_LIBRARY_UNARY(round)
VX_LIBRARY_BINARY(pow)
VX_LIBRARY_BINARY(powr)
VX_LIBRARY_BINARY(fmod)
VX_LIBRARY_BINARY(remainder)
VX_LIBRARY_BINARY(atan2)
VX_LIBRARY_BINARY(atan2pi)
VX_LIBRARY_BINARY(hypot)
VX_LIBRARY_BINARY(nextafter)

#define VX_ELEMENT_UNARY(T, name, expression) \
    VX_FUNCTION T vx_##name(T a)              \
    {                                         \
        return expression;                    \
    }
#define VX_ELEMENT_BINARY(T, name, expression) \
    VX_FUNCTION T vx_##name(T a, T b)          \
    {                                          \
        return expression;                     \
    }
#define VX_ELEMENT_TERNARY(T, name, expression) \
    VX_FUNCTION T vx_##name(T a, T b, T c)      \
    {                                           \
        return expression;                      \
    }
VX_ELEMENT_UNARY(float, fabs, __builtin_fabsf(a))
VX_ELEMENT_UNARY(float, sqrt, __builtin_sqrtf(a))
VX_ELEMENT_UNARY(float, rsqrt, 1.0f / __builtin_sqrtf(a))
VX_ELEMENT_UNARY(float, floor, __builtin_floorf(a))
VX_ELEMENT_UNARY(float, ceil, __builtin_ceilf(a))
VX_ELEMENT_UNARY(float, trunc, __builtin_truncf(a))
VX_ELEMENT_UNARY(float, rint, __builtin_rintf(a))
VX_ELEMENT_UNARY(float, degrees, a * 57.295779513082320877f)
VX_ELEMENT_UNARY(float, radians, a * 0.017453292519943295769f)
VX_ELEMENT_UNARY(float, sign, a != a || a == 0 ? (a == 0 ? a : 0.0f) : __builtin_copysignf(1.0f, a))
VX_FLOAT_UNARY(fabs)
VX_FLOAT_UNARY(sqrt)
VX_FLOAT_UNARY(rsqrt)
VX_FLOAT_UNARY(floor)
VX_FLOAT_UNARY(ceil)
VX_FLOAT_UNARY(trunc)
VX_FLOAT_UNARY(rint)
VX_FLOAT_UNARY(degrees)
VX_FLOAT_UNARY(radians)
VX_FLOAT_UNARY(sign)

VX_ELEMENT_BINARY(float, fmin, a < b || b != b ? a : b)
VX_ELEMENT_BINARY(float, fmax, a > b || b != b ? a : b)
VX_ELEMENT_BINARY(float, fdim, a > b ? a - b : a != a || b != b ? a + b
                                                                : 0.0f)
VX_ELEMENT_BINARY(float, copysign, __builtin_copysignf(a, b))
VX_ELEMENT_BINARY(float, step, b < a ? 0.0f : 1.0f)
VX_FLOAT_BINARY(fmin)
VX_FLOAT_BINARY(fmax)
VX_FLOAT_BINARY(fdim)
VX_FLOAT_BINARY(copysign)
VX_FLOAT_BINARY(step)
VX_FLOAT_VECTORS(VX_BINARY_MIXED, float, fmin)
VX_FLOAT_VECTORS(VX_BINARY_MIXED, float, fmax)
VX_FLOAT_VECTORS(VX_FIRST_MIXED, float, step)

float vx_fma(float, float, float);
VX_ELEMENT_TERNARY(float, mad, a *b + c)
VX_ELEMENT_TERNARY(float, mix, a + (b - a) * c)
VX_FUNCTION float vx_smoothstep(float low, float high, float x)
{
    float t = vx_fmin(vx_fmax((x - low) / (high - low), 0.0f), 1.0f);
    return t * t * (3.0f - 2.0f * t);
}
VX_FLOAT_TERNARY(fma)
VX_FLOAT_TERNARY(mad)
VX_FLOAT_TERNARY(mix)
VX_FLOAT_TERNARY(smoothstep)
VX_FLOAT_VECTORS(VX_LAST_MIXED, float, mix)
VX_FLOAT_VECTORS(VX_FIRST_TWO_MIXED, float, smoothstep)

/* min, max and clamp are for all types; of floating point NaN, OpenCL leaves the result open. */
VX_ELEMENT_BINARY(float, min, b < a ? b : a)
VX_ELEMENT_BINARY(float, max, a < b ? b : a)
VX_ELEMENT_TERNARY(float, clamp, a<b ? b : a> c ? c : a)
VX_ELEMENT_BINARY(long, min, b < a ? b : a)
VX_ELEMENT_BINARY(long, max, a < b ? b : a)
VX_ELEMENT_TERNARY(long, clamp, a<b ? b : a> c ? c : a)
VX_FLOAT_BINARY(min)
VX_FLOAT_BINARY(max)
VX_FLOAT_TERNARY(clamp)
VX_FLOAT_VECTORS(VX_BINARY_MIXED, float, min)
VX_FLOAT_VECTORS(VX_BINARY_MIXED, float, max)
VX_FLOAT_VECTORS(VX_LAST_TWO_MIXED, float, clamp)

/* Integers: computed in 64 bits; functions that need the width get it as the size of the type and whether it has a sign. */
#define VX_INTEGER_UNARY(name)                      \
    VX_INTEGER_SCALARS(VX_UNARY_SCALAR, long, name) \
    VX_INTEGER_VECTORS(VX_UNARY_VECTOR, long, name)
#define VX_INTEGER_BINARY(name)                      \
    VX_INTEGER_SCALARS(VX_BINARY_SCALAR, long, name) \
    VX_INTEGER_VECTORS(VX_BINARY_VECTOR, long, name)
#define VX_INTEGER_TERNARY(name)                      \
    VX_INTEGER_SCALARS(VX_TERNARY_SCALAR, long, name) \
    VX_INTEGER_VECTORS(VX_TERNARY_VECTOR, long, name)
VX_INTEGER_BINARY(min)
VX_INTEGER_BINARY(max)
VX_INTEGER_TERNARY(clamp)
VX_INTEGER_VECTORS(VX_BINARY_MIXED, long, min)
VX_INTEGER_VECTORS(VX_BINARY_MIXED, long, max)
VX_INTEGER_VECTORS(VX_LAST_TWO_MIXED, long, clamp)
VX_ELEMENT_BINARY(long, hadd, (a + b) >> 1)
VX_ELEMENT_BINARY(long, rhadd, (a + b + 1) >> 1)
VX_ELEMENT_BINARY(long, mul24, a *b)
VX_ELEMENT_TERNARY(long, mad24, a *b + c)
VX_INTEGER_BINARY(hadd)
VX_INTEGER_BINARY(rhadd)
VX_INTEGER_BINARY(mul24)
VX_INTEGER_TERNARY(mad24)

/* The elements of these depend on the type's width: its lowest and highest numbers, and its bits. */
#define VX_SIZED(T, low, high, unsigned_type, bits)                                              \
    VX_FUNCTION T vx_add_sat_of(T a, T b)                                                        \
    {                                                                                            \
        long sum = (long)a + b;                                                                  \
        return (T)(sum<(low) ? (low) : sum>(high) ? (high)                                       \
                                                  : sum);                                        \
    }                                                                                            \
    VX_FUNCTION T vx_sub_sat_of(T a, T b)                                                        \
    {                                                                                            \
        long difference = (long)a - b;                                                           \
        return (T)(difference<(low) ? (low) : difference>(high) ? (high)                         \
                                                                : difference);                   \
    }                                                                                            \
    VX_FUNCTION T vx_mul_hi_of(T a, T b)                                                         \
    {                                                                                            \
        return (T)((low) < 0 ? (long)a * (long)b >> bits : (long)((ulong)a * (ulong)b >> bits)); \
    }                                                                                            \
    VX_FUNCTION T vx_mad_hi_of(T a, T b, T c)                                                    \
    {                                                                                            \
        return (T)(vx_mul_hi_of(a, b) + c);                                                      \
    }                                                                                            \
    VX_FUNCTION T vx_mad_sat_of(T a, T b, T c)                                                   \
    {                                                                                            \
        __int128 sum = (__int128)a * b + c;                                                      \
        return (T)(sum<(low) ? (long)(low) : sum>(high) ? (long)(high)                           \
                                                        : (long)sum);                            \
    }                                                                                            \
    VX_FUNCTION T vx_rotate_of(T a, T b)                                                         \
    {                                                                                            \
        int shift = (int)b & (bits - 1);                                                         \
        ulong pattern = (unsigned_type)a;                                                        \
        return (T)(unsigned_type)(pattern << shift | pattern >> (bits - shift));                 \
    }                                                                                            \
    VX_FUNCTION T vx_clz_of(T a)                                                                 \
    {                                                                                            \
        ulong pattern = (unsigned_type)a;                                                        \
        return (T)(pattern == 0 ? bits : __builtin_clzl(pattern) - (64 - bits));                 \
    }                                                                                            \
    VX_FUNCTION T vx_popcount_of(T a)                                                            \
    {                                                                                            \
        return (T)__builtin_popcountl((ulong)(unsigned_type)a);                                  \
    }                                                                                            \
    VX_FUNCTION unsigned_type vx_abs_of(T a)                                                     \
    {                                                                                            \
        long value = a;                                                                          \
        return (unsigned_type)(value < 0 ? -value : value);                                      \
    }                                                                                            \
    VX_FUNCTION unsigned_type vx_abs_diff_of(T a, T b)                                           \
    {                                                                                            \
        long difference = (long)a - (long)b;                                                     \
        return (unsigned_type)(difference < 0 ? -difference : difference);                       \
    }
#define VX_SIZED_NARROW(T, low, high, unsigned_type, bits) \
    VX_SIZED(T, low, high, unsigned_type, bits)            \
    VX_SIZED(vx_small_##T, low, high, vx_small_##unsigned_type, bits)
VX_SIZED_NARROW(char, -128, 127, uchar, 8)
VX_SIZED_NARROW(uchar, 0, 255, uchar, 8)
VX_SIZED_NARROW(short, -32768, 32767, ushort, 16)
VX_SIZED_NARROW(ushort, 0, 65535, ushort, 16)
VX_SIZED(int, -0x7fffffffL - 1, 0x7fffffffL, uint, 32)
VX_SIZED(uint, 0, 0xffffffffL, uint, 32)

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
#define VX_SIZED_FUNCTION(arity, name)                  \
    VX_INTEGER_SCALARS(VX_SIZED_##arity##_SCALAR, name) \
    VX_INTEGER_VECTORS(VX_SIZED_##arity##_VECTOR, name)
VX_SIZED_FUNCTION(BINARY, add_sat)
VX_SIZED_FUNCTION(BINARY, sub_sat)
VX_SIZED_FUNCTION(BINARY, mul_hi)
VX_SIZED_FUNCTION(TERNARY, mad_hi)
VX_SIZED_FUNCTION(TERNARY, mad_sat)
VX_SIZED_FUNCTION(BINARY, rotate)
VX_SIZED_FUNCTION(UNARY, clz)
VX_SIZED_FUNCTION(UNARY, popcount)

/* abs and abs_diff return the unsigned type. */
#define VX_ABS_SCALAR(T, U)             \
    VX_FUNCTION U abs(T a)              \
    {                                   \
        return (U)vx_abs_of(a);         \
    }                                   \
    VX_FUNCTION U abs_diff(T a, T b)    \
    {                                   \
        return (U)vx_abs_diff_of(a, b); \
    }
#define VX_ABS_VECTOR(V, T, lanes, U)                     \
    VX_FUNCTION U##lanes abs(V a)                         \
    {                                                     \
        U##lanes result;                                  \
        for (int i = 0; i < lanes; i++) {                 \
            result[i] = vx_abs_of((T)a[i]);               \
        }                                                 \
        return result;                                    \
    }                                                     \
    VX_FUNCTION U##lanes abs_diff(V a, V b)               \
    {                                                     \
        U##lanes result;                                  \
        for (int i = 0; i < lanes; i++) {                 \
            result[i] = vx_abs_diff_of((T)a[i], (T)b[i]); \
        }                                                 \
        return result;                                    \
    }
#define VX_ABS_NARROW(T, U)                      \
    VX_ABS_SCALAR(T, U)                          \
    VX_ABS_SCALAR(vx_small_##T, U)               \
    VX_LANES(VX_ABS_VECTOR, T, vx_small_##T, U)  \
    VX_LANES(VX_ABS_VECTOR, vxc_##T, T, vxc_##U) \
    VX_LONG_LANES(VX_ABS_VECTOR, T, T, U)
#define VX_ABS_WIDE(T, U) \
    VX_ABS_SCALAR(T, U)   \
    VX_WIDE_VECTORS(VX_ABS_VECTOR, T, U)
VX_ABS_NARROW(char, uchar)
VX_ABS_NARROW(uchar, uchar)
VX_ABS_NARROW(short, ushort)
VX_ABS_NARROW(ushort, ushort)
VX_ABS_WIDE(int, uint)
VX_ABS_WIDE(uint, uint)

/* upsample puts two numbers into one of twice the width. */
#define VX_UPSAMPLE(T, high, low, bits)   \
    VX_FUNCTION T upsample(high a, low b) \
    {                                     \
        return (T)((T)a << bits | b);     \
    }
VX_UPSAMPLE(short, char, uchar, 8)
VX_UPSAMPLE(ushort, uchar, uchar, 8)
VX_UPSAMPLE(int, short, ushort, 16)
VX_UPSAMPLE(uint, ushort, ushort, 16)

/* Comparisons by name: 0 or 1 for scalars, 0 or -1 in each element for vectors of the same width. */
#define VX_TEST_UNARY(name, expression) \
    VX_FUNCTION bool vx_##name(float a) \
    {                                   \
        return expression;              \
    }
#define VX_TEST_BINARY(name, expression)         \
    VX_FUNCTION bool vx_##name(float a, float b) \
    {                                            \
        return expression;                       \
    }
VX_TEST_UNARY(isnan, a != a)
VX_TEST_UNARY(isinf, __builtin_fabsf(a) == INFINITY)
VX_TEST_UNARY(isfinite, __builtin_fabsf(a) < INFINITY)
VX_TEST_UNARY(isnormal, __builtin_fabsf(a) < INFINITY && __builtin_fabsf(a) >= FLT_MIN)
VX_TEST_UNARY(signbit, __builtin_copysignf(1.0f, a) < 0)
VX_TEST_BINARY(isequal, a == b)
VX_TEST_BINARY(isnotequal, a != b)
VX_TEST_BINARY(isgreater, a > b)
VX_TEST_BINARY(isgreaterequal, a >= b)
VX_TEST_BINARY(isless, a < b)
VX_TEST_BINARY(islessequal, a <= b)
VX_TEST_BINARY(islessgreater, a<b || a> b)
VX_TEST_BINARY(isordered, a == a && b == b)
VX_TEST_BINARY(isunordered, a != a || b != b)
#define VX_TEST_UNARY_SCALAR(T, name) \
    VX_FUNCTION int name(T a)         \
    {                                 \
        return vx_##name((float)a);   \
    }
#define VX_TEST_UNARY_VECTOR(V, T, lanes, R, name)       \
    VX_FUNCTION R##lanes name(V a)                       \
    {                                                    \
        R##lanes result;                                 \
        for (int i = 0; i < lanes; i++) {                \
            result[i] = vx_##name((float)a[i]) ? -1 : 0; \
        }                                                \
        return result;                                   \
    }
#define VX_TEST_BINARY_SCALAR(T, name)        \
    VX_FUNCTION int name(T a, T b)            \
    {                                         \
        return vx_##name((float)a, (float)b); \
    }
#define VX_TEST_BINARY_VECTOR(V, T, lanes, R, name)                   \
    VX_FUNCTION R##lanes name(V a, V b)                               \
    {                                                                 \
        R##lanes result;                                              \
        for (int i = 0; i < lanes; i++) {                             \
            result[i] = vx_##name((float)a[i], (float)b[i]) ? -1 : 0; \
        }                                                             \
        return result;                                                \
    }
#define VX_TEST(arity, name)                                             \
    VX_FLOAT_SCALARS(VX_TEST_##arity##_SCALAR, name)                     \
    VX_WIDE_VECTORS(VX_TEST_##arity##_VECTOR, float, int, name)          \
    VX_LANES(VX_TEST_##arity##_VECTOR, half, vx_small_half, short, name) \
    VX_LANES(VX_TEST_##arity##_VECTOR, vxc_half, half, vxc_short, name)  \
    VX_LONG_LANES(VX_TEST_##arity##_VECTOR, half, half, short, name)
VX_TEST(UNARY, isnan)
VX_TEST(UNARY, isinf)
VX_TEST(UNARY, isfinite)
VX_TEST(UNARY, isnormal)
VX_TEST(UNARY, signbit)
VX_TEST(BINARY, isequal)
VX_TEST(BINARY, isnotequal)
VX_TEST(BINARY, isgreater)
VX_TEST(BINARY, isgreaterequal)
VX_TEST(BINARY, isless)
VX_TEST(BINARY, islessequal)
VX_TEST(BINARY, islessgreater)
VX_TEST(BINARY, isordered)
VX_TEST(BINARY, isunordered)

/* any and all look at the highest bit of each element. */
#define VX_ANY_SCALAR(T, _)  \
    VX_FUNCTION int any(T a) \
    {                        \
        return a < 0;        \
    }                        \
    VX_FUNCTION int all(T a) \
    {                        \
        return a < 0;        \
    }
#define VX_ANY_VECTOR(V, T, lanes, _)     \
    VX_FUNCTION int any(V a)              \
    {                                     \
        int result = 0;                   \
        for (int i = 0; i < lanes; i++) { \
            result |= (T)a[i] < 0;        \
        }                                 \
        return result;                    \
    }                                     \
    VX_FUNCTION int all(V a)              \
    {                                     \
        int result = 1;                   \
        for (int i = 0; i < lanes; i++) { \
            result &= (T)a[i] < 0;        \
        }                                 \
        return result;                    \
    }
VX_ANY_SCALAR(char, )
VX_ANY_SCALAR(short, )
VX_ANY_SCALAR(int, )
VX_NARROW_VECTORS(VX_ANY_VECTOR, char, )
VX_NARROW_VECTORS(VX_ANY_VECTOR, short, )
VX_WIDE_VECTORS(VX_ANY_VECTOR, int, )

/* select(a, b, c): b where c is true, which is not 0 for a scalar and the highest bit for an element. */
#define VX_SELECT_SCALAR(T, C)          \
    VX_FUNCTION T select(T a, T b, C c) \
    {                                   \
        return c != 0 ? b : a;          \
    }
#define VX_SELECT_VECTOR(V, T, lanes, C, bits)          \
    VX_FUNCTION V select(V a, V b, C##lanes c)          \
    {                                                   \
        V result;                                       \
        for (int i = 0; i < lanes; i++) {               \
            result[i] = c[i] >> bits & 1 ? b[i] : a[i]; \
        }                                               \
        return result;                                  \
    }
#define VX_SELECT_WIDE(T, C) \
    VX_SELECT_SCALAR(T, C)   \
    VX_WIDE_VECTORS(VX_SELECT_VECTOR, T, C, 31)
#define VX_SELECT_NARROW(T, C, bits)                      \
    VX_SELECT_SCALAR(T, C)                                \
    VX_LANES(VX_SELECT_VECTOR, T, vx_small_##T, C, bits)  \
    VX_LANES(VX_SELECT_VECTOR, vxc_##T, T, vxc_##C, bits) \
    VX_LONG_LANES(VX_SELECT_VECTOR, T, T, C, bits)
VX_SELECT_WIDE(float, int)
VX_SELECT_WIDE(float, uint)
VX_SELECT_WIDE(int, int)
VX_SELECT_WIDE(int, uint)
VX_SELECT_WIDE(uint, int)
VX_SELECT_WIDE(uint, uint)
VX_SELECT_NARROW(half, short, 15)
VX_SELECT_NARROW(half, ushort, 15)
VX_SELECT_NARROW(short, short, 15)
VX_SELECT_NARROW(short, ushort, 15)
VX_SELECT_NARROW(ushort, short, 15)
VX_SELECT_NARROW(ushort, ushort, 15)
VX_SELECT_NARROW(char, char, 7)
VX_SELECT_NARROW(char, uchar, 7)
VX_SELECT_NARROW(uchar, char, 7)
VX_SELECT_NARROW(uchar, uchar, 7)
#define bitselect(a, b, c)                                                                                \
    __extension__({                                                                                       \
        __auto_type vx_a = (a);                                                                           \
        __typeof__(vx_a) vx_b = (b), vx_c = (c);                                                          \
        uchar *vx_a_byte = (uchar *)&vx_a, *vx_b_byte = (uchar *)&vx_b, *vx_c_byte = (uchar *)&vx_c;      \
        for (int vx_i = 0; vx_i < sizeof(vx_a); vx_i++) {                                                 \
            vx_a_byte[vx_i] = (vx_a_byte[vx_i] & ~vx_c_byte[vx_i]) | (vx_b_byte[vx_i] & vx_c_byte[vx_i]); \
        }                                                                                                 \
        vx_a;                                                                                             \
    })

/* Geometry, for scalars and vectors of up to four elements. */
#define VX_GEOMETRY(V, T, lanes, _)            \
    VX_FUNCTION T dot(V a, V b)                \
    {                                          \
        float sum = 0;                         \
        for (int i = 0; i < lanes; i++) {      \
            sum += (float)a[i] * (float)b[i];  \
        }                                      \
        return (T)sum;                         \
    }                                          \
    VX_FUNCTION T length(V a)                  \
    {                                          \
        float sum = 0;                         \
        for (int i = 0; i < lanes; i++) {      \
            sum += (float)a[i] * (float)a[i];  \
        }                                      \
        return (T)__builtin_sqrtf(sum);        \
    }                                          \
    VX_FUNCTION T distance(V a, V b)           \
    {                                          \
        return length(a - b);                  \
    }                                          \
    VX_FUNCTION V normalize(V a)               \
    {                                          \
        float size = (float)length(a);         \
        return size == 0 ? a : a / (V)(T)size; \
    }                                          \
    VX_FUNCTION T fast_length(V a)             \
    {                                          \
        return length(a);                      \
    }                                          \
    VX_FUNCTION T fast_distance(V a, V b)      \
    {                                          \
        return length(a - b);                  \
    }                                          \
    VX_FUNCTION V fast_normalize(V a)          \
    {                                          \
        return normalize(a);                   \
    }
VX_LANES(VX_GEOMETRY, float, float, )
VX_LANES(VX_GEOMETRY, half, vx_small_half, )
VX_LANES(VX_GEOMETRY, vxc_half, half, )
VX_FUNCTION float dot(float a, float b)
{
    return a * b;
}
VX_FUNCTION float length(float a)
{
    return __builtin_fabsf(a);
}
VX_FUNCTION float distance(float a, float b)
{
    return __builtin_fabsf(a - b);
}
VX_FUNCTION float3 cross(float3 a, float3 b)
{
    return a.yzx * b.zxy - a.zxy * b.yzx;
}
VX_FUNCTION float4 cross(float4 a, float4 b)
{
    return (float4)(cross(a.xyz, b.xyz), 0.0f);
}

/* Two results, or a number of whole steps. */
#define VX_FLOAT_POINTERS(V, I, lanes)              \
    VX_FUNCTION V fract(V a, V *whole)              \
    {                                               \
        *whole = floor(a);                          \
        return fmin(a - *whole, (V)0x1.fffffep-1f); \
    }                                               \
    VX_FUNCTION V modf(V a, V *whole)               \
    {                                               \
        *whole = trunc(a);                          \
        return copysign(a - *whole, a);             \
    }                                               \
    VX_FUNCTION V sincos(V a, V *cosine)            \
    {                                               \
        *cosine = cos(a);                           \
        return sin(a);                              \
    }
VX_FLOAT_POINTERS(float, int, 1)
VX_FLOAT_POINTERS(float2, int2, 2)
VX_FLOAT_POINTERS(float3, int3, 3)
VX_FLOAT_POINTERS(float4, int4, 4)
VX_FLOAT_POINTERS(float8, int8, 8)
VX_FLOAT_POINTERS(float16, int16, 16)
float vx_ldexp(float, int);
float vx_pown(float, int);
float vx_rootn(float, int);
int vx_ilogb(float);
#define VX_WITH_INTEGER(name)                            \
    VX_FUNCTION float name(float a, int b)               \
    {                                                    \
        return vx_##name(a, b);                          \
    }                                                    \
    VX_WIDE_VECTORS(VX_WITH_INTEGER_VECTOR, float, name) \
    VX_WIDE_VECTORS(VX_WITH_INTEGER_MIXED, float, name)
#define VX_WITH_INTEGER_VECTOR(V, T, lanes, name) \
    VX_FUNCTION V name(V a, int##lanes b)         \
    {                                             \
        V result;                                 \
        for (int i = 0; i < lanes; i++) {         \
            result[i] = vx_##name(a[i], b[i]);    \
        }                                         \
        return result;                            \
    }
#define VX_WITH_INTEGER_MIXED(V, T, lanes, name) \
    VX_FUNCTION V name(V a, int b)               \
    {                                            \
        return name(a, (int##lanes)b);           \
    }
VX_WITH_INTEGER(ldexp)
VX_WITH_INTEGER(pown)
VX_WITH_INTEGER(rootn)
#define VX_ILOGB_VECTOR(V, T, lanes, _)   \
    VX_FUNCTION int##lanes ilogb(V a)     \
    {                                     \
        int##lanes result;                \
        for (int i = 0; i < lanes; i++) { \
            result[i] = vx_ilogb(a[i]);   \
        }                                 \
        return result;                    \
    }
VX_FUNCTION int ilogb(float a)
{
    return vx_ilogb(a);
}
VX_WIDE_VECTORS(VX_ILOGB_VECTOR, float, )

/* The fast forms are the exact ones here. */
#define native_exp exp
#define native_exp2 exp2
#define native_exp10 exp10
#define native_log log
#define native_log2 log2
#define native_log10 log10
#define native_sqrt sqrt
#define native_rsqrt rsqrt
#define native_sin sin
#define native_cos cos
#define native_tan tan
#define native_powr powr
#define native_divide(a, b) ((a) / (b))
#define native_recip(a) (1.0f / (a))
#define half_exp exp
#define half_exp2 exp2
#define half_exp10 exp10
#define half_log log
#define half_log2 log2
#define half_log10 log10
#define half_sqrt sqrt
#define half_rsqrt rsqrt
#define half_sin sin
#define half_cos cos
#define half_tan tan
#define half_powr powr
#define half_divide(a, b) ((a) / (b))
#define half_recip(a) (1.0f / (a))

/* vload and vstore: the vector number `offset` from a pointer. */
#define VX_MOVE(T, vector, lanes)                                         \
    VX_FUNCTION vector vload##lanes(size_t offset, const T *place)        \
    {                                                                     \
        vector result;                                                    \
        for (int i = 0; i < lanes; i++) {                                 \
            result[i] = place[offset * lanes + i];                        \
        }                                                                 \
        return result;                                                    \
    }                                                                     \
    VX_FUNCTION void vstore##lanes(vector value, size_t offset, T *place) \
    {                                                                     \
        for (int i = 0; i < lanes; i++) {                                 \
            place[offset * lanes + i] = value[i];                         \
        }                                                                 \
    }
#define VX_MOVES(T)     \
    VX_MOVE(T, T##2, 2) \
    VX_MOVE(T, T##3, 3) \
    VX_MOVE(T, T##4, 4) \
    VX_MOVE(T, T##8, 8) \
    VX_MOVE(T, T##16, 16)
VX_MOVES(char)
VX_MOVES(uchar)
VX_MOVES(short)
VX_MOVES(ushort)
VX_MOVES(int)
VX_MOVES(uint)
VX_MOVES(half)
VX_MOVES(float)
#define VX_MOVE_HALF(vector, lanes)                                               \
    VX_FUNCTION vector vload_half##lanes(size_t offset, const half *place)        \
    {                                                                             \
        vector result;                                                            \
        for (int i = 0; i < lanes; i++) {                                         \
            result[i] = (float)place[offset * lanes + i];                         \
        }                                                                         \
        return result;                                                            \
    }                                                                             \
    VX_FUNCTION void vstore_half##lanes(vector value, size_t offset, half *place) \
    {                                                                             \
        for (int i = 0; i < lanes; i++) {                                         \
            place[offset * lanes + i] = (half)value[i];                           \
        }                                                                         \
    }
VX_MOVE_HALF(float2, 2)
VX_MOVE_HALF(float3, 3)
VX_MOVE_HALF(float4, 4)
VX_MOVE_HALF(float8, 8)
VX_FUNCTION float vload_half(size_t offset, const half *place)
{
    return (float)place[offset];
}
VX_FUNCTION void vstore_half(float value, size_t offset, half *place)
{
    place[offset] = (half)value;
}
