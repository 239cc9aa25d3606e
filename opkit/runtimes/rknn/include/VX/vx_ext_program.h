/*
 * Vivante's extension for VX kernels, which run on the NPU's programmable unit: programs, launch
 * parameters, uniforms.
 */
#ifndef OPKIT_VX_EXT_PROGRAM_H
#define OPKIT_VX_EXT_PROGRAM_H

#include <VX/vx.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The launch of a VX kernel: it runs once for each of globalWorkSize[0] * ... *
 * globalWorkSize[workDim - 1] work items.
 *
 * In the kernel, get_global_id(i) = index of the work item * globalWorkScale[i] +
 * globalWorkOffset[i]. With 4 elements per work item, the scale is 4, the size is the number of
 * elements / 4, rounded up, and the id is an element's index. Every globalWorkSize must be above 0
 * and a multiple of its localWorkSize. The local sizes are all 0 (the driver chooses) or all set.
 */
typedef struct {
    vx_uint32 workDim; /* 1 to 3 */
    vx_size globalWorkOffset[VX_MAX_WORK_ITEM_DIMENSIONS];
    vx_size globalWorkScale[VX_MAX_WORK_ITEM_DIMENSIONS];
    vx_size localWorkSize[VX_MAX_WORK_ITEM_DIMENSIONS];
    vx_size globalWorkSize[VX_MAX_WORK_ITEM_DIMENSIONS];
} vx_kernel_execution_parameters_t;

enum vx_node_attribute_vivante_e {
    /*
     * vx_kernel_execution_parameters_t, copied; set with vxSetNodeAttribute from the VX kernel's
     * initialize. Queries of it fail.
     */
    VX_NODE_ATTRIBUTE_KERNEL_EXECUTION_PARAMETERS = 0x780300
};

enum vx_program_attribute_e {
    VX_PROGRAM_ATTRIBUTE_BUILD_LOG = 0x790000 /* text */
};

/* Creates a program from `count` strings of OpenCL source, with their lengths in bytes. */
VX_API_ENTRY vx_program VX_API_CALL vxCreateProgramWithSource(vx_context context, vx_uint32 count,
                                                              const vx_char *strings[],
                                                              vx_size lengths[]);
/*
 * Creates a program from a program binary of `size` bytes. The binary begins with SHDR (not linked
 * yet) or FULLPRGM.
 */
VX_API_ENTRY vx_program VX_API_CALL vxCreateProgramWithBinary(vx_context context,
                                                              const vx_uint8 *binary, vx_size size);
/* The runtime passes the options "-cl-viv-vx-extension". */
VX_API_ENTRY vx_status VX_API_CALL vxBuildProgram(vx_program program, const vx_char *options);
VX_API_ENTRY vx_status VX_API_CALL vxReleaseProgram(vx_program *program);
/*
 * `name` is a buffer of VX_MAX_KERNEL_NAME bytes. The board selects every function of the program
 * with this prefix.
 */
VX_API_ENTRY vx_kernel VX_API_CALL vxAddKernelInProgram(vx_program program, vx_char *name,
                                                        vx_enum enumeration,
                                                        vx_uint32 parameter_count,
                                                        vx_kernel_validate_f validate,
                                                        vx_kernel_initialize_f initialize,
                                                        vx_kernel_deinitialize_f deinitialize);
/*
 * Sets a _viv_uniform of the kernel. The pointer to the name is stored, not a copy: it must stay
 * valid for the node's lifetime. On the node of a CPU kernel, the call crashes the board.
 */
VX_API_ENTRY vx_status VX_API_CALL vxSetNodeUniform(vx_node node, const vx_char *name,
                                                    vx_size count, void *value);
/* Selects one of several functions of the program. */
VX_API_ENTRY vx_status VX_API_CALL vxSelectKernelSubname(vx_node node, const vx_char *name);

VX_STATIC_ASSERT(sizeof(vx_kernel_execution_parameters_t) == VX_BY_POINTER_SIZE(104, 52),
                 "as the board demands");
VX_STATIC_ASSERT(offsetof(vx_kernel_execution_parameters_t, workDim) == 0, "layout");
VX_STATIC_ASSERT(offsetof(vx_kernel_execution_parameters_t, globalWorkOffset) ==
                     VX_BY_POINTER_SIZE(8, 4),
                 "layout");
VX_STATIC_ASSERT(offsetof(vx_kernel_execution_parameters_t, globalWorkScale) ==
                     VX_BY_POINTER_SIZE(32, 16),
                 "layout");
VX_STATIC_ASSERT(offsetof(vx_kernel_execution_parameters_t, localWorkSize) ==
                     VX_BY_POINTER_SIZE(56, 28),
                 "layout");
VX_STATIC_ASSERT(offsetof(vx_kernel_execution_parameters_t, globalWorkSize) ==
                     VX_BY_POINTER_SIZE(80, 40),
                 "layout");
VX_STATIC_ASSERT(VX_NODE_ATTRIBUTE_KERNEL_EXECUTION_PARAMETERS ==
                     VX_ATTRIBUTE_BASE(VX_ID_VIVANTE, VX_TYPE_NODE),
                 "composition");
VX_STATIC_ASSERT(VX_PROGRAM_ATTRIBUTE_BUILD_LOG ==
                     VX_ATTRIBUTE_BASE(VX_ID_VIVANTE, VX_TYPE_PROGRAM),
                 "composition");

#ifdef __cplusplus
}
#endif

#endif
