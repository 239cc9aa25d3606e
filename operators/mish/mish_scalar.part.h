#include "generated/mish.h"
#include "include/opkit/compute/math.h"

/*
 * Returns x * tanh(ln(1 + e^x)).
 *
 * With e = e^x, tanh(ln(1 + e)) is (e^2 + 2e) / (e^2 + 2e + 2): without a difference of close
 * numbers, so exact to the last bits for all x. From 20 on, it is 1.
 */
static inline float mish_of(float x, const struct mish_params *params)
{
    (void)params;

    const float e = opkit_exp(x < 20.0f ? x : 20.0f);
    const float n = e * (e + 2.0f);
    return x * (n / (n + 2.0f));
}
