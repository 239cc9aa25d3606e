#include "generated/atan.h"
#include "include/opkit/compute/math.h"

/* Returns the arc tangent. */
static inline float atan_of(float input, const struct atan_params *params)
{
    (void)params;

    return opkit_atan(input);
}
