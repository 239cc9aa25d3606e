/*
 * Functions that kernels call. Their names are the prelude's, so a kernel may have the name of a
 * library's function.
 */
#include <math.h>

#include "runtime.h"

#define PI 3.14159265358979323846

#define UNARY(name, expression)     \
    float __opkit_##name(float a)   \
    {                               \
        return (float)(expression); \
    }
#define BINARY(name, expression)           \
    float __opkit_##name(float a, float b) \
    {                                      \
        return (float)(expression);        \
    }
#define WITH_INTEGER(name, expression)   \
    float __opkit_##name(float a, int b) \
    {                                    \
        return (float)(expression);      \
    }

/* sin(pi * (a + shift)), exact at whole and half numbers. */
static double sine_of_turns(double a, double shift)
{
    double turn = fmod(fmod(a, 2) + shift, 2); /* a whole turn is 2 */
    double angle = fabs(turn) > 1 ? fabs(turn) - 1 : fabs(turn);
    double sine = angle == 1 ? 0 : sin(PI * (angle > 0.5 ? 1 - angle : angle));

    if (sine == 0) {
        return shift == 0 ? copysign(0, a) : 0;
    }
    return (fabs(turn) > 1) != (turn < 0) ? -sine : sine;
}

/*
 * tan(pi * a): at whole numbers a zero, in the middle between two an infinity, whose signs
 * alternate.
 */
static double tangent_of_turns(double a)
{
    double turn = fmod(a, 2);
    double size = fabs(turn);

    if (size == 0 || size == 1) {
        return copysign(0, size == 0 ? a : -a);
    }
    if (size == 0.5 || size == 1.5) {
        return copysign(INFINITY, size == 0.5 ? a : -a);
    }
    return tan(PI * turn);
}

/* pow where it is exp(b * log(a)): not for a negative a, and not for what has no limit. */
static double power_of_positive(double a, double b)
{
    if (isnan(a) || isnan(b) || a < 0 || (b == 0 && (a == 0 || isinf(a))) || (a == 1 && isinf(b))) {
        return NAN;
    }
    return pow(fabs(a), b);
}

/* The root number b, which a negative number has if b is odd. */
static double root(double a, int b)
{
    if (b == 0 || (b % 2 == 0 && a < 0)) {
        return NAN;
    }
    return b % 2 != 0 ? copysign(pow(fabs(a), 1.0 / b), a) : pow(fabs(a), 1.0 / b);
}

UNARY(exp, expf(a))
UNARY(exp2, exp2f(a))
UNARY(exp10, pow(10, a))
UNARY(expm1, expm1f(a))
UNARY(log, logf(a))
UNARY(log2, log2f(a))
UNARY(log10, log10f(a))
UNARY(log1p, log1pf(a))
UNARY(logb, logbf(a))
UNARY(cbrt, cbrtf(a))
UNARY(sin, sinf(a))
UNARY(cos, cosf(a))
UNARY(tan, tanf(a))
UNARY(asin, asinf(a))
UNARY(acos, acosf(a))
UNARY(atan, atanf(a))
UNARY(sinh, sinhf(a))
UNARY(cosh, coshf(a))
UNARY(tanh, tanhf(a))
UNARY(asinh, asinhf(a))
UNARY(acosh, acoshf(a))
UNARY(atanh, atanhf(a))
UNARY(sinpi, sine_of_turns(a, 0))
UNARY(cospi, sine_of_turns(fabs((double)a), 0.5))
UNARY(tanpi, tangent_of_turns(a))
UNARY(asinpi, asin(a) / PI)
UNARY(acospi, acos(a) / PI)
UNARY(atanpi, atan(a) / PI)
UNARY(erf, erff(a))
UNARY(erfc, erfcf(a))
UNARY(tgamma, tgammaf(a))
UNARY(lgamma, lgammaf(a))
UNARY(round, roundf(a))
BINARY(pow, powf(a, b))
BINARY(powr, power_of_positive(a, b))
BINARY(fmod, fmodf(a, b))
BINARY(remainder, remainderf(a, b))
BINARY(atan2, atan2f(a, b))
BINARY(atan2pi, atan2(a, b) / PI)
BINARY(hypot, hypotf(a, b))
WITH_INTEGER(ldexp, ldexpf(a, b))
WITH_INTEGER(pown, pow(a, b))
WITH_INTEGER(rootn, root(a, b))

float __opkit_fma(float a, float b, float c)
{
    return fmaf(a, b, c);
}

int __opkit_ilogb(float a)
{
    return ilogbf(a);
}

float __opkit_frexp(float a, int *exponent)
{
    *exponent = 0;
    return frexpf(a, exponent);
}

/* Where gamma has no sign, at 0 and at the negative integers, OpenCL's is 0. */
float __opkit_lgamma_r(float a, int *sign_of_gamma)
{
    float value = lgammaf_r(a, sign_of_gamma);
    if (a <= 0 && floorf(a) == a) {
        *sign_of_gamma = 0;
    }
    return value;
}

/*
 * The quotient is the nearest whole number, of which the lowest seven bits are returned, with its
 * sign.
 */
float __opkit_remquo(float a, float b, int *quotient)
{
    double size = fabs((double)b);
    double rest = fmod(fabs((double)a), 128 * size);
    float result = remainderf(a, b);

    *quotient = 0;
    if (!isnan(result) && !isinf(b)) {
        int whole = (int)rint((rest - remainder(rest, size)) / size) & 127;
        *quotient = signbit(a) != signbit(b) ? -whole : whole;
    }
    return result;
}
