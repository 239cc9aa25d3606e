/* Halves and floats, for finite numbers only; numbers too small for a normal half become 0. */
#ifndef ADDSCALED_HALVES_H
#define ADDSCALED_HALVES_H

static float half_to_float(vx_uint16 half)
{
    vx_uint32 bits = (half & 0x7C00) ? ((half & 0x7FFFu) << 13) + (112u << 23) : 0;
    float value;

    bits |= (vx_uint32)(half & 0x8000) << 16;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

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
