/*
 * Loops over the functions of math.h, and a program that runs one of them: its name is the
 * argument, floats come on stdin and go to stdout. The arguments of pow come in pairs.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "opkit/compute/math.h"

#define LOOP(name)                                                              \
    void loop_##name(const float *restrict x, float *restrict y, size_t count); \
    void loop_##name(const float *restrict x, float *restrict y, size_t count)  \
    {                                                                           \
        for (size_t i = 0; i < count; i++) {                                    \
            y[i] = opkit_##name(x[i]);                                          \
        }                                                                       \
    }
#define FOR_EACH(X) \
    X(exp)          \
    X(exp_fast)     \
    X(exp2_fast)    \
    X(exp_weight)   \
    X(expm1)        \
    X(log)          \
    X(log1p)        \
    X(sin)          \
    X(cos)          \
    X(tan)          \
    X(sin_fast)     \
    X(cos_fast)     \
    X(tan_fast)     \
    X(sqrt)         \
    X(rsqrt)        \
    X(asin)         \
    X(acos)         \
    X(atan)         \
    X(sinh)         \
    X(cosh)         \
    X(tanh)         \
    X(tanh_fast)    \
    X(erf)          \
    X(normal_cdf)   \
    X(sigmoid)
FOR_EACH(LOOP)

#define ROW(name)                                                               \
    void loop_##name(const float *restrict x, float *restrict y, size_t count); \
    void loop_##name(const float *restrict x, float *restrict y, size_t count)  \
    {                                                                           \
        opkit_##name(x, y, count);                                              \
    }
#define FOR_EACH_ROW(X) \
    X(exp_row)          \
    X(sin_row)          \
    X(cos_row)          \
    X(tan_row)
FOR_EACH_ROW(ROW)

void loop_pow(const float *restrict x, const float *restrict y, float *restrict z, size_t count);
void loop_pow(const float *restrict x, const float *restrict y, float *restrict z, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        z[i] = opkit_pow(x[i], y[i]);
    }
}

#if !defined(ONLY_LOOPS)

#define ENTRY(name) {#name, loop_##name},
static const struct {
    const char *name;
    void (*loop)(const float *restrict x, float *restrict y, size_t count);
} functions[] = {FOR_EACH(ENTRY) FOR_EACH_ROW(ENTRY)};

int main(int count, char **words)
{
    enum {
        BLOCK = 4096
    };
    static float x[BLOCK], y[BLOCK], result[BLOCK];
    const int is_pow = count == 2 && strcmp(words[1], "pow") == 0;
    size_t found, entry = 0;

    while (!is_pow && (count != 2 || strcmp(words[1], functions[entry].name) != 0)) {
        if (++entry == sizeof functions / sizeof *functions) {
            return 2;
        }
    }
    while ((found = fread(x, sizeof *x, BLOCK, stdin)) > 0) {
        if (is_pow) {
            found /= 2;
            for (size_t i = 0; i < found; i++) {
                y[i] = x[2 * i + 1];
            }
            for (size_t i = 0; i < found; i++) {
                x[i] = x[2 * i];
            }
            loop_pow(x, y, result, found);
        } else {
            functions[entry].loop(x, result, found);
        }
        if (fwrite(result, sizeof *result, found, stdout) != found) {
            return 1;
        }
    }
    return 0;
}

#endif
