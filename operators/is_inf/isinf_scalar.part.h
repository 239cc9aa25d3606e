#include "generated/isinf.h"
#include "include/opkit/compute/float_bits.h"

/*
 * Returns an element of y:
 *
 *   params->detect_negative  whether it is true for -infinity
 *   params->detect_positive  whether it is true for infinity
 */
static inline bool isinf_of(float x, const struct isinf_params *params)
{
    const bool negative = params->detect_negative != 0;
    const bool positive = params->detect_positive != 0;
    /* The bits to compare, and their values. No number has the value 1 in none of its bits. */
    const uint32_t sign = negative && positive ? 0U : 0x80000000U;
    const uint32_t mask = negative || positive ? sign | 0x7FFFFFFFU : 0U;
    const uint32_t infinity = positive ? 0x7F800000U : 0xFF800000U;

    return (opkit_float_bits(x) & mask) == (mask != 0U ? infinity : 1U);
}
