/*
 * Loops over the functions of fp16.h, and a program that runs one of them on all halves: its name
 * is the argument, the bits of the results go to stdout. Exits with 3 without arithmetic of halves.
 */
#define OPKIT_FP16_MATH
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "opkit/compute/fp16.h"

#if defined(OPKIT_FP16)

#define COUNT 65536

#define LOOP(name)                                             \
    OPKIT_FP16 void loop_##name(const float *x, float *y);     \
    OPKIT_FP16 void loop_##name(const float *x, float *y)      \
    {                                                          \
        OPKIT_FP16_LOOP                                        \
        for (size_t i = 0; i < COUNT; i++) {                   \
            y[i] = (float)opkit_fp16_##name((opkit_fp16)x[i]); \
        }                                                      \
    }
#define FOR_EACH(X) \
    X(exp)          \
    X(sigmoid)      \
    X(tanh)         \
    X(normal_cdf)
FOR_EACH(LOOP)

/* Halves, as floats: their conversion is exact. */
OPKIT_FP16 void halves(uint16_t *bits, float *floats);
OPKIT_FP16 void halves(uint16_t *bits, float *floats)
{
    for (size_t i = 0; i < COUNT; i++) {
        if (bits != NULL) {
            bits[i] = opkit_fp16_bits((opkit_fp16)floats[i]);
        } else {
            floats[i] = (float)opkit_fp16_from_bits((uint16_t)i);
        }
    }
}

int main(int count, char **words)
{
    static float x[COUNT], y[COUNT];
    static uint16_t results[COUNT];

    if (count != 2 || !opkit_has_fp16()) {
        return count == 2 ? 3 : 2;
    }
    halves(NULL, x);
#define RUN(name)                     \
    if (strcmp(words[1], #name) == 0) \
        loop_##name(x, y);
    FOR_EACH(RUN)
    halves(results, y);
    return fwrite(results, sizeof results, 1, stdout) != 1;
}

#endif
