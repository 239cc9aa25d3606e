#include "generated/reducesumsquare.h"
#include "include/opkit/compute/integer_axes.h"
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

OPKIT_ELEMENT_LOOP void reducesumsquare_run(const struct opkit_reduction *plan, const float *x,
                                            float *y)
{
    const struct opkit_sum_math math = {reducesumsquare_term, reducesumsquare_result, NULL};

    opkit_sum_axes(&math, plan, x, y);
}

static inline uint64_t reducesumsquare_combine(uint64_t result, uint64_t term)
{
    return result + term * term;
}

static void reducesumsquare_run_integers(const struct opkit_reduction *plan,
                                         const struct opkit_tensor *x, const struct opkit_tensor *y)
{
    const struct opkit_integer_math math = {0, reducesumsquare_combine, NULL};

    opkit_reduce_integers(&math, plan, x, y);
}
