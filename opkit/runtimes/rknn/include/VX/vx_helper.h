/*
 * Kernel descriptions: the interface between an operator's library and the runtime.
 *
 * An operator's library exports one symbol, vx_kernel_<Name>_list: pointers to kernel descriptions,
 * NULL at the end. The package's kernel_index selects a kernel: 0 is the CPU kernel, all other
 * values the VX kernel.
 */
#ifndef OPKIT_VX_HELPER_H
#define OPKIT_VX_HELPER_H

#include <VX/vx.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The number of elements of an array (not of a pointer). */
#define dimof(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Description of one kernel parameter. Tensors are VX_TYPE_TENSOR, arrays VX_TYPE_ARRAY, and all
 * numbers VX_TYPE_SCALAR.
 */
typedef struct {
    vx_enum direction; /* VX_INPUT or VX_OUTPUT */
    vx_enum data_type; /* VX_TYPE_... */
    vx_enum state; /* VX_PARAMETER_STATE_... */
} vx_param_description_t;

/*
 * Description of one kernel. It must not be const: the runtime writes its own number into
 * `enumeration`. Kernel names are global in the process: with a name that is already registered,
 * the other operator's code runs, without an error.
 */
typedef struct {
    vx_enum enumeration;
    /* Without ':' and '.': the board parses them as a target and a prefix. */
    vx_char name[VX_MAX_KERNEL_NAME];
    vx_kernel_f function; /* the CPU kernel's code; NULL in a VX kernel */
    vx_param_description_t *parameters;
    vx_uint32 numParams;
    vx_kernel_validate_f validate; /* must not be NULL */
    void *input_validate; /* of an older OpenVX: NULL */
    void *output_validate; /* of an older OpenVX: NULL */
    vx_kernel_initialize_f initialize;
    vx_kernel_deinitialize_f deinitialize;
} vx_kernel_description_t;

VX_STATIC_ASSERT(sizeof(vx_param_description_t) == 12, "three enumerations");
VX_STATIC_ASSERT(offsetof(vx_param_description_t, direction) == 0, "layout");
VX_STATIC_ASSERT(offsetof(vx_param_description_t, data_type) == 4, "layout");
VX_STATIC_ASSERT(offsetof(vx_param_description_t, state) == 8, "layout");

VX_STATIC_ASSERT(sizeof(vx_kernel_description_t) == VX_BY_POINTER_SIZE(328, 292),
                 "as the board reads it");
VX_STATIC_ASSERT(offsetof(vx_kernel_description_t, enumeration) == 0, "layout");
VX_STATIC_ASSERT(offsetof(vx_kernel_description_t, name) == 4, "layout");
VX_STATIC_ASSERT(offsetof(vx_kernel_description_t, function) == VX_BY_POINTER_SIZE(264, 260),
                 "layout");
VX_STATIC_ASSERT(offsetof(vx_kernel_description_t, parameters) == VX_BY_POINTER_SIZE(272, 264),
                 "layout");
VX_STATIC_ASSERT(offsetof(vx_kernel_description_t, numParams) == VX_BY_POINTER_SIZE(280, 268),
                 "layout");
VX_STATIC_ASSERT(offsetof(vx_kernel_description_t, validate) == VX_BY_POINTER_SIZE(288, 272),
                 "layout");
VX_STATIC_ASSERT(offsetof(vx_kernel_description_t, input_validate) == VX_BY_POINTER_SIZE(296, 276),
                 "layout");
VX_STATIC_ASSERT(offsetof(vx_kernel_description_t, output_validate) == VX_BY_POINTER_SIZE(304, 280),
                 "layout");
VX_STATIC_ASSERT(offsetof(vx_kernel_description_t, initialize) == VX_BY_POINTER_SIZE(312, 284),
                 "layout");
VX_STATIC_ASSERT(offsetof(vx_kernel_description_t, deinitialize) == VX_BY_POINTER_SIZE(320, 288),
                 "layout");

#ifdef __cplusplus
}
#endif

#endif
