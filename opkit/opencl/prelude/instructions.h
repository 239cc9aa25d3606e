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

typedef uint vxc_modifier;
typedef uint vxc_round_mode;
typedef uint vxc_filter_mode;
typedef vxc_modifier VXC_Modifier_t;

#define VXC_SIGNEXT_BITMASK 0x1
#define VXC_ENABLEBOOL_BITMASK 0x2
#define VXC_ROUNDING_MODE_BITMASK 0xC
#define VXC_SOURCE_BIN_BITMASK 0xF0
#define VXC_END_BIN_BITMASK 0xF00
#define VXC_START_BIN_BITMASK 0xF000
#define VXC_FILTER_BITMASK 0xF0000
#define VXC_OFFSET_TYPE_BITMASK 0x70000
#define VXC_RANGEPI_BITMASK 0x100000
#define VXC_PREADJ_BITMASK 0x200000
#define VXC_ATOM_OP_BITMASK 0x380000
#define VXC_CLAMP_BITMASK 0x400000

#define VXC_DEFAULT_MODIFIER __OPKIT_DEFAULT_MODIFIER
#define VXC_MODIFIER(start, end, source, rounding, clamp) \
    ((start) << 12 | (end) << 8 | (source) << 4 | (rounding) << 2 | (clamp) << 22)
#define VXC_MODIFIER_CLAMP(start, end, source, enable_bool) \
    ((start) << 12 | (end) << 8 | (source) << 4 | (enable_bool) << 1)
#define VXC_MODIFIER_BIN(start, end, clamp) ((start) << 12 | (end) << 8 | (clamp) << 22)
#define VXC_MODIFIER_FILTER(start, end, source, filter, clamp) \
    ((start) << 12 | (end) << 8 | (source) << 4 | (filter) << 16 | (clamp) << 22)
#define VXC_MODIFIER_SetDestClamp(modifier, clamp) \
    (((modifier) & ~VXC_CLAMP_BITMASK) | (clamp) << 22)
#define VXC_MODIFIER_SIGNEXT(start, end, source, sign_extend, clamp) \
    ((start) << 12 | (end) << 8 | (source) << 4 | (clamp) << 22 |    \
     ((sign_extend) == 0 ? 0 : __opkit_refused_sign_extension()))

#define __OPKIT_DOT(form, outputs, destination, source0, source1, source2, info, configuration) \
    do {                                                                                        \
        __auto_type __opkit_a = (source0);                                                      \
        __auto_type __opkit_b = (source1);                                                      \
        __auto_type __opkit_c = (source2);                                                      \
        __auto_type __opkit_words = (configuration);                                            \
        __auto_type __opkit_register = (destination);                                           \
        _Static_assert(sizeof(__opkit_words) == 64,                                             \
                       "the configuration of a dot product is a VXC_512Bits");                  \
        struct __opkit_operand __opkit_target = __OPKIT_OPERAND(__opkit_register),              \
                               __opkit_first = __OPKIT_OPERAND(__opkit_a),                      \
                               __opkit_second = __OPKIT_OPERAND(__opkit_b),                     \
                               __opkit_third = __OPKIT_OPERAND(__opkit_c);                      \
        __opkit_dot_product(form, outputs, &__opkit_target, &__opkit_first, &__opkit_second,    \
                            &__opkit_third, info, &__opkit_words);                              \
        (destination) = __opkit_register;                                                       \
    } while (0)
#define __OPKIT_DOT_OF_16(outputs, destination, source0, source1, info, configuration) \
    __OPKIT_DOT(__OPKIT_DOT_16, outputs, destination, source0, source1, 0, info, configuration)
#define __OPKIT_DOT_OF_32(outputs, destination, source0, source1, info, configuration) \
    __OPKIT_DOT(__OPKIT_DOT_32, outputs, destination, source0, source1, 0, info, configuration)
#define __OPKIT_DOT_OF_WIDE(outputs, destination, high, low, source, info, configuration) \
    __OPKIT_DOT(__OPKIT_DOT_WIDE, outputs, destination, high, low, source, info, configuration)
#define VXC_DP16x1(...) __OPKIT_DOT_OF_16(1, __VA_ARGS__)
#define VXC_DP8x2(...) __OPKIT_DOT_OF_16(2, __VA_ARGS__)
#define VXC_DP4x4(...) __OPKIT_DOT_OF_16(4, __VA_ARGS__)
#define VXC_DP2x8(...) __OPKIT_DOT_OF_16(8, __VA_ARGS__)
#define VXC_DP32x1(...) __OPKIT_DOT_OF_32(1, __VA_ARGS__)
#define VXC_DP16x2(...) __OPKIT_DOT_OF_32(2, __VA_ARGS__)
#define VXC_DP8x4(...) __OPKIT_DOT_OF_32(4, __VA_ARGS__)
#define VXC_DP4x8(...) __OPKIT_DOT_OF_32(8, __VA_ARGS__)
#if VX_VERSION < 2
#define VXC_DP2x16(...) __OPKIT_DOT_OF_32(16, __VA_ARGS__)
#else
#define VXC_DP16x1_b(...) __OPKIT_DOT_OF_WIDE(1, __VA_ARGS__)
#define VXC_DP8x2_b(...) __OPKIT_DOT_OF_WIDE(2, __VA_ARGS__)
#define VXC_DP4x4_b(...) __OPKIT_DOT_OF_WIDE(4, __VA_ARGS__)
#define VXC_DP2x8_b(...) __OPKIT_DOT_OF_WIDE(8, __VA_ARGS__)
#endif

#define __OPKIT_LANEWISE(instruction, destination, source0, source1, source2, info)     \
    do {                                                                                \
        __auto_type __opkit_a = (source0);                                              \
        __auto_type __opkit_b = (source1);                                              \
        __auto_type __opkit_c = (source2);                                              \
        __auto_type __opkit_register = (destination);                                   \
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
#define VXC_Clamp(destination, source, low, high, info) \
    __OPKIT_LANEWISE(__OPKIT_CLAMP, destination, source, low, high, info)
#define VXC_AbsDiff(destination, source0, source1, info) \
    __OPKIT_LANEWISE(__OPKIT_ABS_DIFF, destination, source0, source1, 0, info)
#define VXC_BitExtract(destination, source0, source1, fields, info) \
    __OPKIT_LANEWISE(__OPKIT_BIT_EXTRACT, destination, source0, source1, fields, info)
#define VXC_MulShift(destination, source0, source1, shift, info) \
    __OPKIT_LANEWISE(__OPKIT_MUL_SHIFT, destination, source0, source1, shift, info)
#define VXC_IAccSq(destination, source0, source1, shift, info) \
    __OPKIT_LANEWISE(__OPKIT_ACC_SQUARE, destination, source0, source1, shift, info)
#define VXC_Lerp(destination, source0, source1, fraction, info) \
    __OPKIT_LANEWISE(__OPKIT_LERP, destination, source0, source1, fraction, info)
#if VX_VERSION < 2
#define VXC_BiLinear(destination, source0, source1, fractions, info) \
    __OPKIT_LANEWISE(__OPKIT_BILINEAR, destination, source0, source1, fractions, info)
#define VXC_Filter(destination, source0, source1, source2, info)                           \
    do {                                                                                   \
        if (__OPKIT_FILTER(info) < __OPKIT_FILTER_MAX ||                                   \
            __OPKIT_FILTER(info) > __OPKIT_FILTER_MEDIAN) {                                \
            __opkit_refused_filter_mode();                                                 \
        }                                                                                  \
        __OPKIT_LANEWISE(__OPKIT_FILTER3X3, destination, source0, source1, source2, info); \
    } while (0)
#define VXC_IAdd(destination, source0, source1, source2, info) \
    __OPKIT_LANEWISE(__OPKIT_ADD3, destination, source0, source1, source2, info)
#define VXC_SelectAdd(destination, source0, source1, lanes, info) \
    __OPKIT_LANEWISE(__OPKIT_SELECT_ADD, destination, source0, source1, lanes, info)
#define VXC_MagPhase(destination, source0, source1, info) \
    __OPKIT_LANEWISE(__OPKIT_MAG_PHASE, destination, source0, source1, 0, info)
#else
/*
 * Certain: between the rows first, for one lane more, into a register of the destination's type;
 * then between neighbors.
 */
#define VXC_BiLinear(destination, source0, source1, fractions, info)                             \
    do {                                                                                         \
        __auto_type __opkit_rows = (destination);                                                \
        __auto_type __opkit_fractions = (fractions);                                             \
        VXC_Lerp(__opkit_rows, source0, source1, __opkit_fractions.y, (info) + (1 << 8));        \
        __OPKIT_LANEWISE(__OPKIT_LERP_NEIGHBORS, destination, __opkit_rows, __opkit_fractions.x, \
                         0, info);                                                               \
    } while (0)
#endif

/* Moves of bytes from and to an address; in VXC_Vload and VXC_Vstore the offset counts values. */
#define __OPKIT_VLOAD(destination, address, bytes)                           \
    do {                                                                     \
        __auto_type __opkit_value = (destination);                           \
        __builtin_memcpy(&__opkit_value, (const uchar *)(address) + (bytes), \
                         sizeof(__opkit_value));                             \
        (destination) = __opkit_value;                                       \
    } while (0)
#define __OPKIT_VSTORE(address, bytes, data)                                                   \
    do {                                                                                       \
        __auto_type __opkit_value = (data);                                                    \
        __builtin_memcpy((uchar *)(address) + (bytes), &__opkit_value, sizeof(__opkit_value)); \
    } while (0)
#define __OPKIT_VLOAD_VALUE(destination, address, offset) \
    __OPKIT_VLOAD(destination, address, sizeof(destination) * (offset))
#define __OPKIT_VSTORE_VALUE(address, offset, data) \
    __OPKIT_VSTORE(address, sizeof(data) * (offset), data)
/* Three elements take the place of four, of which the last one stays. */
#define __OPKIT_THREE_OF_FOUR(value) (sizeof(value) / 4 * 3)
#define __OPKIT_VLOAD3(destination, address, bytes)                          \
    do {                                                                     \
        __auto_type __opkit_value = (destination);                           \
        __builtin_memcpy(&__opkit_value, (const uchar *)(address) + (bytes), \
                         __OPKIT_THREE_OF_FOUR(__opkit_value));              \
        (destination) = __opkit_value;                                       \
    } while (0)
#define __OPKIT_VSTORE3(address, bytes, data)                          \
    do {                                                               \
        __auto_type __opkit_value = (data);                            \
        __builtin_memcpy((uchar *)(address) + (bytes), &__opkit_value, \
                         __OPKIT_THREE_OF_FOUR(__opkit_value));        \
    } while (0)
#define VXC_Vload3(destination, address, offset) \
    __OPKIT_VLOAD3(destination, address, sizeof(destination) * (offset))
#define VXC_Vstore3(address, offset, data) __OPKIT_VSTORE3(address, sizeof(data) * (offset), data)
#define VXC_Vload2 __OPKIT_VLOAD_VALUE
#define VXC_Vload4 __OPKIT_VLOAD_VALUE
#define VXC_Vload8 __OPKIT_VLOAD_VALUE
#define VXC_Vload16 __OPKIT_VLOAD_VALUE
#define VXC_Vstore2 __OPKIT_VSTORE_VALUE
#define VXC_Vstore4 __OPKIT_VSTORE_VALUE
#define VXC_Vstore8 __OPKIT_VSTORE_VALUE
#define VXC_Vstore16 __OPKIT_VSTORE_VALUE

/*
 * Plumbing of the vendor's macros: the operations that published kernels name. Where there is a
 * destination, it comes first; offsets of vload and vstore are in bytes.
 */
#define __OPKIT_OP_img_load VXC_ReadImage
#define __OPKIT_OP_img_store VXC_WriteImage
#define __OPKIT_OP_img_load_3d VXC_ReadImage3D
#define __OPKIT_OP_img_store_3d VXC_WriteImage3D
#define __OPKIT_OP_vload2 __OPKIT_VLOAD
#define __OPKIT_OP_vload3 __OPKIT_VLOAD3
#define __OPKIT_OP_vload4 __OPKIT_VLOAD
#define __OPKIT_OP_vload8 __OPKIT_VLOAD
#define __OPKIT_OP_vload16 __OPKIT_VLOAD
#define __OPKIT_OP_vstore2 __OPKIT_VSTORE
#define __OPKIT_OP_vstore3 __OPKIT_VSTORE3
#define __OPKIT_OP_vstore4 __OPKIT_VSTORE
#define __OPKIT_OP_vstore8 __OPKIT_VSTORE
#define __OPKIT_OP_vstore16 __OPKIT_VSTORE
#define __OPKIT_OP(operation, ...) __OPKIT_OP_##operation(__VA_ARGS__)
#define VXC_OP1 __OPKIT_OP
#define VXC_OP1_NoDest __OPKIT_OP
#define VXC_OP1_ST __OPKIT_OP
#define VXC_OP2 __OPKIT_OP
#define VXC_OP2_NoDest __OPKIT_OP
#define VXC_OP2_ST __OPKIT_OP
#define VXC_OP3 __OPKIT_OP
#define VXC_OP3_NoDest __OPKIT_OP
#define VXC_OP3_ST __OPKIT_OP
#define VXC_OP4 __OPKIT_OP
#define VXC_OP4_NoDest __OPKIT_OP
#define VXC_OP4_ST __OPKIT_OP
#define VXC_OP5 __OPKIT_OP
#define VXC_OP5_NoDest __OPKIT_OP
#define VXC_OP5_ST __OPKIT_OP
