/*
 * The mathematics of OpenCL 1.2 for float and half, scalars and vectors. A vector's is its
 * elements'; half is computed as float.
 *
 * A call with double finds no function, or as many for float as for half: it is an error, not
 * computed as float.
 */

/*
 * name(a), name(a, b), name(a, b, c) from __opkit_name for one float; long vectors by halves, which
 * the compiler reads faster than loops.
 */
#define __OPKIT_PART_UNARY(name, part) name(a.part)
#define __OPKIT_PART_BINARY(name, part) name(a.part, b.part)
#define __OPKIT_PART_TERNARY(name, part) name(a.part, b.part, c.part)
#define __OPKIT_PARTS_2(V, PART, name) (V)(PART(__opkit_##name, s0), PART(__opkit_##name, s1))
#define __OPKIT_PARTS_3(V, PART, name) \
    (V)(PART(__opkit_##name, s0), PART(__opkit_##name, s1), PART(__opkit_##name, s2))
#define __OPKIT_PARTS_4(V, PART, name)                                                \
    (V)(PART(__opkit_##name, s0), PART(__opkit_##name, s1), PART(__opkit_##name, s2), \
        PART(__opkit_##name, s3))
#define __OPKIT_PARTS_8(V, PART, name) (V)(PART(name, lo), PART(name, hi))
#define __OPKIT_PARTS_16(V, PART, name) (V)(PART(name, lo), PART(name, hi))
#define __OPKIT_UNARY_SCALAR(T, name)       \
    __OPKIT_FUNCTION T name(T a)            \
    {                                       \
        return (T)__opkit_##name((float)a); \
    }
#define __OPKIT_UNARY_VECTOR(V, T, lanes, name)                    \
    __OPKIT_FUNCTION V name(V a)                                   \
    {                                                              \
        return __OPKIT_PARTS_##lanes(V, __OPKIT_PART_UNARY, name); \
    }
#define __OPKIT_BINARY_SCALAR(T, name)                \
    __OPKIT_FUNCTION T name(T a, T b)                 \
    {                                                 \
        return (T)__opkit_##name((float)a, (float)b); \
    }
#define __OPKIT_BINARY_VECTOR(V, T, lanes, name)                    \
    __OPKIT_FUNCTION V name(V a, V b)                               \
    {                                                               \
        return __OPKIT_PARTS_##lanes(V, __OPKIT_PART_BINARY, name); \
    }
#define __OPKIT_TERNARY_SCALAR(T, name)                         \
    __OPKIT_FUNCTION T name(T a, T b, T c)                      \
    {                                                           \
        return (T)__opkit_##name((float)a, (float)b, (float)c); \
    }
#define __OPKIT_TERNARY_VECTOR(V, T, lanes, name)                    \
    __OPKIT_FUNCTION V name(V a, V b, V c)                           \
    {                                                                \
        return __OPKIT_PARTS_##lanes(V, __OPKIT_PART_TERNARY, name); \
    }

/* Vectors of half, by way of float. */
#define __OPKIT_TO(V, value) __builtin_convertvector(value, V)
#define __OPKIT_UNARY_HALF(V, T, lanes, name)                    \
    __OPKIT_FUNCTION V name(V a)                                 \
    {                                                            \
        return __OPKIT_TO(V, name(__OPKIT_TO(float##lanes, a))); \
    }
#define __OPKIT_BINARY_HALF(V, T, lanes, name)                                                \
    __OPKIT_FUNCTION V name(V a, V b)                                                         \
    {                                                                                         \
        return __OPKIT_TO(V, name(__OPKIT_TO(float##lanes, a), __OPKIT_TO(float##lanes, b))); \
    }
#define __OPKIT_TERNARY_HALF(V, T, lanes, name)                                             \
    __OPKIT_FUNCTION V name(V a, V b, V c)                                                  \
    {                                                                                       \
        return __OPKIT_TO(V, name(__OPKIT_TO(float##lanes, a), __OPKIT_TO(float##lanes, b), \
                                  __OPKIT_TO(float##lanes, c)));                            \
    }
#define __OPKIT_FLOAT(arity, name)                              \
    __OPKIT_FLOAT_SCALARS(__OPKIT_##arity##_SCALAR, name)       \
    __OPKIT_FLOAT_PAIRS(__OPKIT_PAIR_##arity, name)             \
    __OPKIT_WIDE_VECTORS(__OPKIT_##arity##_VECTOR, float, name) \
    __OPKIT_NARROW_VECTORS(__OPKIT_##arity##_HALF, half, name)

/* Of these, the one for a float is the runtime's: shared.h declares it. */
__OPKIT_FLOAT(UNARY, exp)
__OPKIT_FLOAT(UNARY, exp2)
__OPKIT_FLOAT(UNARY, exp10)
__OPKIT_FLOAT(UNARY, expm1)
__OPKIT_FLOAT(UNARY, log)
__OPKIT_FLOAT(UNARY, log2)
__OPKIT_FLOAT(UNARY, log10)
__OPKIT_FLOAT(UNARY, log1p)
__OPKIT_FLOAT(UNARY, logb)
__OPKIT_FLOAT(UNARY, cbrt)
__OPKIT_FLOAT(UNARY, sin)
__OPKIT_FLOAT(UNARY, cos)
__OPKIT_FLOAT(UNARY, tan)
__OPKIT_FLOAT(UNARY, asin)
__OPKIT_FLOAT(UNARY, acos)
__OPKIT_FLOAT(UNARY, atan)
__OPKIT_FLOAT(UNARY, sinh)
__OPKIT_FLOAT(UNARY, cosh)
__OPKIT_FLOAT(UNARY, tanh)
__OPKIT_FLOAT(UNARY, asinh)
__OPKIT_FLOAT(UNARY, acosh)
__OPKIT_FLOAT(UNARY, atanh)
__OPKIT_FLOAT(UNARY, sinpi)
__OPKIT_FLOAT(UNARY, cospi)
__OPKIT_FLOAT(UNARY, tanpi)
__OPKIT_FLOAT(UNARY, asinpi)
__OPKIT_FLOAT(UNARY, acospi)
__OPKIT_FLOAT(UNARY, atanpi)
__OPKIT_FLOAT(UNARY, erf)
__OPKIT_FLOAT(UNARY, erfc)
__OPKIT_FLOAT(UNARY, tgamma)
__OPKIT_FLOAT(UNARY, lgamma)
__OPKIT_FLOAT(UNARY, round)
__OPKIT_FLOAT(BINARY, pow)
__OPKIT_FLOAT(BINARY, powr)
__OPKIT_FLOAT(BINARY, fmod)
__OPKIT_FLOAT(BINARY, remainder)
__OPKIT_FLOAT(BINARY, atan2)
__OPKIT_FLOAT(BINARY, atan2pi)
__OPKIT_FLOAT(BINARY, hypot)

#define __OPKIT_ELEMENT_UNARY(name, expression)    \
    __OPKIT_FUNCTION float __opkit_##name(float a) \
    {                                              \
        return expression;                         \
    }                                              \
    __OPKIT_FLOAT(UNARY, name)
__OPKIT_ELEMENT_UNARY(fabs, __builtin_fabsf(a))
__OPKIT_ELEMENT_UNARY(sqrt, __builtin_sqrtf(a))
__OPKIT_ELEMENT_UNARY(rsqrt, 1.0f / __builtin_sqrtf(a))
__OPKIT_ELEMENT_UNARY(floor, __builtin_floorf(a))
__OPKIT_ELEMENT_UNARY(ceil, __builtin_ceilf(a))
__OPKIT_ELEMENT_UNARY(trunc, __builtin_truncf(a))
__OPKIT_ELEMENT_UNARY(rint, __builtin_rintf(a))
__OPKIT_ELEMENT_UNARY(degrees, a * 57.295779513082320877f)
__OPKIT_ELEMENT_UNARY(radians, a * 0.017453292519943295769f)

#define __OPKIT_ELEMENT_BINARY(name, expression)            \
    __OPKIT_FUNCTION float __opkit_##name(float a, float b) \
    {                                                       \
        return expression;                                  \
    }
#define __OPKIT_ELEMENT_TERNARY(name, expression)                    \
    __OPKIT_FUNCTION float __opkit_##name(float a, float b, float c) \
    {                                                                \
        return expression;                                           \
    }
__OPKIT_ELEMENT_BINARY(copysign, __builtin_copysignf(a, b))
__OPKIT_ELEMENT_BINARY(fmin, a < b || b != b ? a : b)
__OPKIT_ELEMENT_BINARY(fmax, a > b || b != b ? a : b)
__OPKIT_ELEMENT_TERNARY(mad, a *b + c)
__OPKIT_ELEMENT_TERNARY(mix, a + (b - a) * c)
__OPKIT_FUNCTION float __opkit_smoothstep(float low, float high, float x)
{
    float t = __opkit_fmin(__opkit_fmax((x - low) / (high - low), 0.0f), 1.0f);
    return t * t * (3.0f - 2.0f * t);
}
__OPKIT_FLOAT(BINARY, copysign)
__OPKIT_FLOAT(TERNARY, mad)
__OPKIT_FLOAT(TERNARY, mix)
__OPKIT_FLOAT(TERNARY, smoothstep)

/* The product of two halves and a third one are exact as double. */
__OPKIT_FUNCTION float fma(float a, float b, float c)
{
    return __opkit_fma(a, b, c);
}
__OPKIT_WIDE_VECTORS(__OPKIT_TERNARY_VECTOR, float, fma)
#define __OPKIT_FMA_HALF(T, _)                         \
    __OPKIT_FUNCTION T fma(T a, T b, T c)              \
    {                                                  \
        return (T)((double)a * (double)b + (double)c); \
    }
#define __OPKIT_FMA_HALVES(V, T, lanes, _)                                                 \
    __OPKIT_FUNCTION V fma(V a, V b, V c)                                                  \
    {                                                                                      \
        return __OPKIT_TO(V, __OPKIT_TO(double##lanes, a) * __OPKIT_TO(double##lanes, b) + \
                                 __OPKIT_TO(double##lanes, c));                            \
    }
__OPKIT_FMA_HALF(half, )
__OPKIT_FMA_HALF(__opkit_plain_half, )
__OPKIT_FLOAT_PAIRS(__OPKIT_PAIR_TERNARY, fma)
__OPKIT_NARROW_VECTORS(__OPKIT_FMA_HALVES, half, )

/*
 * What operators do is the same for scalars and vectors: T is either. A comparison of vectors
 * chooses element by element.
 */
#define __OPKIT_ALL(number) ((__typeof__(a))(number))
#define __OPKIT_OPERATOR_UNARY(T, name, expression) \
    __OPKIT_FUNCTION T name(T a)                    \
    {                                               \
        return (T)(expression);                     \
    }
#define __OPKIT_OPERATOR_BINARY(T, name, expression) \
    __OPKIT_FUNCTION T name(T a, T b)                \
    {                                                \
        return (T)(expression);                      \
    }
#define __OPKIT_OPERATOR_TERNARY(T, name, expression) \
    __OPKIT_FUNCTION T name(T a, T b, T c)            \
    {                                                 \
        return (T)(expression);                       \
    }
#define __OPKIT_OPERATOR_UNARY_VECTOR(V, T, lanes, name, expression) \
    __OPKIT_OPERATOR_UNARY(V, name, expression)
#define __OPKIT_OPERATOR_BINARY_VECTOR(V, T, lanes, name, expression) \
    __OPKIT_OPERATOR_BINARY(V, name, expression)
#define __OPKIT_OPERATOR_TERNARY_VECTOR(V, T, lanes, name, expression) \
    __OPKIT_OPERATOR_TERNARY(V, name, expression)
#define __OPKIT_BY_OPERATORS(kind, arity, name, expression)              \
    __OPKIT_##kind##_SCALARS(__OPKIT_OPERATOR_##arity, name, expression) \
        __OPKIT_##kind##_PAIRS(__OPKIT_PAIR_##arity, name)               \
            __OPKIT_##kind##_VECTORS(__OPKIT_OPERATOR_##arity##_VECTOR, name, expression)

/* One scalar may stand for all elements of some arguments: the second, the first, the last, ... */
#define __OPKIT_SECOND_MIXED(V, T, lanes, name, expression) \
    __OPKIT_FUNCTION V name(V a, T scalar)                  \
    {                                                       \
        V b = (V)scalar;                                    \
        return expression;                                  \
    }
#define __OPKIT_FIRST_MIXED(V, T, lanes, name, expression) \
    __OPKIT_FUNCTION V name(T scalar, V b)                 \
    {                                                      \
        V a = (V)scalar;                                   \
        return expression;                                 \
    }
#define __OPKIT_LAST_TWO_MIXED(V, T, lanes, name, expression) \
    __OPKIT_FUNCTION V name(V a, T low, T high)               \
    {                                                         \
        V b = (V)low, c = (V)high;                            \
        return expression;                                    \
    }
#define __OPKIT_LAST_MIXED(V, T, lanes, name) \
    __OPKIT_FUNCTION V name(V a, V b, T c)    \
    {                                         \
        return name(a, b, (V)c);              \
    }
#define __OPKIT_FIRST_TWO_MIXED(V, T, lanes, name) \
    __OPKIT_FUNCTION V name(T a, T b, V c)         \
    {                                              \
        return name((V)a, (V)b, c);                \
    }
#define __OPKIT_BY_OPERATORS_MIXED(kind, arity, which, name, expression) \
    __OPKIT_BY_OPERATORS(kind, arity, name, expression)                  \
    __OPKIT_##kind##_MIXED(__OPKIT_##which##_MIXED, name, expression)

__OPKIT_BY_OPERATORS(FLOAT, UNARY, sign,
                     a > __OPKIT_ALL(0)   ? __OPKIT_ALL(1)
                     : a < __OPKIT_ALL(0) ? __OPKIT_ALL(-1)
                     : a == a             ? a
                                          : __OPKIT_ALL(0))
__OPKIT_BY_OPERATORS_MIXED(FLOAT, BINARY, SECOND, fmin, ((a < b) | (b != b)) ? a : b)
__OPKIT_BY_OPERATORS_MIXED(FLOAT, BINARY, SECOND, fmax, ((a > b) | (b != b)) ? a : b)
__OPKIT_BY_OPERATORS(FLOAT, BINARY, fdim, a <= b ? __OPKIT_ALL(0) : a - b)
__OPKIT_BY_OPERATORS_MIXED(FLOAT, BINARY, FIRST, step, b < a ? __OPKIT_ALL(0) : __OPKIT_ALL(1))
__OPKIT_BY_OPERATORS(FLOAT, BINARY, maxmag,
                     fabs(a) > fabs(b)   ? a
                     : fabs(b) > fabs(a) ? b
                                         : fmax(a, b))
__OPKIT_BY_OPERATORS(FLOAT, BINARY, minmag,
                     fabs(a) < fabs(b)   ? a
                     : fabs(b) < fabs(a) ? b
                                         : fmin(a, b))
__OPKIT_FLOAT_MIXED(__OPKIT_LAST_MIXED, mix)
__OPKIT_FLOAT_MIXED(__OPKIT_FIRST_TWO_MIXED, smoothstep)

/* min, max and clamp are for all types; of floating-point NaN, OpenCL leaves the result open. */
__OPKIT_BY_OPERATORS_MIXED(FLOAT, BINARY, SECOND, min, b < a ? b : a)
__OPKIT_BY_OPERATORS_MIXED(FLOAT, BINARY, SECOND, max, a < b ? b : a)
__OPKIT_BY_OPERATORS_MIXED(FLOAT, TERNARY, LAST_TWO, clamp, a<b ? b : a> c ? c : a)

/* The next number: its bits, not its value, are computed. */
#define __OPKIT_NEXTAFTER(T)                                                       \
    __OPKIT_FUNCTION T __opkit_nextafter(T a, T b)                                 \
    {                                                                              \
        return a != a || b != b ? a + b : a == b ? b : __opkit_neighbor(a, a < b); \
    }
__OPKIT_NEXTAFTER(float)
__OPKIT_NEXTAFTER(half)
#define __OPKIT_NEXTAFTER_SCALAR(T, type)              \
    __OPKIT_FUNCTION T nextafter(T a, T b)             \
    {                                                  \
        return (T)__opkit_nextafter((type)a, (type)b); \
    }
#define __OPKIT_NEXTAFTER_VECTOR(V, T, lanes, type)                   \
    __OPKIT_FUNCTION V nextafter(V a, V b)                            \
    {                                                                 \
        V result;                                                     \
        for (int i = 0; i < lanes; i++) {                             \
            result[i] = (T)__opkit_nextafter((type)a[i], (type)b[i]); \
        }                                                             \
        return result;                                                \
    }
__OPKIT_NEXTAFTER_SCALAR(float, float)
__OPKIT_NEXTAFTER_SCALAR(half, half)
__OPKIT_NEXTAFTER_SCALAR(__opkit_plain_half, half)
__OPKIT_FLOAT_PAIRS(__OPKIT_PAIR_BINARY, nextafter)
__OPKIT_WIDE_VECTORS(__OPKIT_NEXTAFTER_VECTOR, float, float)
__OPKIT_NARROW_VECTORS(__OPKIT_NEXTAFTER_VECTOR, half, half)

/* A NaN that carries a number. */
#define __OPKIT_NAN(T, bits, quiet, payload)                                        \
    __OPKIT_FUNCTION T nan(bits number)                                             \
    {                                                                               \
        return __builtin_astype((bits)((number & (bits)payload) | (bits)quiet), T); \
    }
#define __OPKIT_NAN_VECTOR(V, T, lanes, bits, quiet, payload) \
    __OPKIT_NAN(V, bits##lanes, quiet, payload)
__OPKIT_NAN(float, uint, 0x7fc00000, 0x3fffff)
__OPKIT_NAN(half, ushort, 0x7e00, 0x1ff)
__OPKIT_WIDE_VECTORS(__OPKIT_NAN_VECTOR, float, uint, 0x7fc00000, 0x3fffff)
__OPKIT_PLAIN_VECTORS(__OPKIT_NAN_VECTOR, half, half, ushort, 0x7e00, 0x1ff)
__OPKIT_PACKED_VECTORS(__OPKIT_NAN_VECTOR, half, half, vxc_ushort, 0x7e00, 0x1ff)

/* With an integer, or with integers. */
#define __OPKIT_WITH_INTEGER_SCALAR(T, name)   \
    __OPKIT_FUNCTION T name(T a, int b)        \
    {                                          \
        return (T)__opkit_##name((float)a, b); \
    }
#define __OPKIT_WITH_INTEGER_VECTOR(V, T, lanes, name)              \
    __OPKIT_FUNCTION V name(V a, int##lanes b)                      \
    {                                                               \
        return __OPKIT_PARTS_##lanes(V, __OPKIT_PART_BINARY, name); \
    }
#define __OPKIT_WITH_INTEGER_HALF(V, T, lanes, name)                \
    __OPKIT_FUNCTION V name(V a, int##lanes b)                      \
    {                                                               \
        return __OPKIT_TO(V, name(__OPKIT_TO(float##lanes, a), b)); \
    }
#define __OPKIT_WITH_INTEGER_MIXED(V, T, lanes, name) \
    __OPKIT_FUNCTION V name(V a, int b)               \
    {                                                 \
        return name(a, (int##lanes)b);                \
    }
#define __OPKIT_WITH_INTEGER(name)                                 \
    __OPKIT_FLOAT_SCALARS(__OPKIT_WITH_INTEGER_SCALAR, name)       \
    __OPKIT_WIDE_VECTORS(__OPKIT_WITH_INTEGER_VECTOR, float, name) \
    __OPKIT_NARROW_VECTORS(__OPKIT_WITH_INTEGER_HALF, half, name)  \
    __OPKIT_FLOAT_VECTORS(__OPKIT_WITH_INTEGER_MIXED, name)
__OPKIT_WITH_INTEGER(ldexp)
__OPKIT_WITH_INTEGER(pown)
__OPKIT_WITH_INTEGER(rootn)

#define __OPKIT_ILOGB_SCALAR(T, _)      \
    __OPKIT_FUNCTION int ilogb(T a)     \
    {                                   \
        return __opkit_ilogb((float)a); \
    }
#define __OPKIT_ILOGB_VECTOR(V, T, lanes, _) \
    __OPKIT_FUNCTION int##lanes ilogb(V a)   \
    {                                        \
        int##lanes result;                   \
        for (int i = 0; i < lanes; i++) {    \
            result[i] = __opkit_ilogb(a[i]); \
        }                                    \
        return result;                       \
    }
#define __OPKIT_ILOGB_HALF(V, T, lanes, _)         \
    __OPKIT_FUNCTION int##lanes ilogb(V a)         \
    {                                              \
        return ilogb(__OPKIT_TO(float##lanes, a)); \
    }
__OPKIT_FLOAT_SCALARS(__OPKIT_ILOGB_SCALAR, )
__OPKIT_WIDE_VECTORS(__OPKIT_ILOGB_VECTOR, float, )
__OPKIT_NARROW_VECTORS(__OPKIT_ILOGB_HALF, half, )

/*
 * A second result, of the same type: a + a == a is true of zeros and infinities, which have no
 * fraction but a sign.
 */
#define __OPKIT_TWO_RESULTS(T, below_one)                          \
    __OPKIT_FUNCTION T fract(T a, T *whole)                        \
    {                                                              \
        *whole = floor(a);                                         \
        T part = min(a - *whole, (T)below_one);                    \
        return a + a == a ? copysign((T)0, a) : a != a ? a : part; \
    }                                                              \
    __OPKIT_FUNCTION T modf(T a, T *whole)                         \
    {                                                              \
        *whole = trunc(a);                                         \
        return copysign(a + a == a ? (T)0 : a - *whole, a);        \
    }                                                              \
    __OPKIT_FUNCTION T sincos(T a, T *cosine)                      \
    {                                                              \
        *cosine = cos(a);                                          \
        return sin(a);                                             \
    }
#define __OPKIT_TWO_RESULTS_VECTOR(V, T, lanes, below_one) __OPKIT_TWO_RESULTS(V, below_one)
__OPKIT_TWO_RESULTS(float, 0x1.fffffep-1f)
__OPKIT_TWO_RESULTS(half, 0x1.ffcp-1f)
__OPKIT_TWO_RESULTS(__opkit_plain_half, 0x1.ffcp-1f)
__OPKIT_WIDE_VECTORS(__OPKIT_TWO_RESULTS_VECTOR, float, 0x1.fffffep-1f)
__OPKIT_NARROW_VECTORS(__OPKIT_TWO_RESULTS_VECTOR, half, 0x1.ffcp-1f)

/* A second result that is an integer. */
#define __OPKIT_AND_INTEGER_SCALAR(T, _)                        \
    __OPKIT_FUNCTION T frexp(T a, int *exponent)                \
    {                                                           \
        return (T)__opkit_frexp((float)a, exponent);            \
    }                                                           \
    __OPKIT_FUNCTION T lgamma_r(T a, int *sign_of_gamma)        \
    {                                                           \
        return (T)__opkit_lgamma_r((float)a, sign_of_gamma);    \
    }                                                           \
    __OPKIT_FUNCTION T remquo(T a, T b, int *quotient)          \
    {                                                           \
        return (T)__opkit_remquo((float)a, (float)b, quotient); \
    }
#define __OPKIT_AND_INTEGER_VECTOR(V, T, lanes, _)                        \
    __OPKIT_FUNCTION V frexp(V a, int##lanes *exponent)                   \
    {                                                                     \
        V result;                                                         \
        for (int i = 0; i < lanes; i++) {                                 \
            result[i] = __opkit_frexp(a[i], (int *)exponent + i);         \
        }                                                                 \
        return result;                                                    \
    }                                                                     \
    __OPKIT_FUNCTION V lgamma_r(V a, int##lanes *sign_of_gamma)           \
    {                                                                     \
        V result;                                                         \
        for (int i = 0; i < lanes; i++) {                                 \
            result[i] = __opkit_lgamma_r(a[i], (int *)sign_of_gamma + i); \
        }                                                                 \
        return result;                                                    \
    }                                                                     \
    __OPKIT_FUNCTION V remquo(V a, V b, int##lanes *quotient)             \
    {                                                                     \
        V result;                                                         \
        for (int i = 0; i < lanes; i++) {                                 \
            result[i] = __opkit_remquo(a[i], b[i], (int *)quotient + i);  \
        }                                                                 \
        return result;                                                    \
    }
#define __OPKIT_AND_INTEGER_HALF(V, T, lanes, _)                                            \
    __OPKIT_FUNCTION V frexp(V a, int##lanes *exponent)                                     \
    {                                                                                       \
        return __OPKIT_TO(V, frexp(__OPKIT_TO(float##lanes, a), exponent));                 \
    }                                                                                       \
    __OPKIT_FUNCTION V lgamma_r(V a, int##lanes *sign_of_gamma)                             \
    {                                                                                       \
        return __OPKIT_TO(V, lgamma_r(__OPKIT_TO(float##lanes, a), sign_of_gamma));         \
    }                                                                                       \
    __OPKIT_FUNCTION V remquo(V a, V b, int##lanes *quotient)                               \
    {                                                                                       \
        return __OPKIT_TO(                                                                  \
            V, remquo(__OPKIT_TO(float##lanes, a), __OPKIT_TO(float##lanes, b), quotient)); \
    }
__OPKIT_FLOAT_SCALARS(__OPKIT_AND_INTEGER_SCALAR, )
__OPKIT_WIDE_VECTORS(__OPKIT_AND_INTEGER_VECTOR, float, )
__OPKIT_NARROW_VECTORS(__OPKIT_AND_INTEGER_HALF, half, )

/*
 * Geometry, for scalars and vectors of up to four elements. A sum of squares of floats neither
 * overflows as double nor vanishes.
 */
#define __OPKIT_GEOMETRY_OF(V, T)              \
    __OPKIT_FUNCTION T distance(V a, V b)      \
    {                                          \
        return length(a - b);                  \
    }                                          \
    __OPKIT_FUNCTION T fast_length(V a)        \
    {                                          \
        return length(a);                      \
    }                                          \
    __OPKIT_FUNCTION T fast_distance(V a, V b) \
    {                                          \
        return length(a - b);                  \
    }                                          \
    __OPKIT_FUNCTION V fast_normalize(V a)     \
    {                                          \
        return normalize(a);                   \
    }
#define __OPKIT_GEOMETRY_SCALAR(T, _) \
    __OPKIT_FUNCTION T dot(T a, T b)  \
    {                                 \
        return a * b;                 \
    }                                 \
    __OPKIT_FUNCTION T length(T a)    \
    {                                 \
        return fabs(a);               \
    }                                 \
    __OPKIT_FUNCTION T normalize(T a) \
    {                                 \
        return a != a ? a : sign(a);  \
    }                                 \
    __OPKIT_GEOMETRY_OF(T, T)
#define __OPKIT_GEOMETRY(V, T, lanes, _)                                                  \
    __OPKIT_FUNCTION T dot(V a, V b)                                                      \
    {                                                                                     \
        float sum = 0;                                                                    \
        for (int i = 0; i < lanes; i++) {                                                 \
            sum += (float)a[i] * (float)b[i];                                             \
        }                                                                                 \
        return (T)sum;                                                                    \
    }                                                                                     \
    __OPKIT_FUNCTION double __opkit_length(V a)                                           \
    {                                                                                     \
        double sum = 0;                                                                   \
        for (int i = 0; i < lanes; i++) {                                                 \
            sum += (double)a[i] * (double)a[i];                                           \
        }                                                                                 \
        return __builtin_sqrt(sum);                                                       \
    }                                                                                     \
    __OPKIT_FUNCTION T length(V a)                                                        \
    {                                                                                     \
        return (T)__opkit_length(a);                                                      \
    }                                                                                     \
    /* An infinite component counts as 1, and what is finite beside it as 0. */           \
    __OPKIT_FUNCTION V normalize(V a)                                                     \
    {                                                                                     \
        double size = __opkit_length(a);                                                  \
        if (__builtin_isinf(size)) {                                                      \
            for (int i = 0; i < lanes; i++) {                                             \
                a[i] = (T)__builtin_copysignf(__builtin_isinf((float)a[i]) ? 1.0f : 0.0f, \
                                              (float)a[i]);                               \
            }                                                                             \
            size = __opkit_length(a);                                                     \
        }                                                                                 \
        return size == 0 ? a : __OPKIT_TO(V, __OPKIT_TO(double##lanes, a) / size);        \
    }                                                                                     \
    __OPKIT_GEOMETRY_OF(V, T)
__OPKIT_FLOAT_SCALARS(__OPKIT_GEOMETRY_SCALAR, )
__OPKIT_FLOAT_PAIRS(__OPKIT_PAIR_BINARY, dot)
__OPKIT_FLOAT_PAIRS(__OPKIT_PAIR_BINARY, distance)
__OPKIT_LANES(__OPKIT_GEOMETRY, float, float, )
__OPKIT_LANES(__OPKIT_GEOMETRY, half, half, )
__OPKIT_LANES(__OPKIT_GEOMETRY, vxc_half, half, )
#define __OPKIT_CROSS(name)                                 \
    __OPKIT_FUNCTION name##3 cross(name##3 a, name##3 b)    \
    {                                                       \
        return a.yzx * b.zxy - a.zxy * b.yzx;               \
    }                                                       \
    __OPKIT_FUNCTION name##4 cross(name##4 a, name##4 b)    \
    {                                                       \
        name##4 result = a.yzxw * b.zxyw - a.zxyw * b.yzxw; \
        result.w = 0;                                       \
        return result;                                      \
    }
__OPKIT_CROSS(float)
__OPKIT_CROSS(half)
__OPKIT_CROSS(vxc_half)

/* A quotient of integers is one of floats. */
#define __OPKIT_DIVIDE(V, T, lanes, _)          \
    __OPKIT_FUNCTION V __opkit_divide(V a, V b) \
    {                                           \
        return a / b;                           \
    }
#define __OPKIT_DIVIDE_SCALAR(T, _) __OPKIT_DIVIDE(T, T, 1, )
__OPKIT_FLOAT_SCALARS(__OPKIT_DIVIDE_SCALAR, )
__OPKIT_FLOAT_VECTORS(__OPKIT_DIVIDE, )
__OPKIT_FLOAT_PAIRS(__OPKIT_PAIR_BINARY, __opkit_divide)
#define __OPKIT_DIVIDE_INTEGERS(T, _)                   \
    __OPKIT_FUNCTION float __opkit_divide(T a, T b)     \
    {                                                   \
        return (float)a / (float)b;                     \
    }                                                   \
    __OPKIT_FUNCTION float __opkit_divide(float a, T b) \
    {                                                   \
        return a / (float)b;                            \
    }                                                   \
    __OPKIT_FUNCTION float __opkit_divide(T a, float b) \
    {                                                   \
        return (float)a / b;                            \
    }
__OPKIT_INTEGER_SCALARS(__OPKIT_DIVIDE_INTEGERS, )

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
#define native_divide __opkit_divide
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
#define half_divide __opkit_divide
#define half_recip(a) (1.0f / (a))
