/* Floats to halves, for finite numbers only; numbers too small for a normal half become 0. */
#ifndef ADDSCALED_HALVES_H
#define ADDSCALED_HALVES_H

static vx_uint16 float_to_half(float value)
{
    vx_uint32 bits, magnitude;

    memcpy(&bits, &value, sizeof(bits));
    magnitude = bits & 0x7FFFFFFFu;
    magnitude += 0xFFFu + (magnitude >> 13 & 1);
    magnitude = magnitude < (113u << 23) ? 0 : (magnitude - (112u << 23)) >> 13;
    return (vx_uint16)(magnitude | ((bits >> 16) & 0x8000));
}

#endif
