/* Conversions of numbers and of bits, and _viv_asm. names.py makes convert_int4_sat_rte and the like out of VX_CONVERT. */

#define VX_DEFAULT_ROUNDING -1 /* to an integer: toward zero; to floating point: to the nearest, even */

VX_FUNCTION double vx_round(double value, int rounding)
{
    switch (rounding) {
    case VX_NEAREST_EVEN:
        return __builtin_rint(value);
    case VX_TOWARD_INFINITY:
        return __builtin_ceil(value);
    case VX_TOWARD_MINUS_INFINITY:
        return __builtin_floor(value);
    default:
        return __builtin_trunc(value);
    }
}

/* An element as a wider number that holds it exactly. */
#define VX_WIDEN(T, wide)              \
    VX_FUNCTION wide vx_widen(T value) \
    {                                  \
        return (wide)value;            \
    }
VX_NARROW_SCALARS(VX_WIDEN, long)
VX_WIDEN(bool, long)
VX_WIDEN(int, long)
VX_WIDEN(uint, long)
VX_WIDEN(long, long)
VX_WIDEN(ulong, ulong)
VX_FLOAT_SCALARS(VX_WIDEN, float)
VX_WIDEN(double, double)

/* A number that an integer type does not have wraps around, unless it is to saturate. */
#define VX_TO_INTEGER(T, low, high)                                                                                   \
    VX_FUNCTION void vx_convert(T *to, double from, bool saturates, int rounding)                                     \
    {                                                                                                                 \
        from = vx_round(from, rounding);                                                                              \
        if (from >= (double)(low) && from < (double)(high) + 1) {                                                     \
            *to = (T)from;                                                                                            \
        } else if (saturates) {                                                                                       \
            *to = from != from ? 0 : from < 0 ? low                                                                   \
                                              : high;                                                                 \
        } else {                                                                                                      \
            *to = from > -0x1p63 && from < 0x1p63 ? (T)(long)from : 0;                                                \
        }                                                                                                             \
    }                                                                                                                 \
    VX_FUNCTION void vx_convert(T *to, float from, bool saturates, int rounding)                                      \
    {                                                                                                                 \
        vx_convert(to, (double)from, saturates, rounding);                                                            \
    }                                                                                                                 \
    VX_FUNCTION void vx_convert(T *to, long from, bool saturates, int rounding)                                       \
    {                                                                                                                 \
        if (saturates) {                                                                                              \
            from = from < 0 ? (low) < 0 && from<(long)(low) ? (long)(low) : (low) < 0 ? from                          \
                                                                                      : 0 : (ulong)from>(ulong)(high) \
                                  ? (long)(high)                                                                      \
                                  : from;                                                                             \
        }                                                                                                             \
        *to = (T)from;                                                                                                \
    }                                                                                                                 \
    VX_FUNCTION void vx_convert(T *to, ulong from, bool saturates, int rounding)                                      \
    {                                                                                                                 \
        *to = saturates && from > (ulong)(high) ? (T)(high) : (T)from;                                                \
    }
VX_TO_INTEGER(char, -128, 127)
VX_TO_INTEGER(uchar, 0, 255)
VX_TO_INTEGER(short, -32768, 32767)
VX_TO_INTEGER(ushort, 0, 65535)
VX_TO_INTEGER(int, -0x7fffffff - 1, 0x7fffffff)
VX_TO_INTEGER(uint, 0, 0xffffffffu)
VX_TO_INTEGER(long, -0x7fffffffffffffffL - 1, 0x7fffffffffffffffL)
VX_TO_INTEGER(ulong, 0, 0xffffffffffffffffUL)

/* The next number of a floating-point type, up or down: the next pattern of bits. */
#define VX_NEIGHBOUR(T, bits, sign)                                              \
    VX_FUNCTION T vx_neighbour(T value, bool up)                                 \
    {                                                                            \
        bits pattern = *(bits *)&value;                                          \
        if (value == 0) {                                                        \
            pattern = up ? 1 : (sign) | 1;                                       \
        } else {                                                                 \
            pattern = (pattern & (sign)) == 0 == up ? pattern + 1 : pattern - 1; \
        }                                                                        \
        return *(T *)&pattern;                                                   \
    }

/* Whether what came of a number is above it (1) or below (-1). */
VX_FUNCTION int vx_order(double to, double from)
{
    return (to > from) - (to < from);
}
VX_FUNCTION int vx_order(double to, long from)
{
    return to >= 0x1p63f ? 1 : ((long)to > from) - ((long)to < from);
}
VX_FUNCTION int vx_order(double to, ulong from)
{
    return to >= 0x1p64f ? 1 : ((ulong)to > from) - ((ulong)to < from);
}

/* To the nearest, and one step back if that is the wrong side. Saturated, what is too large is the largest number. */
#define VX_ROUNDED(T, from_type)                                                                                  \
    VX_FUNCTION void vx_convert(T *to, from_type from, bool saturates, int rounding)                              \
    {                                                                                                             \
        *to = (T)from;                                                                                            \
        if (rounding != VX_DEFAULT_ROUNDING && rounding != VX_NEAREST_EVEN) {                                     \
            bool toward_minus = rounding == VX_TOWARD_MINUS_INFINITY || (rounding == VX_TOWARD_ZERO && from > 0); \
            int order = vx_order(*to, from);                                                                      \
            if (order != 0 && order > 0 == toward_minus) {                                                        \
                *to = vx_neighbour(*to, !toward_minus);                                                           \
            }                                                                                                     \
        }                                                                                                         \
        if (saturates && *to == *to && *to - *to != 0) {                                                          \
            *to = vx_neighbour(*to, *to < 0);                                                                     \
        }                                                                                                         \
    }
#define VX_TO_FLOAT(T, bits, sign) \
    VX_NEIGHBOUR(T, bits, sign)    \
    VX_ROUNDED(T, float)           \
    VX_ROUNDED(T, double)          \
    VX_ROUNDED(T, long)            \
    VX_ROUNDED(T, ulong)
VX_TO_FLOAT(half, ushort, 0x8000)
VX_TO_FLOAT(float, uint, 0x80000000u)
VX_TO_FLOAT(double, ulong, 0x8000000000000000UL)

/* Converts lane by lane, as many lanes as both have. */
#define VX_CONVERT_LANES(to, from, saturates, rounding)                                                                      \
    do {                                                                                                                     \
        VX_ELEMENT(to) *vx_to_lane = (VX_ELEMENT(to) *)&to;                                                                  \
        VX_ELEMENT(from) *vx_from_lane = (VX_ELEMENT(from) *)&from;                                                          \
        for (int vx_i = 0; vx_i < sizeof(to) / sizeof(*vx_to_lane) && vx_i < sizeof(from) / sizeof(*vx_from_lane); vx_i++) { \
            vx_convert(&vx_to_lane[vx_i], vx_widen(vx_from_lane[vx_i]), saturates, rounding);                                \
        }                                                                                                                    \
    } while (0)
#define VX_CONVERT(T, value, saturates, rounding)              \
    __extension__({                                            \
        __auto_type vx_from = (value);                         \
        T vx_to;                                               \
        VX_SAME_LANES(vx_to, vx_from, "convert_" #T);          \
        VX_CONVERT_LANES(vx_to, vx_from, saturates, rounding); \
        vx_to;                                                 \
    })
#define VX_SAME_LANES(a, b, name) \
    _Static_assert(sizeof(a) / sizeof(VX_ELEMENT(a)) == sizeof(b) / sizeof(VX_ELEMENT(b)), name " needs a value of as many elements as its result has")
#define VX_AS(T, value)                                                                               \
    __extension__({                                                                                   \
        __auto_type vx_from = (value);                                                                \
        T vx_to;                                                                                      \
        _Static_assert(sizeof(vx_to) == sizeof(vx_from), "as_" #T " needs a value of the same size"); \
        __builtin_memcpy(&vx_to, &vx_from, sizeof(vx_to));                                            \
        vx_to;                                                                                        \
    })

/* Copies bytes of a register's image to another's. In it, the lanes of a small vector that is not packed are 4 bytes apart. */
VX_FUNCTION void vx_copy(const struct vx_operand *to, const struct vx_operand *from, int bytes)
{
    if (to->spacing == to->element_size && from->spacing == from->element_size) {
        bytes = bytes < to->size ? bytes : to->size;
        bytes = bytes < from->size ? bytes : from->size;
        __builtin_memcpy(to->data, from->data, bytes);
        return;
    }
    for (int i = 0; i < bytes; i++) {
        int target = i / to->spacing * to->element_size + i % to->spacing;
        int source = i / from->spacing * from->element_size + i % from->spacing;
        if (i % to->spacing < to->element_size && target < to->size && i / from->spacing * from->element_size < from->size) {
            ((uchar *)to->data)[target] = i % from->spacing < from->element_size ? ((uchar *)from->data)[source] : 0;
        }
    }
}

#define VX_ASM_CONVERT(to, from, saturates, rounding)          \
    do {                                                       \
        __auto_type vx_from = (from);                          \
        __typeof__(to) vx_to = (to);                           \
        VX_CONVERT_LANES(vx_to, vx_from, saturates, rounding); \
        (to) = vx_to;                                          \
    } while (0)
#define VX_ASM_CONV(to, from) VX_ASM_CONVERT(to, from, 0, VX_DEFAULT_ROUNDING)
#define VX_ASM_CONV_RTE(to, from) VX_ASM_CONVERT(to, from, 0, VX_NEAREST_EVEN)
#define VX_ASM_CONV_RTZ(to, from) VX_ASM_CONVERT(to, from, 0, VX_TOWARD_ZERO)
#define VX_ASM_CONV_RTP(to, from) VX_ASM_CONVERT(to, from, 0, VX_TOWARD_INFINITY)
#define VX_ASM_CONV_RTN(to, from) VX_ASM_CONVERT(to, from, 0, VX_TOWARD_MINUS_INFINITY)
#define VX_ASM_CONV_SAT(to, from) VX_ASM_CONVERT(to, from, 1, VX_DEFAULT_ROUNDING)
#define VX_ASM_CONV_SAT_RTE(to, from) VX_ASM_CONVERT(to, from, 1, VX_NEAREST_EVEN)
#define VX_ASM_CONV_SAT_RTZ(to, from) VX_ASM_CONVERT(to, from, 1, VX_TOWARD_ZERO)
#define VX_ASM_CONV_SAT_RTP(to, from) VX_ASM_CONVERT(to, from, 1, VX_TOWARD_INFINITY)
#define VX_ASM_CONV_SAT_RTN(to, from) VX_ASM_CONVERT(to, from, 1, VX_TOWARD_MINUS_INFINITY)
#define VX_ASM_COPY(to, from, bytes)                                                      \
    do {                                                                                  \
        __auto_type vx_from = (from);                                                     \
        __typeof__(to) vx_to = (to);                                                      \
        struct vx_operand vx_target = VX_OPERAND(vx_to), vx_source = VX_OPERAND(vx_from); \
        vx_copy(&vx_target, &vx_source, bytes);                                           \
        (to) = vx_to;                                                                     \
    } while (0)
#define VX_ASM_MOV(to, from) (to) = (from)
#define VX_ASM_CLAMP0MAX(to, value, maximum)                                                       \
    do {                                                                                           \
        __auto_type vx_limit = (maximum);                                                          \
        __typeof__(to) vx_to = (value);                                                            \
        VX_ELEMENT(vx_to) *vx_lane = (VX_ELEMENT(vx_to) *)&vx_to;                                  \
        VX_ELEMENT(vx_limit) *vx_most = (VX_ELEMENT(vx_limit) *)&vx_limit;                         \
        for (int vx_i = 0; vx_i < sizeof(vx_to) / sizeof(*vx_lane); vx_i++) {                      \
            VX_ELEMENT(vx_to)                                                                      \
            vx_high = vx_most[vx_i % (sizeof(vx_limit) / sizeof(*vx_most))];                       \
            vx_lane[vx_i] = vx_lane[vx_i] > vx_high ? vx_high : vx_lane[vx_i] < 0 ? 0              \
                                                                                  : vx_lane[vx_i]; \
        }                                                                                          \
        (to) = vx_to;                                                                              \
    } while (0)
#define VX_ASM_ADDSAT(to, a, b) (to) = add_sat(a, b)
#define VX_ASM_SUBSAT(to, a, b) (to) = sub_sat(a, b)
#define VX_ASM_NAMED(operation, ...) VX_ASM_##operation(__VA_ARGS__)
#define _viv_asm(operation, ...) VX_ASM_NAMED(operation, __VA_ARGS__)
