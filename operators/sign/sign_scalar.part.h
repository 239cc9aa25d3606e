#include <math.h>

#include "generated/sign.h"

/* Returns -1, 0 or 1. */
static inline float sign_of(float input, const struct sign_params *params)
{
    (void)params;

    const float sign = input > 0.0f ? 1.0f : -1.0f;

    return fabsf(input) > 0.0f ? sign : input + 0.0f; /* 0 also for -0; or NaN */
}
