#include <math.h>

#include "generated/reducel1.h"
#include "include/opkit/compute/integer_axes.h"
#include "include/opkit/compute/sum_axes.h"

static inline float reducel1_term(float x, float center)
{
    (void)center;
    return fabsf(x);
}

static inline float reducel1_result(double sum, size_t terms, float center)
{
    (void)terms;
    (void)center;
    return (float)sum;
}

OPKIT_ELEMENT_LOOP void reducel1_run(const struct opkit_reduction *plan, const float *x, float *y)
{
    const struct opkit_sum_math math = {reducel1_term, reducel1_result, NULL};

    opkit_sum_axes(&math, plan, x, y);
}

static inline uint64_t reducel1_combine(uint64_t result, uint64_t term)
{
    return result + opkit_magnitude(term);
}

static void reducel1_run_integers(const struct opkit_reduction *plan, const struct opkit_tensor *x,
                                  const struct opkit_tensor *y)
{
    const struct opkit_integer_math math = {0, reducel1_combine, NULL};

    opkit_reduce_integers(&math, plan, x, y);
}
