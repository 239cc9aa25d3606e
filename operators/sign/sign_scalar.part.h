#include "generated/sign.h"

/* Returns -1, 0 or 1; NaN for NaN. */
static inline float sign_of(float input, const struct sign_params *params)
{
    (void)params;

    /* 2^254 times the smallest float is more than 1. */
    const float large = input * 1.70141183e38f * 1.70141183e38f;
    const float above = large < -1.0f ? -1.0f : large;

    return (above > 1.0f ? 1.0f : above) + 0.0f; /* 0 also for -0 */
}
