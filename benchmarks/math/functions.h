/*
 * The functions of one argument in opkit/compute/math.h: FOR_EACH(X) is X(name) for each of them,
 * FOR_EACH_ROW(X) for each function of rows.
 */
#ifndef MATH_FUNCTIONS_H
#define MATH_FUNCTIONS_H

#define FOR_EACH(X) \
    X(exp)          \
    X(expm1)        \
    X(log)          \
    X(log1p)        \
    X(sin)          \
    X(cos)          \
    X(tan)          \
    X(asin)         \
    X(acos)         \
    X(atan)         \
    X(sinh)         \
    X(cosh)         \
    X(tanh)         \
    X(erf)          \
    X(sqrt)         \
    X(rsqrt)        \
    X(sigmoid)      \
    X(exp_fast)     \
    X(sin_fast)     \
    X(cos_fast)     \
    X(tan_fast)     \
    X(tanh_fast)

#define FOR_EACH_ROW(X) \
    X(exp_row)          \
    X(sin_row)          \
    X(cos_row)          \
    X(tan_row)

#endif
