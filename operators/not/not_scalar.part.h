#include "generated/not.h"

/* Returns whether x is false. */
static inline bool not_of(bool x, const struct not_params *params)
{
    (void)params;

    return !x;
}
