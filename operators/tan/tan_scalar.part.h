#include "generated/tan.h"
#include "include/opkit/compute/math.h"

/* Returns the tangent. */
static inline float tan_of(float input, const struct tan_params *params)
{
    (void)params;

    return opkit_tan(input);
}

#if defined(OPKIT_ELEMENTWISE_H)
/*
 * The tangents of a row, for the CPU: in half of the time if none has a magnitude above 3,000. An
 * angle has the same result in every row.
 */
static inline void tan_row(const float *input, float *output, size_t count,
                           const struct tan_params *params)
{
    (void)params;

    if (opkit_has_larger(input, count, 3000.0F)) {
        OPKIT_VECTORIZE
        for (size_t i = 0; i < count; i++) {
            const float x = input[i];

            output[i] = opkit_magnitude(x) <= 3000.0F ? opkit_tan_fast(x) : opkit_tan(x);
        }
    } else {
        OPKIT_VECTORIZE
        for (size_t i = 0; i < count; i++) {
            output[i] = opkit_tan_fast(input[i]);
        }
    }
}
#endif
