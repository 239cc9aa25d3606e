#include "generated/asin.h"
#include "include/opkit/compute/math.h"

/* Returns the arc sine. */
static inline float asin_of(float input, const struct asin_params *params)
{
    (void)params;

    return opkit_asin(input);
}
