#include "generated/reducesumsquare.h"
#include "include/opkit/compute/sum_axes.h"

static inline float reducesumsquare_term(float x, float center)
{
    (void)center;
    return x * x;
}

static inline float reducesumsquare_result(double sum, size_t terms, float center)
{
    (void)terms;
    (void)center;
    return (float)sum;
}

static void reducesumsquare_run(const struct opkit_reduction *plan, const float *x, float *y)
{
    const struct opkit_sum_math math = {reducesumsquare_term, reducesumsquare_result, NULL};

    opkit_sum_axes(&math, plan, x, y);
}
