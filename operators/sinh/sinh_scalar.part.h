#include "generated/sinh.h"
#include "include/opkit/compute/math.h"

/* Returns the hyperbolic sine. */
static inline float sinh_of(float input, const struct sinh_params *params)
{
    (void)params;

    return opkit_sinh(input);
}
