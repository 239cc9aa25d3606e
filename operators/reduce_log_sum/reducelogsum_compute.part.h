#include "generated/reducelogsum.h"
#include "include/opkit/compute/math.h"
#include "include/opkit/compute/sum_axes.h"

static inline float reducelogsum_term(float x, float center)
{
    (void)center;
    return x;
}

static inline float reducelogsum_result(double sum, size_t terms, float center)
{
    (void)terms;
    (void)center;
    return opkit_log((float)sum);
}

OPKIT_ELEMENT_LOOP void reducelogsum_run(const struct opkit_reduction *plan, const float *x,
                                         float *y)
{
    const struct opkit_sum_math math = {reducelogsum_term, reducelogsum_result, NULL};

    opkit_sum_axes(&math, plan, x, y);
}
