#include "generated/acos.h"
#include "include/opkit/compute/math.h"

/* Returns the arc cosine. */
static inline float acos_of(float input, const struct acos_params *params)
{
    (void)params;

    return opkit_acos(input);
}
