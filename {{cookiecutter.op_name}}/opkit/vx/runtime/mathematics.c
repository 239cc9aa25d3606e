/* Functions that kernels call. Their names are the prelude's, so a kernel may have the name of a library's function. */
#include <math.h>

#include "runtime.h"

#define PI 3.14159265358979323846

#define UNARY(name, expression)     \
    float vx_##name(float a);       \
    float vx_##name(float a)        \
    {                               \
        return (float)(expression); \
    }
#define BINARY(name, expression)       \
    float vx_##name(float a, float b); \
    float vx_##name(float a, float b)  \
    {                                  \
        return (float)(expression);    \
    }
#define WITH_INTEGER(name, expression) \
    float vx_##name(float a, int b);   \
    float vx_##name(float a, int b)    \
    {                                  \
        return (float)(expression);    \
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
UNARY(sinpi, sin(PI *a))
UNARY(cospi, cos(PI *a))
UNARY(tanpi, tan(PI *a))
UNARY(asinpi, asin(a) / PI)
UNARY(acospi, acos(a) / PI)
UNARY(atanpi, atan(a) / PI)
UNARY(erf, erff(a))
UNARY(erfc, erfcf(a))
UNARY(tgamma, tgammaf(a))
UNARY(lgamma, lgammaf(a))
UNARY(round, roundf(a))
BINARY(pow, powf(a, b))
BINARY(powr, powf(a, b))
BINARY(fmod, fmodf(a, b))
BINARY(remainder, remainderf(a, b))
BINARY(atan2, atan2f(a, b))
BINARY(atan2pi, atan2(a, b) / PI)
BINARY(hypot, hypotf(a, b))
BINARY(nextafter, nextafterf(a, b))
WITH_INTEGER(ldexp, ldexpf(a, b))
WITH_INTEGER(pown, pow(a, b))
WITH_INTEGER(rootn, b % 2 != 0 && a < 0 ? -pow(-(double)a, 1.0 / b) : pow(a, 1.0 / b))

float vx_fma(float a, float b, float c);
float vx_fma(float a, float b, float c)
{
    return fmaf(a, b, c);
}

int vx_ilogb(float a);
int vx_ilogb(float a)
{
    return ilogbf(a);
}
