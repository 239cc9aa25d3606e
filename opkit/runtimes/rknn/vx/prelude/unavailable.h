/* What is not emulated says so, by name, where it is used. */

#define __OPKIT_UNAVAILABLE(name, why) \
    __extension__({ _Static_assert(0, name " is not emulated: " why); })
#define __OPKIT_UNAVAILABLE_VALUE(name, why) \
    __OPKIT_REFUSED_UNLESS(0, name " is not emulated: " why)
#define __OPKIT_NO_TABLE                                                                        \
    "how its configuration encodes 32 terms, or three operands, is not known; the forms of 16 " \
    "terms are there: VXC_DP16x1, VXC_DP8x2, VXC_DP4x4, VXC_DP2x8"
#define __OPKIT_NOT_ON_VERSION_1 "it does not exist where VX_VERSION is 1"
#define __OPKIT_NOT_ON_VERSION_2 "it does not exist where VX_VERSION is 2"
#define __OPKIT_NO_UNIT "the unit of an offset, bytes or elements, is not known"
#define __OPKIT_NO_ORDER \
    "the order of its arguments is not known; write the bits with VXC_..._BITMASK"
#define __OPKIT_UNKNOWN "what it computes is not known"
#define __OPKIT_NOT_ON_BOARD "the board's compiler does not know it"

#define VXC_DP32x1(...) __OPKIT_UNAVAILABLE("VXC_DP32x1", __OPKIT_NO_TABLE)
#define VXC_DP16x2(...) __OPKIT_UNAVAILABLE("VXC_DP16x2", __OPKIT_NO_TABLE)
#define VXC_DP8x4(...) __OPKIT_UNAVAILABLE("VXC_DP8x4", __OPKIT_NO_TABLE)
#define VXC_DP4x8(...) __OPKIT_UNAVAILABLE("VXC_DP4x8", __OPKIT_NO_TABLE)
#define VXC_DP32x1_b(...) __OPKIT_UNAVAILABLE("VXC_DP32x1_b", __OPKIT_NO_TABLE)
#define VXC_DP16x2_b(...) __OPKIT_UNAVAILABLE("VXC_DP16x2_b", __OPKIT_NO_TABLE)
#define VXC_DP8x4_b(...) __OPKIT_UNAVAILABLE("VXC_DP8x4_b", __OPKIT_NO_TABLE)
#define VXC_DP4x8_b(...) __OPKIT_UNAVAILABLE("VXC_DP4x8_b", __OPKIT_NO_TABLE)
#define VXC_DP2x16_b(...) __OPKIT_UNAVAILABLE("VXC_DP2x16_b", __OPKIT_NO_TABLE)
#define VXC_Gather(...) __OPKIT_UNAVAILABLE("VXC_Gather", __OPKIT_NO_UNIT)
#define VXC_Gather_b(...) __OPKIT_UNAVAILABLE("VXC_Gather_b", __OPKIT_NO_UNIT)
#define VXC_Scatter(...) __OPKIT_UNAVAILABLE("VXC_Scatter", __OPKIT_NO_UNIT)
#define VXC_Scatter_b(...) __OPKIT_UNAVAILABLE("VXC_Scatter_b", __OPKIT_NO_UNIT)
#define VXC_AtomicS(...) __OPKIT_UNAVAILABLE("VXC_AtomicS", __OPKIT_NO_UNIT)
#define VXC_AtomicS_b(...) __OPKIT_UNAVAILABLE("VXC_AtomicS_b", __OPKIT_NO_UNIT)
#define VXC_MODIFIER_GATHER(...) __OPKIT_UNAVAILABLE_VALUE("VXC_MODIFIER_GATHER", __OPKIT_NO_ORDER)
#define VXC_MODIFIER_SCATTER(...) \
    __OPKIT_UNAVAILABLE_VALUE("VXC_MODIFIER_SCATTER", __OPKIT_NO_ORDER)
#define VXC_MODIFIER_ATOMIC_S(...) \
    __OPKIT_UNAVAILABLE_VALUE("VXC_MODIFIER_ATOMIC_S", __OPKIT_NO_ORDER)
#define VXC_MODIFIER_MAGPHASE(...) \
    __OPKIT_UNAVAILABLE_VALUE("VXC_MODIFIER_MAGPHASE", __OPKIT_NO_ORDER)
#if VX_VERSION < 2
#define VXC_BitReplace(...) __OPKIT_UNAVAILABLE("VXC_BitReplace", __OPKIT_UNKNOWN)
#define VXC_DP2x16(...) __OPKIT_UNAVAILABLE("VXC_DP2x16", __OPKIT_NO_TABLE)
#define VXC_DP16x1_b(...) __OPKIT_UNAVAILABLE("VXC_DP16x1_b", __OPKIT_NOT_ON_VERSION_1)
#define VXC_DP8x2_b(...) __OPKIT_UNAVAILABLE("VXC_DP8x2_b", __OPKIT_NOT_ON_VERSION_1)
#define VXC_DP4x4_b(...) __OPKIT_UNAVAILABLE("VXC_DP4x4_b", __OPKIT_NOT_ON_VERSION_1)
#define VXC_DP2x8_b(...) __OPKIT_UNAVAILABLE("VXC_DP2x8_b", __OPKIT_NOT_ON_VERSION_1)
#else
#define VXC_SelectAdd(...) __OPKIT_UNAVAILABLE("VXC_SelectAdd", __OPKIT_NOT_ON_VERSION_2)
#define VXC_Filter(...) __OPKIT_UNAVAILABLE("VXC_Filter", __OPKIT_NOT_ON_VERSION_2)
#define VXC_IAdd(...) __OPKIT_UNAVAILABLE("VXC_IAdd", __OPKIT_NOT_ON_VERSION_2)
#define VXC_MagPhase(...) __OPKIT_UNAVAILABLE("VXC_MagPhase", __OPKIT_NOT_ON_VERSION_2)
#define VXC_BitReplace(...) __OPKIT_UNAVAILABLE("VXC_BitReplace", __OPKIT_NOT_ON_VERSION_2)
#define VXC_DP2x16(...) __OPKIT_UNAVAILABLE("VXC_DP2x16", __OPKIT_NOT_ON_VERSION_2)
#define VXC_DP16x1_b(...) __OPKIT_UNAVAILABLE("VXC_DP16x1_b", __OPKIT_NO_TABLE)
#define VXC_DP8x2_b(...) __OPKIT_UNAVAILABLE("VXC_DP8x2_b", __OPKIT_NO_TABLE)
#define VXC_DP4x4_b(...) __OPKIT_UNAVAILABLE("VXC_DP4x4_b", __OPKIT_NO_TABLE)
#define VXC_DP2x8_b(...) __OPKIT_UNAVAILABLE("VXC_DP2x8_b", __OPKIT_NO_TABLE)
#endif
#define __OPKIT_ASM_GET_IMAGE_STRIDE(...) \
    __OPKIT_UNAVAILABLE("_viv_asm(GET_IMAGE_STRIDE, ...)", __OPKIT_NOT_ON_BOARD)
#define __OPKIT_ASM_GET_IMAGE_TYPE(...) \
    __OPKIT_UNAVAILABLE("_viv_asm(GET_IMAGE_TYPE, ...)", __OPKIT_UNKNOWN)
#define __OPKIT_ASM_CLAMPCOORD(...) \
    __OPKIT_UNAVAILABLE("_viv_asm(CLAMPCOORD, ...)", __OPKIT_UNKNOWN)
#define __OPKIT_ASM_PARAM_CHAIN(...) \
    __OPKIT_UNAVAILABLE("_viv_asm(PARAM_CHAIN, ...)", "use the VXC_ macro that stands for it")
#define __OPKIT_ASM_INTRINSIC(...) \
    __OPKIT_UNAVAILABLE("_viv_asm(INTRINSIC, ...)", "use the VXC_ macro that stands for it")
#define __OPKIT_ASM_INTRINSIC_ST(...) \
    __OPKIT_UNAVAILABLE("_viv_asm(INTRINSIC_ST, ...)", "use the VXC_ macro that stands for it")
