#include "generated/isnan.h"

/* Returns whether x is NaN. */
static inline bool isnan_of(float x, const struct isnan_params *params)
{
    (void)params;

    return x != x;
}
