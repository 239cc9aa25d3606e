/* What is not emulated says so, by name, where it is used. */

#define VX_UNAVAILABLE(name, why) _Static_assert(0, name " is not emulated: " why)
#define VX_NO_TABLE "how its configuration encodes 32 terms, or three operands, is not known; the forms of 16 terms are there: VXC_DP16x1, VXC_DP8x2, VXC_DP4x4, VXC_DP2x8"
#define VX_NOT_ON_VERSION_1 "it does not exist where VX_VERSION is 1"
#define VX_NOT_ON_VERSION_2 "it does not exist where VX_VERSION is 2"
#define VX_UNKNOWN "what it computes is not known"
#define VX_NOT_ON_BOARD "the board's compiler does not know it"

#define VXC_DP32x1(...) VX_UNAVAILABLE("VXC_DP32x1", VX_NO_TABLE)
#define VXC_DP16x2(...) VX_UNAVAILABLE("VXC_DP16x2", VX_NO_TABLE)
#define VXC_DP8x4(...) VX_UNAVAILABLE("VXC_DP8x4", VX_NO_TABLE)
#define VXC_DP4x8(...) VX_UNAVAILABLE("VXC_DP4x8", VX_NO_TABLE)
#define VXC_DP32x1_b(...) VX_UNAVAILABLE("VXC_DP32x1_b", VX_NO_TABLE)
#define VXC_DP16x2_b(...) VX_UNAVAILABLE("VXC_DP16x2_b", VX_NO_TABLE)
#define VXC_DP8x4_b(...) VX_UNAVAILABLE("VXC_DP8x4_b", VX_NO_TABLE)
#define VXC_DP4x8_b(...) VX_UNAVAILABLE("VXC_DP4x8_b", VX_NO_TABLE)
#define VXC_DP2x16_b(...) VX_UNAVAILABLE("VXC_DP2x16_b", VX_NO_TABLE)
#if VX_VERSION < 2
#define VXC_SelectAdd(...) VX_UNAVAILABLE("VXC_SelectAdd", VX_UNKNOWN)
#define VXC_MagPhase(...) VX_UNAVAILABLE("VXC_MagPhase", VX_UNKNOWN)
#define VXC_BitReplace(...) VX_UNAVAILABLE("VXC_BitReplace", VX_UNKNOWN)
#define VXC_DP2x16(...) VX_UNAVAILABLE("VXC_DP2x16", VX_NO_TABLE)
#define VXC_DP16x1_b(...) VX_UNAVAILABLE("VXC_DP16x1_b", VX_NOT_ON_VERSION_1)
#define VXC_DP8x2_b(...) VX_UNAVAILABLE("VXC_DP8x2_b", VX_NOT_ON_VERSION_1)
#define VXC_DP4x4_b(...) VX_UNAVAILABLE("VXC_DP4x4_b", VX_NOT_ON_VERSION_1)
#define VXC_DP2x8_b(...) VX_UNAVAILABLE("VXC_DP2x8_b", VX_NOT_ON_VERSION_1)
#else
#define VXC_SelectAdd(...) VX_UNAVAILABLE("VXC_SelectAdd", VX_NOT_ON_VERSION_2)
#define VXC_IAdd(...) VX_UNAVAILABLE("VXC_IAdd", VX_NOT_ON_VERSION_2)
#define VXC_MagPhase(...) VX_UNAVAILABLE("VXC_MagPhase", VX_NOT_ON_VERSION_2)
#define VXC_BitReplace(...) VX_UNAVAILABLE("VXC_BitReplace", VX_NOT_ON_VERSION_2)
#define VXC_DP2x16(...) VX_UNAVAILABLE("VXC_DP2x16", VX_NOT_ON_VERSION_2)
#define VXC_DP16x1_b(...) VX_UNAVAILABLE("VXC_DP16x1_b", VX_NO_TABLE)
#define VXC_DP8x2_b(...) VX_UNAVAILABLE("VXC_DP8x2_b", VX_NO_TABLE)
#define VXC_DP4x4_b(...) VX_UNAVAILABLE("VXC_DP4x4_b", VX_NO_TABLE)
#define VXC_DP2x8_b(...) VX_UNAVAILABLE("VXC_DP2x8_b", VX_NO_TABLE)
#endif
#define VX_ASM_GET_IMAGE_STRIDE(...) VX_UNAVAILABLE("_viv_asm(GET_IMAGE_STRIDE, ...)", VX_NOT_ON_BOARD)
#define VX_ASM_GET_IMAGE_TYPE(...) VX_UNAVAILABLE("_viv_asm(GET_IMAGE_TYPE, ...)", VX_UNKNOWN)
#define VX_ASM_CLAMPCOORD(...) VX_UNAVAILABLE("_viv_asm(CLAMPCOORD, ...)", VX_UNKNOWN)
#define VX_ASM_PARAM_CHAIN(...) VX_UNAVAILABLE("_viv_asm(PARAM_CHAIN, ...)", "use the VXC_ macro that stands for it")
#define VX_ASM_INTRINSIC(...) VX_UNAVAILABLE("_viv_asm(INTRINSIC, ...)", "use the VXC_ macro that stands for it")
#define VX_ASM_INTRINSIC_ST(...) VX_UNAVAILABLE("_viv_asm(INTRINSIC_ST, ...)", "use the VXC_ macro that stands for it")
