/* The modifier word, dot products and the other instructions on registers. The runtime does the work. */

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
#define VXC_FM_Max VX_FILTER_MAX
#define VXC_FM_Min VX_FILTER_MIN
#define VXC_FM_Median VX_FILTER_MEDIAN

#define VXC_MODIFIER(start, end, source, rounding, clamp) \
    ((start) << 12 | (end) << 8 | (source) << 4 | (rounding) << 2 | (clamp) << 22)
#define VXC_MODIFIER_CLAMP(start, end, source, enable_bool) ((start) << 12 | (end) << 8 | (source) << 4 | (enable_bool) << 1)
#define VXC_MODIFIER_BIN(start, end, clamp) ((start) << 12 | (end) << 8 | (clamp) << 22)
#define VXC_MODIFIER_FILTER(start, end, source, filter, clamp) \
    ((start) << 12 | (end) << 8 | (source) << 4 | (filter) << 16 | (clamp) << 22)
#define VXC_MODIFIER_SIGNEXT(start, end, source, sign_extend, clamp) \
    ((start) << 12 | (end) << 8 | (source) << 4 | (clamp) << 22 | VX_REFUSED_UNLESS((sign_extend) == 0, "VXC_MODIFIER_SIGNEXT is not emulated with its sign extension: " VX_UNKNOWN))
#define VX_REFUSED_UNLESS(condition, why) \
    (0 * (int)sizeof(struct {             \
         _Static_assert(condition, why);  \
         int unused;                      \
     }))

void vx_dot_product(int outputs, const struct vx_operand *destination, const struct vx_operand *a, const struct vx_operand *b, int info, const void *configuration);
void vx_lanewise(enum vx_instruction instruction, const struct vx_operand *destination, const struct vx_operand *a, const struct vx_operand *b, const struct vx_operand *c, int info);

#define VX_DOT(outputs, destination, source0, source1, info, configuration)                                               \
    do {                                                                                                                  \
        __auto_type vx_a = (source0);                                                                                     \
        __auto_type vx_b = (source1);                                                                                     \
        __auto_type vx_words = (configuration);                                                                           \
        __typeof__(destination) vx_register = (destination);                                                              \
        _Static_assert(sizeof(vx_words) == 64, "the configuration of a dot product is a VXC_512Bits");                    \
        struct vx_operand vx_target = VX_OPERAND(vx_register), vx_first = VX_OPERAND(vx_a), vx_second = VX_OPERAND(vx_b); \
        vx_dot_product(outputs, &vx_target, &vx_first, &vx_second, info, &vx_words);                                      \
        (destination) = vx_register;                                                                                      \
    } while (0)
#define VXC_DP16x1(destination, source0, source1, info, configuration) VX_DOT(1, destination, source0, source1, info, configuration)
#define VXC_DP8x2(destination, source0, source1, info, configuration) VX_DOT(2, destination, source0, source1, info, configuration)
#define VXC_DP4x4(destination, source0, source1, info, configuration) VX_DOT(4, destination, source0, source1, info, configuration)
#define VXC_DP2x8(destination, source0, source1, info, configuration) VX_DOT(8, destination, source0, source1, info, configuration)

#define VX_LANEWISE(instruction, destination, source0, source1, source2, info)                                                                         \
    do {                                                                                                                                               \
        __auto_type vx_a = (source0);                                                                                                                  \
        __auto_type vx_b = (source1);                                                                                                                  \
        __auto_type vx_c = (source2);                                                                                                                  \
        __typeof__(destination) vx_register = (destination);                                                                                           \
        struct vx_operand vx_target = VX_OPERAND(vx_register), vx_first = VX_OPERAND(vx_a), vx_second = VX_OPERAND(vx_b), vx_third = VX_OPERAND(vx_c); \
        vx_lanewise(instruction, &vx_target, &vx_first, &vx_second, &vx_third, info);                                                                  \
        (destination) = vx_register;                                                                                                                   \
    } while (0)
#define VXC_VertMax3(destination, source0, source1, source2, info) VX_LANEWISE(VX_VERT_MAX3, destination, source0, source1, source2, info)
#define VXC_VertMin3(destination, source0, source1, source2, info) VX_LANEWISE(VX_VERT_MIN3, destination, source0, source1, source2, info)
#define VXC_VertMed3(destination, source0, source1, source2, info) VX_LANEWISE(VX_VERT_MED3, destination, source0, source1, source2, info)
#define VXC_HorzMax3(destination, source, info) VX_LANEWISE(VX_HORZ_MAX3, destination, source, 0, 0, info)
#define VXC_HorzMin3(destination, source, info) VX_LANEWISE(VX_HORZ_MIN3, destination, source, 0, 0, info)
#define VXC_HorzMed3(destination, source, info) VX_LANEWISE(VX_HORZ_MED3, destination, source, 0, 0, info)
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
#define VXC_Clamp(destination, source, low, high, info) VX_LANEWISE(VX_CLAMP, destination, source, low, high, info)
#define VXC_Clamp_Integer VXC_Clamp
#define VXC_Clamp_Half VXC_Clamp
#define VXC_AbsDiff(destination, source0, source1, info) VX_LANEWISE(VX_ABS_DIFF, destination, source0, source1, 0, info)
#define VXC_BitExtract(destination, source, offsets, widths, info) VX_LANEWISE(VX_BIT_EXTRACT, destination, source, offsets, widths, info)
#define VXC_MulShift(destination, source0, source1, shift, info) VX_LANEWISE(VX_MUL_SHIFT, destination, source0, source1, shift, info)
#define VXC_IAccSq(destination, source0, source1, shift, info) VX_LANEWISE(VX_ACC_SQUARE, destination, source0, source1, shift, info)
#define VXC_Lerp(destination, source0, source1, fraction, info) VX_LANEWISE(VX_LERP, destination, source0, source1, fraction, info)
#define VXC_BiLinear(destination, source0, source1, fractions, info) VX_LANEWISE(VX_BILINEAR, destination, source0, source1, fractions, info)
#define VXC_Filter(destination, source0, source1, source2, info)                                                                          \
    do {                                                                                                                                  \
        _Static_assert(VX_FILTER(info) >= VX_FILTER_MAX && VX_FILTER(info) <= VX_FILTER_MEDIAN,                                           \
                       "VXC_Filter is not emulated but for VXC_FM_Max, VXC_FM_Min and VXC_FM_Median: how the others scale is not known"); \
        VX_LANEWISE(VX_FILTER3X3, destination, source0, source1, source2, info);                                                          \
    } while (0)
#if VX_VERSION < 2
#define VXC_IAdd(destination, source0, source1, source2, info) VX_LANEWISE(VX_ADD3, destination, source0, source1, source2, info)
#endif

/* Moves of bytes: the value number `offset` from an address. */
#define VX_VLOAD(destination, address, offset)                                                                 \
    do {                                                                                                       \
        __typeof__(destination) vx_value;                                                                      \
        __builtin_memcpy(&vx_value, (const uchar *)(address) + sizeof(vx_value) * (offset), sizeof(vx_value)); \
        (destination) = vx_value;                                                                              \
    } while (0)
#define VX_VSTORE(address, offset, data)                                                                 \
    do {                                                                                                 \
        __auto_type vx_value = (data);                                                                   \
        __builtin_memcpy((uchar *)(address) + sizeof(vx_value) * (offset), &vx_value, sizeof(vx_value)); \
    } while (0)
#define VXC_Vload2 VX_VLOAD
#define VXC_Vload4 VX_VLOAD
#define VXC_Vload8 VX_VLOAD
#define VXC_Vload16 VX_VLOAD
#define VXC_Vstore2 VX_VSTORE
#define VXC_Vstore4 VX_VSTORE
#define VXC_Vstore8 VX_VSTORE
#define VXC_Vstore16 VX_VSTORE
