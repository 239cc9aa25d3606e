/*
 * The mathematics of OpenCL 1.2 for float and half, scalars and vectors. A vector's is its elements'; half is computed as float.
 *
 * A call with double finds no function, or as many for float as for half: it is an error, not computed as float.
 */

/* name(a), name(a, b), name(a, b, c) from vx_name for one float; long vectors by halves, which the compiler reads faster than loops. */
#define VX_PART_UNARY(name, part) name(a.part)
#define VX_PART_BINARY(name, part) name(a.part, b.part)
#define VX_PART_TERNARY(name, part) name(a.part, b.part, c.part)
#define VX_PARTS_2(V, PART, name) (V)(PART(vx_##name, s0), PART(vx_##name, s1))
#define VX_PARTS_3(V, PART, name) (V)(PART(vx_##name, s0), PART(vx_##name, s1), PART(vx_##name, s2))
#define VX_PARTS_4(V, PART, name) (V)(PART(vx_##name, s0), PART(vx_##name, s1), PART(vx_##name, s2), PART(vx_##name, s3))
#define VX_PARTS_8(V, PART, name) (V)(PART(name, lo), PART(name, hi))
#define VX_PARTS_16(V, PART, name) (V)(PART(name, lo), PART(name, hi))
#define VX_UNARY_SCALAR(T, name)       \
    VX_FUNCTION T name(T a)            \
    {                                  \
        return (T)vx_##name((float)a); \
    }
#define VX_UNARY_VECTOR(V, T, lanes, name)               \
    VX_FUNCTION V name(V a)                              \
    {                                                    \
        return VX_PARTS_##lanes(V, VX_PART_UNARY, name); \
    }
#define VX_BINARY_SCALAR(T, name)                \
    VX_FUNCTION T name(T a, T b)                 \
    {                                            \
        return (T)vx_##name((float)a, (float)b); \
    }
#define VX_BINARY_VECTOR(V, T, lanes, name)               \
    VX_FUNCTION V name(V a, V b)                          \
    {                                                     \
        return VX_PARTS_##lanes(V, VX_PART_BINARY, name); \
    }
#define VX_TERNARY_SCALAR(T, name)                         \
    VX_FUNCTION T name(T a, T b, T c)                      \
    {                                                      \
        return (T)vx_##name((float)a, (float)b, (float)c); \
    }
#define VX_TERNARY_VECTOR(V, T, lanes, name)               \
    VX_FUNCTION V name(V a, V b, V c)                      \
    {                                                      \
        return VX_PARTS_##lanes(V, VX_PART_TERNARY, name); \
    }

/* Vectors of half, by way of float. */
#define VX_TO(V, value) __builtin_convertvector(value, V)
#define VX_UNARY_HALF(V, T, lanes, name)               \
    VX_FUNCTION V name(V a)                            \
    {                                                  \
        return VX_TO(V, name(VX_TO(float##lanes, a))); \
    }
#define VX_BINARY_HALF(V, T, lanes, name)                                      \
    VX_FUNCTION V name(V a, V b)                                               \
    {                                                                          \
        return VX_TO(V, name(VX_TO(float##lanes, a), VX_TO(float##lanes, b))); \
    }
#define VX_TERNARY_HALF(V, T, lanes, name)                                                             \
    VX_FUNCTION V name(V a, V b, V c)                                                                  \
    {                                                                                                  \
        return VX_TO(V, name(VX_TO(float##lanes, a), VX_TO(float##lanes, b), VX_TO(float##lanes, c))); \
    }
#define VX_FLOAT(arity, name)                         \
    VX_FLOAT_SCALARS(VX_##arity##_SCALAR, name)       \
    VX_WIDE_VECTORS(VX_##arity##_VECTOR, float, name) \
    VX_NARROW_VECTORS(VX_##arity##_HALF, half, name)

/* These are the runtime's, under names that no kernel has. */
#define VX_LIBRARY_UNARY(name) \
    float vx_##name(float);    \
    VX_FLOAT(UNARY, name)
#define VX_LIBRARY_BINARY(name)    \
    float vx_##name(float, float); \
    VX_FLOAT(BINARY, name)
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

#define VX_ELEMENT_UNARY(name, expression) \
    VX_FUNCTION float vx_##name(float a)   \
    {                                      \
        return expression;                 \
    }                                      \
    VX_FLOAT(UNARY, name)
VX_ELEMENT_UNARY(fabs, __builtin_fabsf(a))
VX_ELEMENT_UNARY(sqrt, __builtin_sqrtf(a))
VX_ELEMENT_UNARY(rsqrt, 1.0f / __builtin_sqrtf(a))
VX_ELEMENT_UNARY(floor, __builtin_floorf(a))
VX_ELEMENT_UNARY(ceil, __builtin_ceilf(a))
VX_ELEMENT_UNARY(trunc, __builtin_truncf(a))
VX_ELEMENT_UNARY(rint, __builtin_rintf(a))
VX_ELEMENT_UNARY(degrees, a * 57.295779513082320877f)
VX_ELEMENT_UNARY(radians, a * 0.017453292519943295769f)

#define VX_ELEMENT_BINARY(name, expression)       \
    VX_FUNCTION float vx_##name(float a, float b) \
    {                                             \
        return expression;                        \
    }
#define VX_ELEMENT_TERNARY(name, expression)               \
    VX_FUNCTION float vx_##name(float a, float b, float c) \
    {                                                      \
        return expression;                                 \
    }
VX_ELEMENT_BINARY(copysign, __builtin_copysignf(a, b))
VX_ELEMENT_BINARY(fmin, a < b || b != b ? a : b)
VX_ELEMENT_BINARY(fmax, a > b || b != b ? a : b)
VX_ELEMENT_TERNARY(mad, a *b + c)
VX_ELEMENT_TERNARY(mix, a + (b - a) * c)
VX_FUNCTION float vx_smoothstep(float low, float high, float x)
{
    float t = vx_fmin(vx_fmax((x - low) / (high - low), 0.0f), 1.0f);
    return t * t * (3.0f - 2.0f * t);
}
VX_FLOAT(BINARY, copysign)
VX_FLOAT(TERNARY, mad)
VX_FLOAT(TERNARY, mix)
VX_FLOAT(TERNARY, smoothstep)

/* The product of two halves and a third one are exact as double. */
float vx_fma(float, float, float);
VX_FUNCTION float fma(float a, float b, float c)
{
    return vx_fma(a, b, c);
}
VX_WIDE_VECTORS(VX_TERNARY_VECTOR, float, fma)
#define VX_FMA_HALF(T, _)                              \
    VX_FUNCTION T fma(T a, T b, T c)                   \
    {                                                  \
        return (T)((double)a * (double)b + (double)c); \
    }
#define VX_FMA_HALVES(V, T, lanes, _)                                                                 \
    VX_FUNCTION V fma(V a, V b, V c)                                                                  \
    {                                                                                                 \
        return VX_TO(V, VX_TO(double##lanes, a) * VX_TO(double##lanes, b) + VX_TO(double##lanes, c)); \
    }
VX_FMA_HALF(half, )
VX_FMA_HALF(vx_small_half, )
VX_NARROW_VECTORS(VX_FMA_HALVES, half, )

/* What operators do is the same for scalars and vectors: T is either. A comparison of vectors chooses element by element. */
#define VX_ALL(number) ((__typeof__(a))(number))
#define VX_OPERATOR_UNARY(T, name, expression) \
    VX_FUNCTION T name(T a)                    \
    {                                          \
        return (T)(expression);                \
    }
#define VX_OPERATOR_BINARY(T, name, expression) \
    VX_FUNCTION T name(T a, T b)                \
    {                                           \
        return (T)(expression);                 \
    }
#define VX_OPERATOR_TERNARY(T, name, expression) \
    VX_FUNCTION T name(T a, T b, T c)            \
    {                                            \
        return (T)(expression);                  \
    }
#define VX_OPERATOR_UNARY_VECTOR(V, T, lanes, name, expression) VX_OPERATOR_UNARY(V, name, expression)
#define VX_OPERATOR_BINARY_VECTOR(V, T, lanes, name, expression) VX_OPERATOR_BINARY(V, name, expression)
#define VX_OPERATOR_TERNARY_VECTOR(V, T, lanes, name, expression) VX_OPERATOR_TERNARY(V, name, expression)
#define VX_BY_OPERATORS(kind, arity, name, expression)         \
    VX_##kind##_SCALARS(VX_OPERATOR_##arity, name, expression) \
        VX_##kind##_VECTORS(VX_OPERATOR_##arity##_VECTOR, name, expression)

/* One scalar may stand for all elements of some arguments: the second, the first, the last, ... */
#define VX_SECOND_MIXED(V, T, lanes, name, expression) \
    VX_FUNCTION V name(V a, T scalar)                  \
    {                                                  \
        V b = (V)scalar;                               \
        return expression;                             \
    }
#define VX_FIRST_MIXED(V, T, lanes, name, expression) \
    VX_FUNCTION V name(T scalar, V b)                 \
    {                                                 \
        V a = (V)scalar;                              \
        return expression;                            \
    }
#define VX_LAST_TWO_MIXED(V, T, lanes, name, expression) \
    VX_FUNCTION V name(V a, T low, T high)               \
    {                                                    \
        V b = (V)low, c = (V)high;                       \
        return expression;                               \
    }
#define VX_LAST_MIXED(V, T, lanes, name) \
    VX_FUNCTION V name(V a, V b, T c)    \
    {                                    \
        return name(a, b, (V)c);         \
    }
#define VX_FIRST_TWO_MIXED(V, T, lanes, name) \
    VX_FUNCTION V name(T a, T b, V c)         \
    {                                         \
        return name((V)a, (V)b, c);           \
    }
#define VX_BY_OPERATORS_MIXED(kind, arity, which, name, expression) \
    VX_BY_OPERATORS(kind, arity, name, expression)                  \
    VX_##kind##_MIXED(VX_##which##_MIXED, name, expression)

VX_BY_OPERATORS(FLOAT, UNARY, sign, a > VX_ALL(0) ? VX_ALL(1) : a < VX_ALL(0) ? VX_ALL(-1)
                                                            : a == a          ? a
                                                                              : VX_ALL(0))
VX_BY_OPERATORS_MIXED(FLOAT, BINARY, SECOND, fmin, ((a < b) | (b != b)) ? a : b)
VX_BY_OPERATORS_MIXED(FLOAT, BINARY, SECOND, fmax, ((a > b) | (b != b)) ? a : b)
VX_BY_OPERATORS(FLOAT, BINARY, fdim, a <= b ? VX_ALL(0) : a - b)
VX_BY_OPERATORS_MIXED(FLOAT, BINARY, FIRST, step, b < a ? VX_ALL(0) : VX_ALL(1))
VX_BY_OPERATORS(FLOAT, BINARY, maxmag, fabs(a) > fabs(b) ? a : fabs(b) > fabs(a) ? b
                                                                                 : fmax(a, b))
VX_BY_OPERATORS(FLOAT, BINARY, minmag, fabs(a) < fabs(b) ? a : fabs(b) < fabs(a) ? b
                                                                                 : fmin(a, b))
VX_FLOAT_MIXED(VX_LAST_MIXED, mix)
VX_FLOAT_MIXED(VX_FIRST_TWO_MIXED, smoothstep)

/* min, max and clamp are for all types; of floating-point NaN, OpenCL leaves the result open. */
VX_BY_OPERATORS_MIXED(FLOAT, BINARY, SECOND, min, b < a ? b : a)
VX_BY_OPERATORS_MIXED(FLOAT, BINARY, SECOND, max, a < b ? b : a)
VX_BY_OPERATORS_MIXED(FLOAT, TERNARY, LAST_TWO, clamp, a<b ? b : a> c ? c : a)

/* The next number: its bits, not its value, are computed. */
#define VX_NEXTAFTER(T)                                                    \
    VX_FUNCTION T vx_nextafter(T a, T b)                                   \
    {                                                                      \
        return a != a || b != b ? a + b : a == b ? b                       \
                                                 : vx_neighbour(a, a < b); \
    }
VX_NEXTAFTER(float)
VX_NEXTAFTER(half)
#define VX_NEXTAFTER_SCALAR(T, type)              \
    VX_FUNCTION T nextafter(T a, T b)             \
    {                                             \
        return (T)vx_nextafter((type)a, (type)b); \
    }
#define VX_NEXTAFTER_VECTOR(V, T, lanes, type)                   \
    VX_FUNCTION V nextafter(V a, V b)                            \
    {                                                            \
        V result;                                                \
        for (int i = 0; i < lanes; i++) {                        \
            result[i] = (T)vx_nextafter((type)a[i], (type)b[i]); \
        }                                                        \
        return result;                                           \
    }
VX_NEXTAFTER_SCALAR(float, float)
VX_NEXTAFTER_SCALAR(half, half)
VX_NEXTAFTER_SCALAR(vx_small_half, half)
VX_WIDE_VECTORS(VX_NEXTAFTER_VECTOR, float, float)
VX_NARROW_VECTORS(VX_NEXTAFTER_VECTOR, half, half)

/* A NaN that carries a number. */
#define VX_NAN(T, bits, quiet, payload)                                             \
    VX_FUNCTION T nan(bits number)                                                  \
    {                                                                               \
        return __builtin_astype((bits)((number & (bits)payload) | (bits)quiet), T); \
    }
#define VX_NAN_VECTOR(V, T, lanes, bits, quiet, payload) VX_NAN(V, bits##lanes, quiet, payload)
VX_NAN(float, uint, 0x7fc00000, 0x3fffff)
VX_NAN(half, ushort, 0x7e00, 0x1ff)
VX_WIDE_VECTORS(VX_NAN_VECTOR, float, uint, 0x7fc00000, 0x3fffff)
VX_LANES(VX_NAN_VECTOR, half, vx_small_half, ushort, 0x7e00, 0x1ff)
VX_LANES(VX_NAN_VECTOR, vxc_half, half, vxc_ushort, 0x7e00, 0x1ff)
VX_LONG_LANES(VX_NAN_VECTOR, half, half, ushort, 0x7e00, 0x1ff)

/* With an integer, or with integers. */
#define VX_WITH_INTEGER_SCALAR(T, name)   \
    VX_FUNCTION T name(T a, int b)        \
    {                                     \
        return (T)vx_##name((float)a, b); \
    }
#define VX_WITH_INTEGER_VECTOR(V, T, lanes, name)         \
    VX_FUNCTION V name(V a, int##lanes b)                 \
    {                                                     \
        return VX_PARTS_##lanes(V, VX_PART_BINARY, name); \
    }
#define VX_WITH_INTEGER_HALF(V, T, lanes, name)           \
    VX_FUNCTION V name(V a, int##lanes b)                 \
    {                                                     \
        return VX_TO(V, name(VX_TO(float##lanes, a), b)); \
    }
#define VX_WITH_INTEGER_MIXED(V, T, lanes, name) \
    VX_FUNCTION V name(V a, int b)               \
    {                                            \
        return name(a, (int##lanes)b);           \
    }
#define VX_WITH_INTEGER(name)                            \
    float vx_##name(float, int);                         \
    VX_FLOAT_SCALARS(VX_WITH_INTEGER_SCALAR, name)       \
    VX_WIDE_VECTORS(VX_WITH_INTEGER_VECTOR, float, name) \
    VX_NARROW_VECTORS(VX_WITH_INTEGER_HALF, half, name)  \
    VX_FLOAT_VECTORS(VX_WITH_INTEGER_MIXED, name)
VX_WITH_INTEGER(ldexp)
VX_WITH_INTEGER(pown)
VX_WITH_INTEGER(rootn)

int vx_ilogb(float);
#define VX_ILOGB_SCALAR(T, _)      \
    VX_FUNCTION int ilogb(T a)     \
    {                              \
        return vx_ilogb((float)a); \
    }
#define VX_ILOGB_VECTOR(V, T, lanes, _)   \
    VX_FUNCTION int##lanes ilogb(V a)     \
    {                                     \
        int##lanes result;                \
        for (int i = 0; i < lanes; i++) { \
            result[i] = vx_ilogb(a[i]);   \
        }                                 \
        return result;                    \
    }
#define VX_ILOGB_HALF(V, T, lanes, _)         \
    VX_FUNCTION int##lanes ilogb(V a)         \
    {                                         \
        return ilogb(VX_TO(float##lanes, a)); \
    }
VX_FLOAT_SCALARS(VX_ILOGB_SCALAR, )
VX_WIDE_VECTORS(VX_ILOGB_VECTOR, float, )
VX_NARROW_VECTORS(VX_ILOGB_HALF, half, )

/* A second result, of the same type: a + a == a is true of zeros and infinities, which have no fraction but a sign. */
#define VX_TWO_RESULTS(T, below_one)                           \
    VX_FUNCTION T fract(T a, T *whole)                         \
    {                                                          \
        *whole = floor(a);                                     \
        T part = min(a - *whole, (T)below_one);                \
        return a + a == a ? copysign((T)0, a) : a != a ? a     \
                                                       : part; \
    }                                                          \
    VX_FUNCTION T modf(T a, T *whole)                          \
    {                                                          \
        *whole = trunc(a);                                     \
        return copysign(a + a == a ? (T)0 : a - *whole, a);    \
    }                                                          \
    VX_FUNCTION T sincos(T a, T *cosine)                       \
    {                                                          \
        *cosine = cos(a);                                      \
        return sin(a);                                         \
    }
#define VX_TWO_RESULTS_VECTOR(V, T, lanes, below_one) VX_TWO_RESULTS(V, below_one)
VX_TWO_RESULTS(float, 0x1.fffffep-1f)
VX_TWO_RESULTS(half, 0x1.ffcp-1f)
VX_TWO_RESULTS(vx_small_half, 0x1.ffcp-1f)
VX_WIDE_VECTORS(VX_TWO_RESULTS_VECTOR, float, 0x1.fffffep-1f)
VX_NARROW_VECTORS(VX_TWO_RESULTS_VECTOR, half, 0x1.ffcp-1f)

/* A second result that is an integer. */
float vx_frexp(float, int *);
float vx_lgamma_r(float, int *);
float vx_remquo(float, float, int *);
#define VX_AND_INTEGER_SCALAR(T, _)                        \
    VX_FUNCTION T frexp(T a, int *exponent)                \
    {                                                      \
        return (T)vx_frexp((float)a, exponent);            \
    }                                                      \
    VX_FUNCTION T lgamma_r(T a, int *sign_of_gamma)        \
    {                                                      \
        return (T)vx_lgamma_r((float)a, sign_of_gamma);    \
    }                                                      \
    VX_FUNCTION T remquo(T a, T b, int *quotient)          \
    {                                                      \
        return (T)vx_remquo((float)a, (float)b, quotient); \
    }
#define VX_AND_INTEGER_VECTOR(V, T, lanes, _)                        \
    VX_FUNCTION V frexp(V a, int##lanes *exponent)                   \
    {                                                                \
        V result;                                                    \
        for (int i = 0; i < lanes; i++) {                            \
            result[i] = vx_frexp(a[i], (int *)exponent + i);         \
        }                                                            \
        return result;                                               \
    }                                                                \
    VX_FUNCTION V lgamma_r(V a, int##lanes *sign_of_gamma)           \
    {                                                                \
        V result;                                                    \
        for (int i = 0; i < lanes; i++) {                            \
            result[i] = vx_lgamma_r(a[i], (int *)sign_of_gamma + i); \
        }                                                            \
        return result;                                               \
    }                                                                \
    VX_FUNCTION V remquo(V a, V b, int##lanes *quotient)             \
    {                                                                \
        V result;                                                    \
        for (int i = 0; i < lanes; i++) {                            \
            result[i] = vx_remquo(a[i], b[i], (int *)quotient + i);  \
        }                                                            \
        return result;                                               \
    }
#define VX_AND_INTEGER_HALF(V, T, lanes, _)                                                \
    VX_FUNCTION V frexp(V a, int##lanes *exponent)                                         \
    {                                                                                      \
        return VX_TO(V, frexp(VX_TO(float##lanes, a), exponent));                          \
    }                                                                                      \
    VX_FUNCTION V lgamma_r(V a, int##lanes *sign_of_gamma)                                 \
    {                                                                                      \
        return VX_TO(V, lgamma_r(VX_TO(float##lanes, a), sign_of_gamma));                  \
    }                                                                                      \
    VX_FUNCTION V remquo(V a, V b, int##lanes *quotient)                                   \
    {                                                                                      \
        return VX_TO(V, remquo(VX_TO(float##lanes, a), VX_TO(float##lanes, b), quotient)); \
    }
VX_FLOAT_SCALARS(VX_AND_INTEGER_SCALAR, )
VX_WIDE_VECTORS(VX_AND_INTEGER_VECTOR, float, )
VX_NARROW_VECTORS(VX_AND_INTEGER_HALF, half, )

/* Geometry, for scalars and vectors of up to four elements. A sum of squares of floats neither overflows as double nor vanishes. */
#define VX_GEOMETRY_OF(V, T)              \
    VX_FUNCTION T distance(V a, V b)      \
    {                                     \
        return length(a - b);             \
    }                                     \
    VX_FUNCTION T fast_length(V a)        \
    {                                     \
        return length(a);                 \
    }                                     \
    VX_FUNCTION T fast_distance(V a, V b) \
    {                                     \
        return length(a - b);             \
    }                                     \
    VX_FUNCTION V fast_normalize(V a)     \
    {                                     \
        return normalize(a);              \
    }
#define VX_GEOMETRY_SCALAR(T, _)     \
    VX_FUNCTION T dot(T a, T b)      \
    {                                \
        return a * b;                \
    }                                \
    VX_FUNCTION T length(T a)        \
    {                                \
        return fabs(a);              \
    }                                \
    VX_FUNCTION T normalize(T a)     \
    {                                \
        return a != a ? a : sign(a); \
    }                                \
    VX_GEOMETRY_OF(T, T)
#define VX_GEOMETRY(V, T, lanes, _)                                      \
    VX_FUNCTION T dot(V a, V b)                                          \
    {                                                                    \
        float sum = 0;                                                   \
        for (int i = 0; i < lanes; i++) {                                \
            sum += (float)a[i] * (float)b[i];                            \
        }                                                                \
        return (T)sum;                                                   \
    }                                                                    \
    VX_FUNCTION double vx_length(V a)                                    \
    {                                                                    \
        double sum = 0;                                                  \
        for (int i = 0; i < lanes; i++) {                                \
            sum += (double)a[i] * (double)a[i];                          \
        }                                                                \
        return __builtin_sqrt(sum);                                      \
    }                                                                    \
    VX_FUNCTION T length(V a)                                            \
    {                                                                    \
        return (T)vx_length(a);                                          \
    }                                                                    \
    VX_FUNCTION V normalize(V a)                                         \
    {                                                                    \
        double size = vx_length(a);                                      \
        return size == 0 ? a : VX_TO(V, VX_TO(double##lanes, a) / size); \
    }                                                                    \
    VX_GEOMETRY_OF(V, T)
VX_FLOAT_SCALARS(VX_GEOMETRY_SCALAR, )
VX_LANES(VX_GEOMETRY, float, float, )
VX_LANES(VX_GEOMETRY, half, half, )
VX_LANES(VX_GEOMETRY, vxc_half, half, )
#define VX_CROSS(name)                                      \
    VX_FUNCTION name##3 cross(name##3 a, name##3 b)         \
    {                                                       \
        return a.yzx * b.zxy - a.zxy * b.yzx;               \
    }                                                       \
    VX_FUNCTION name##4 cross(name##4 a, name##4 b)         \
    {                                                       \
        name##4 result = a.yzxw * b.zxyw - a.zxyw * b.yzxw; \
        result.w = 0;                                       \
        return result;                                      \
    }
VX_CROSS(float)
VX_CROSS(half)
VX_CROSS(vxc_half)

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
