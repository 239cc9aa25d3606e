#include "generated/reducemean.h"
#include "include/opkit/compute/integer_axes.h"
#include "include/opkit/compute/sum_axes.h"

static inline float reducemean_term(float x, float center)
{
    (void)center;
    return x;
}

static inline float reducemean_result(double sum, size_t terms, float center)
{
    (void)center;
    return (float)(sum * (1.0 / (double)terms)); /* one division for all elements */
}

OPKIT_ELEMENT_LOOP void reducemean_run(const struct opkit_reduction *plan, const float *x, float *y)
{
    const struct opkit_sum_math math = {reducemean_term, reducemean_result, NULL};

    opkit_sum_axes(&math, plan, x, y);
}

static inline uint64_t reducemean_combine(uint64_t result, uint64_t term)
{
    return result + term;
}

/* Drops the fraction. The mean of nothing is not defined: here 0. */
static inline uint64_t reducemean_finish(uint64_t result, size_t terms)
{
    return terms > 0 ? (uint64_t)((int64_t)result / (int64_t)terms) : 0;
}

static void reducemean_run_integers(const struct opkit_reduction *plan,
                                    const struct opkit_tensor *x, const struct opkit_tensor *y)
{
    const struct opkit_integer_math math = {0, reducemean_combine, reducemean_finish};

    opkit_reduce_integers(&math, plan, x, y);
}
