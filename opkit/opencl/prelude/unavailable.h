/*
 * What is not emulated says so, by name, where the kernel that runs uses it: a call of a function
 * with this attribute is an error if code is made for it.
 */

#define __OPKIT_REFUSAL(id, what, why) \
    int __opkit_refused_##id(void) __attribute__((error(what " is not emulated: " why)))
#define __OPKIT_REFUSED_AS(id, what, why) \
    __extension__({                       \
        __OPKIT_REFUSAL(id, what, why);   \
        __opkit_refused_##id();           \
    })
#define __OPKIT_REFUSED(name, why) __OPKIT_REFUSED_AS(name, #name, why)
#define __OPKIT_NO_TABLE "how its configuration encodes 32 terms of three operands is not known"
#define __OPKIT_NOT_ON_VERSION_1 "it does not exist where VX_VERSION is 1"
#define __OPKIT_NOT_ON_VERSION_2 "it does not exist where VX_VERSION is 2"
#define __OPKIT_NO_UNIT "the unit of an offset, bytes or elements, is not known"
#define __OPKIT_NO_ORDER \
    "the order of its arguments is not known; write the bits with VXC_..._BITMASK"
#define __OPKIT_UNKNOWN "what it computes is not known"
#define __OPKIT_NOT_ON_BOARD "the board's compiler does not know it"

#define VXC_DP32x1_b(...) __OPKIT_REFUSED(VXC_DP32x1_b, __OPKIT_NO_TABLE)
#define VXC_DP16x2_b(...) __OPKIT_REFUSED(VXC_DP16x2_b, __OPKIT_NO_TABLE)
#define VXC_DP8x4_b(...) __OPKIT_REFUSED(VXC_DP8x4_b, __OPKIT_NO_TABLE)
#define VXC_DP4x8_b(...) __OPKIT_REFUSED(VXC_DP4x8_b, __OPKIT_NO_TABLE)
#define VXC_DP2x16_b(...) __OPKIT_REFUSED(VXC_DP2x16_b, __OPKIT_NO_TABLE)
#define VXC_Gather(...) __OPKIT_REFUSED(VXC_Gather, __OPKIT_NO_UNIT)
#define VXC_Gather_b(...) __OPKIT_REFUSED(VXC_Gather_b, __OPKIT_NO_UNIT)
#define VXC_Scatter(...) __OPKIT_REFUSED(VXC_Scatter, __OPKIT_NO_UNIT)
#define VXC_Scatter_b(...) __OPKIT_REFUSED(VXC_Scatter_b, __OPKIT_NO_UNIT)
#define VXC_AtomicS(...) __OPKIT_REFUSED(VXC_AtomicS, __OPKIT_NO_UNIT)
#define VXC_AtomicS_b(...) __OPKIT_REFUSED(VXC_AtomicS_b, __OPKIT_NO_UNIT)
#define VXC_MODIFIER_GATHER(...) __OPKIT_REFUSED(VXC_MODIFIER_GATHER, __OPKIT_NO_ORDER)
#define VXC_MODIFIER_SCATTER(...) __OPKIT_REFUSED(VXC_MODIFIER_SCATTER, __OPKIT_NO_ORDER)
#define VXC_MODIFIER_ATOMIC_S(...) __OPKIT_REFUSED(VXC_MODIFIER_ATOMIC_S, __OPKIT_NO_ORDER)
#define VXC_MODIFIER_MAGPHASE(...) __OPKIT_REFUSED(VXC_MODIFIER_MAGPHASE, __OPKIT_NO_ORDER)
__OPKIT_REFUSAL(sign_extension, "VXC_MODIFIER_SIGNEXT with its sign extension", __OPKIT_UNKNOWN);
#if VX_VERSION < 2
__OPKIT_REFUSAL(filter_mode, "VXC_Filter with a mode other than VXC_FM_Max, _Min and _Median",
                "how the others scale is not known");
#define VXC_BitReplace(...) __OPKIT_REFUSED(VXC_BitReplace, __OPKIT_UNKNOWN)
#define VXC_DP16x1_b(...) __OPKIT_REFUSED(VXC_DP16x1_b, __OPKIT_NOT_ON_VERSION_1)
#define VXC_DP8x2_b(...) __OPKIT_REFUSED(VXC_DP8x2_b, __OPKIT_NOT_ON_VERSION_1)
#define VXC_DP4x4_b(...) __OPKIT_REFUSED(VXC_DP4x4_b, __OPKIT_NOT_ON_VERSION_1)
#define VXC_DP2x8_b(...) __OPKIT_REFUSED(VXC_DP2x8_b, __OPKIT_NOT_ON_VERSION_1)
#else
#define VXC_SelectAdd(...) __OPKIT_REFUSED(VXC_SelectAdd, __OPKIT_NOT_ON_VERSION_2)
#define VXC_Filter(...) __OPKIT_REFUSED(VXC_Filter, __OPKIT_NOT_ON_VERSION_2)
#define VXC_IAdd(...) __OPKIT_REFUSED(VXC_IAdd, __OPKIT_NOT_ON_VERSION_2)
#define VXC_MagPhase(...) __OPKIT_REFUSED(VXC_MagPhase, __OPKIT_NOT_ON_VERSION_2)
#define VXC_BitReplace(...) __OPKIT_REFUSED(VXC_BitReplace, __OPKIT_NOT_ON_VERSION_2)
#define VXC_DP2x16(...) __OPKIT_REFUSED(VXC_DP2x16, __OPKIT_NOT_ON_VERSION_2)
#endif
#define __OPKIT_ASM_GET_IMAGE_STRIDE(...)                                       \
    __OPKIT_REFUSED_AS(asm_GET_IMAGE_STRIDE, "_viv_asm(GET_IMAGE_STRIDE, ...)", \
                       __OPKIT_NOT_ON_BOARD)
#define __OPKIT_ASM_GET_IMAGE_TYPE(...) \
    __OPKIT_REFUSED_AS(asm_GET_IMAGE_TYPE, "_viv_asm(GET_IMAGE_TYPE, ...)", __OPKIT_UNKNOWN)
#define __OPKIT_ASM_CLAMPCOORD(...) \
    __OPKIT_REFUSED_AS(asm_CLAMPCOORD, "_viv_asm(CLAMPCOORD, ...)", __OPKIT_UNKNOWN)
#define __OPKIT_ASM_PARAM_CHAIN(...)                                  \
    __OPKIT_REFUSED_AS(asm_PARAM_CHAIN, "_viv_asm(PARAM_CHAIN, ...)", \
                       "use the VXC_ macro that stands for it")
#define __OPKIT_ASM_INTRINSIC(...)                                \
    __OPKIT_REFUSED_AS(asm_INTRINSIC, "_viv_asm(INTRINSIC, ...)", \
                       "use the VXC_ macro that stands for it")
#define __OPKIT_ASM_INTRINSIC_ST(...)                                   \
    __OPKIT_REFUSED_AS(asm_INTRINSIC_ST, "_viv_asm(INTRINSIC_ST, ...)", \
                       "use the VXC_ macro that stands for it")
