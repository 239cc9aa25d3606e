/*
 * The modifier word, dot products and the other instructions on registers. The runtime does the
 * work.
 */

#define VXC_RM_TowardZero 0
#define VXC_RM_Truncate 0
#define VXC_RM_TowardInf 1
#define VXC_RM_ToNearestEven 2
#define VXC_FM_BOX 0
#define VXC_FM_Guassian 1
#define VXC_FM_SobelX 2
#define VXC_FM_SobelY 3
#define VXC_FM_ScharrX 4
#define VXC_FM_ScharrY 5
#define VXC_FM_Max __OPKIT_FILTER_MAX
#define VXC_FM_Min __OPKIT_FILTER_MIN
#define VXC_FM_Median __OPKIT_FILTER_MEDIAN

#define VXC_MODIFIER(start, end, source, rounding, clamp) \
    ((start) << 12 | (end) << 8 | (source) << 4 | (rounding) << 2 | (clamp) << 22)
#define VXC_MODIFIER_CLAMP(start, end, source, enable_bool) \
    ((start) << 12 | (end) << 8 | (source) << 4 | (enable_bool) << 1)
#define VXC_MODIFIER_BIN(start, end, clamp) ((start) << 12 | (end) << 8 | (clamp) << 22)
#define VXC_MODIFIER_FILTER(start, end, source, filter, clamp) \
    ((start) << 12 | (end) << 8 | (source) << 4 | (filter) << 16 | (clamp) << 22)
#define VXC_MODIFIER_SIGNEXT(start, end, source, sign_extend, clamp) \
    ((start) << 12 | (end) << 8 | (source) << 4 | (clamp) << 22 |    \
     __OPKIT_REFUSED_UNLESS(                                         \
         (sign_extend) == 0,                                         \
         "VXC_MODIFIER_SIGNEXT is not emulated with its sign extension: " __OPKIT_UNKNOWN))
#define __OPKIT_REFUSED_UNLESS(condition, why) \
    (0 * (int)sizeof(struct {                  \
         _Static_assert(condition, why);       \
         int __opkit_unused;                   \
     }))

#define __OPKIT_DOT(outputs, destination, source0, source1, info, configuration)             \
    do {                                                                                     \
        __auto_type __opkit_a = (source0);                                                   \
        __auto_type __opkit_b = (source1);                                                   \
        __auto_type __opkit_words = (configuration);                                         \
        __typeof__(destination) __opkit_register = (destination);                            \
        _Static_assert(sizeof(__opkit_words) == 64,                                          \
                       "the configuration of a dot product is a VXC_512Bits");               \
        struct __opkit_operand __opkit_target = __OPKIT_OPERAND(__opkit_register),           \
                               __opkit_first = __OPKIT_OPERAND(__opkit_a),                   \
                               __opkit_second = __OPKIT_OPERAND(__opkit_b);                  \
        __opkit_dot_product(outputs, &__opkit_target, &__opkit_first, &__opkit_second, info, \
                            &__opkit_words);                                                 \
        (destination) = __opkit_register;                                                    \
    } while (0)
#define VXC_DP16x1(destination, source0, source1, info, configuration) \
    __OPKIT_DOT(1, destination, source0, source1, info, configuration)
#define VXC_DP8x2(destination, source0, source1, info, configuration) \
    __OPKIT_DOT(2, destination, source0, source1, info, configuration)
#define VXC_DP4x4(destination, source0, source1, info, configuration) \
    __OPKIT_DOT(4, destination, source0, source1, info, configuration)
#define VXC_DP2x8(destination, source0, source1, info, configuration) \
    __OPKIT_DOT(8, destination, source0, source1, info, configuration)

#define __OPKIT_LANEWISE(instruction, destination, source0, source1, source2, info)     \
    do {                                                                                \
        __auto_type __opkit_a = (source0);                                              \
        __auto_type __opkit_b = (source1);                                              \
        __auto_type __opkit_c = (source2);                                              \
        __typeof__(destination) __opkit_register = (destination);                       \
        struct __opkit_operand __opkit_target = __OPKIT_OPERAND(__opkit_register),      \
                               __opkit_first = __OPKIT_OPERAND(__opkit_a),              \
                               __opkit_second = __OPKIT_OPERAND(__opkit_b),             \
                               __opkit_third = __OPKIT_OPERAND(__opkit_c);              \
        __opkit_lanewise(instruction, &__opkit_target, &__opkit_first, &__opkit_second, \
                         &__opkit_third, info);                                         \
        (destination) = __opkit_register;                                               \
    } while (0)
#define VXC_VertMax3(destination, source0, source1, source2, info) \
    __OPKIT_LANEWISE(__OPKIT_VERT_MAX3, destination, source0, source1, source2, info)
#define VXC_VertMin3(destination, source0, source1, source2, info) \
    __OPKIT_LANEWISE(__OPKIT_VERT_MIN3, destination, source0, source1, source2, info)
#define VXC_VertMed3(destination, source0, source1, source2, info) \
    __OPKIT_LANEWISE(__OPKIT_VERT_MED3, destination, source0, source1, source2, info)
#define VXC_HorzMax3(destination, source, info) \
    __OPKIT_LANEWISE(__OPKIT_HORZ_MAX3, destination, source, 0, 0, info)
#define VXC_HorzMin3(destination, source, info) \
    __OPKIT_LANEWISE(__OPKIT_HORZ_MIN3, destination, source, 0, 0, info)
#define VXC_HorzMed3(destination, source, info) \
    __OPKIT_LANEWISE(__OPKIT_HORZ_MED3, destination, source, 0, 0, info)
/* The elements' type decides, whatever the name says. */
#define VXC_VertMax3_Integer VXC_VertMax3
#define VXC_VertMax3_Half VXC_VertMax3
#define VXC_VertMin3_Integer VXC_VertMin3
#define VXC_VertMin3_Half VXC_VertMin3
#define VXC_VertMed3_Integer VXC_VertMed3
#define VXC_VertMed3_Half VXC_VertMed3
#define VXC_HorzMax3_Integer VXC_HorzMax3
#define VXC_HorzMax3_Half VXC_HorzMax3
#define VXC_HorzMin3_Integer VXC_HorzMin3
#define VXC_HorzMin3_Half VXC_HorzMin3
#define VXC_HorzMed3_Integer VXC_HorzMed3
#define VXC_HorzMed3_Half VXC_HorzMed3
#define VXC_Clamp(destination, source, low, high, info) \
    __OPKIT_LANEWISE(__OPKIT_CLAMP, destination, source, low, high, info)
#define VXC_Clamp_Integer VXC_Clamp
#define VXC_Clamp_Half VXC_Clamp
#define VXC_AbsDiff(destination, source0, source1, info) \
    __OPKIT_LANEWISE(__OPKIT_ABS_DIFF, destination, source0, source1, 0, info)
#define VXC_BitExtract(destination, source, offsets, widths, info) \
    __OPKIT_LANEWISE(__OPKIT_BIT_EXTRACT, destination, source, offsets, widths, info)
#define VXC_MulShift(destination, source0, source1, shift, info) \
    __OPKIT_LANEWISE(__OPKIT_MUL_SHIFT, destination, source0, source1, shift, info)
#define VXC_IAccSq(destination, source0, source1, shift, info) \
    __OPKIT_LANEWISE(__OPKIT_ACC_SQUARE, destination, source0, source1, shift, info)
#define VXC_Lerp(destination, source0, source1, fraction, info) \
    __OPKIT_LANEWISE(__OPKIT_LERP, destination, source0, source1, fraction, info)
#define VXC_BiLinear(destination, source0, source1, fractions, info) \
    __OPKIT_LANEWISE(__OPKIT_BILINEAR, destination, source0, source1, fractions, info)
#define VXC_Filter(destination, source0, source1, source2, info)                           \
    do {                                                                                   \
        _Static_assert(__OPKIT_FILTER(info) >= __OPKIT_FILTER_MAX &&                       \
                           __OPKIT_FILTER(info) <= __OPKIT_FILTER_MEDIAN,                  \
                       "VXC_Filter is not emulated but for VXC_FM_Max, VXC_FM_Min and "    \
                       "VXC_FM_Median: how the others scale is not known");                \
        __OPKIT_LANEWISE(__OPKIT_FILTER3X3, destination, source0, source1, source2, info); \
    } while (0)
#if VX_VERSION < 2
#define VXC_IAdd(destination, source0, source1, source2, info) \
    __OPKIT_LANEWISE(__OPKIT_ADD3, destination, source0, source1, source2, info)
#endif

/* Moves of bytes: the value number `offset` from an address. */
#define __OPKIT_VLOAD(destination, address, offset)                                   \
    do {                                                                              \
        __typeof__(destination) __opkit_value;                                        \
        __builtin_memcpy(&__opkit_value,                                              \
                         (const uchar *)(address) + sizeof(__opkit_value) * (offset), \
                         sizeof(__opkit_value));                                      \
        (destination) = __opkit_value;                                                \
    } while (0)
#define __OPKIT_VSTORE(address, offset, data)                                                   \
    do {                                                                                        \
        __auto_type __opkit_value = (data);                                                     \
        __builtin_memcpy((uchar *)(address) + sizeof(__opkit_value) * (offset), &__opkit_value, \
                         sizeof(__opkit_value));                                                \
    } while (0)
#define VXC_Vload2 __OPKIT_VLOAD
#define VXC_Vload4 __OPKIT_VLOAD
#define VXC_Vload8 __OPKIT_VLOAD
#define VXC_Vload16 __OPKIT_VLOAD
#define VXC_Vstore2 __OPKIT_VSTORE
#define VXC_Vstore4 __OPKIT_VSTORE
#define VXC_Vstore8 __OPKIT_VSTORE
#define VXC_Vstore16 __OPKIT_VSTORE
