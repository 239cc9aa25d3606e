/*
 * Run the CPU kernel of the operator Failing four times, on inputs of which the second and third
 * make compute fail, and print the results for the calling program: statuses, the log, the
 * outputs.
 */
#include <stdio.h>

#include "hostrt.h"

enum {
    X,
    Y,
    Z,
    COUNT
};

extern vx_kernel_description_t *vx_kernel_Failing_list[];

static const vx_size START[] = {0, 0};
static const vx_size DIMS[] = {2, 1};

static void copy(vx_reference tensor, vx_size element_size, void *elements, vx_enum usage)
{
    const vx_size strides[] = {element_size, 2 * element_size};
    if (vxCopyTensorPatch((vx_tensor)tensor, 2, START, DIMS, strides, elements, usage,
                          VX_MEMORY_TYPE_HOST) != VX_SUCCESS) {
        fprintf(stderr, "a tensor cannot be copied\n");
    }
}

int main(void)
{
    /* Halves: 1 or -1, and 0. */
    static vx_uint16 INPUTS[][2] = {{0x3C00, 0}, {0xBC00, 0}, {0xBC00, 0}, {0x3C00, 0}};
    vx_kernel_description_t *description = vx_kernel_Failing_list[0];
    vx_context context = vxCreateContext();
    vx_kernel kernel =
        vxAddUserKernel(context, description->name, 0x100, description->function, COUNT,
                        description->validate, description->initialize, description->deinitialize);
    vx_reference tensors[COUNT];
    vx_status status;
    const char *line;

    for (vx_uint32 i = 0; i < COUNT; i++) {
        const vx_param_description_t *row = &description->parameters[i];
        tensors[i] = (vx_reference)vxCreateTensor(context, 2, DIMS,
                                                  i == Z ? VX_TYPE_INT32 : VX_TYPE_FLOAT16, 0);
        vxAddParameterToKernel(kernel, i, row->direction, row->data_type, row->state);
    }
    vxFinalizeKernel(kernel);
    vx_graph graph = vxCreateGraph(context);
    vx_node node = vxCreateGenericNode(graph, kernel);
    for (vx_uint32 i = 0; i < COUNT; i++) {
        vxSetParameterByIndex(node, i, tensors[i]);
    }
    for (size_t i = 0; i < dimof(INPUTS); i++) {
        vx_uint16 y[2];
        vx_int32 z[2];
        copy(tensors[X], sizeof(vx_uint16), INPUTS[i], VX_WRITE_ONLY);
        status = vxProcessGraph(graph);
        copy(tensors[Y], sizeof y[0], y, VX_READ_ONLY);
        copy(tensors[Z], sizeof z[0], z, VX_READ_ONLY);
        printf("%d: %04x %04x %d %d\n", (int)status, y[0], y[1], (int)z[0], (int)z[1]);
    }
    for (vx_size i = 0; (line = hostrt_log_entry(HOSTRT_LOG, i, &status)) != NULL; i++) {
        printf("log %d: %s\n", (int)status, line);
    }
    return vxReleaseContext(&context);
}
