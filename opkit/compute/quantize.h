/*
 * Floats as integers: rounded half to even, and saturated.
 *
 * Plain C11 and C++11.
 */
#ifndef OPKIT_QUANTIZE_H
#define OPKIT_QUANTIZE_H

#define OPKIT_FLOAT_ROUNDER 12582912.0F /* 1.5 * 2^23: a sum with it is an integer */

/*
 * Returns a float within two integers of at most 2^22, rounded half to even; for NaN, the lower
 * one. Compilers vectorize it: there is no call and no branch.
 */
static inline float opkit_round_within(float x, float low, float high)
{
    const float above = x > low ? x : low;
    const float within = above < high ? above : high;

    return (within + OPKIT_FLOAT_ROUNDER) - OPKIT_FLOAT_ROUNDER;
}

#endif
