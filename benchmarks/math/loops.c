/* Loops over the functions of math.h. VARIANT is the end of their names, such as _sse2. */
#include <stddef.h>

#include "functions.h"
#include "opkit/compute/math.h"

#define JOIN_TEXTS(a, b) a##b
#define JOIN(a, b) JOIN_TEXTS(a, b)
#define LOOP(name)                                                                      \
    void JOIN(name, VARIANT)(const float *restrict x, float *restrict y, size_t count); \
    void JOIN(name, VARIANT)(const float *restrict x, float *restrict y, size_t count)  \
    {                                                                                   \
        for (size_t i = 0; i < count; i++) {                                            \
            y[i] = opkit_##name(x[i]);                                                  \
        }                                                                               \
    }
FOR_EACH(LOOP)

#define ROW(name)                                                                       \
    void JOIN(name, VARIANT)(const float *restrict x, float *restrict y, size_t count); \
    void JOIN(name, VARIANT)(const float *restrict x, float *restrict y, size_t count)  \
    {                                                                                   \
        opkit_##name(x, y, count);                                                      \
    }
FOR_EACH_ROW(ROW)

void JOIN(pow, VARIANT)(const float *restrict x, float *restrict y, size_t count);
void JOIN(pow, VARIANT)(const float *restrict x, float *restrict y, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        y[i] = opkit_pow(x[i], 1.7F);
    }
}
