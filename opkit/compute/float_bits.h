/* The bits of a float (IEEE 754 binary32), and back. Plain C11 and C++11. */
#ifndef OPKIT_FLOAT_BITS_H
#define OPKIT_FLOAT_BITS_H

#include <stdint.h>
#include <string.h>

static inline uint32_t opkit_float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float opkit_float_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
