#include <math.h>

#include "generated/reducel1.h"
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

static void reducel1_run(const struct opkit_reduction *plan, const float *x, float *y)
{
    const struct opkit_sum_math math = {reducel1_term, reducel1_result, NULL};

    opkit_sum_axes(&math, plan, x, y);
}
