/*
 * The shim before another OpenCL: it forwards all calls, adds clImportMemoryARM, and pretends that
 * the platform is a Mali's.
 *
 *     process.c   what that OpenCL changes in the process, undone
 *     real.c      the library behind the shim
 *     buffers.c   buffers, of which some are on imported memory
 *     objects.c   platform, device, and the other objects
 *     commands.c  launches and reads
 *
 * Each file calls only those above it.
 */
#ifndef OPKIT_HOST_OPENCL_SHIM_H
#define OPKIT_HOST_OPENCL_SHIM_H

#include "../session.h"

#pragma GCC visibility push(hidden)

/* process.c */
/*
 * Keeps the process's actions on signals and its environment, and restores them: the harness would
 * take their change by a compiler in the OpenCL for one by the operator.
 */
void keep_process(void);
void restore_process(void);

/* real.c */
extern struct opkit_opencl real;
extern int32_t (*get_kernel_info)(opkit_cl_kernel, uint32_t, size_t, void *, size_t *);
extern void *(*map_buffer)(opkit_cl_queue, opkit_cl_buffer, uint32_t, uint64_t, size_t, size_t,
                           uint32_t, const void *, void *, int32_t *);
extern int32_t (*unmap_object)(opkit_cl_queue, opkit_cl_buffer, void *, uint32_t, const void *,
                               void *);
/* Opens the library, once; returns whether it is there. */
bool open_real(void);

/* buffers.c */
/* Lets the device see what the host has written into imported memory. */
void send_imports(opkit_cl_queue queue);
/* The reverse. */
void fetch_imports(opkit_cl_queue queue);
/* Unmaps imports that were released. */
void unmap_released(void);

#pragma GCC visibility pop

#endif
