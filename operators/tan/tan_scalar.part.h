#include "generated/tan.h"
#include "include/opkit/compute/math.h"

/* Returns the tangent. */
static inline float tan_of(float input, const struct tan_params *params)
{
    (void)params;

    return opkit_tan(input);
}
