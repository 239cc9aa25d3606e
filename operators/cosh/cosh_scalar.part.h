#include "generated/cosh.h"
#include "include/opkit/compute/math.h"

/* Returns the hyperbolic cosine. */
static inline float cosh_of(float input, const struct cosh_params *params)
{
    (void)params;

    return opkit_cosh(input);
}
