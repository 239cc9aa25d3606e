/*
 * The GPU of the host runtime: what librknnrt hands over to an operator of the GPU (seen in 1.6.0):
 * a context and a queue for all nodes, and a dma-buf for each tensor, mapped for the CPU, too.
 * Memory files take the place of dma-bufs.
 */
#ifndef OPKIT_HOST_RUNTIME_GPU_H
#define OPKIT_HOST_RUNTIME_GPU_H

#include <stdbool.h>
#include <stddef.h>

#include <rknn_custom_op.h>

#include "opkit/check/harness/runtime.h"

/*
 * Makes context and queue in the OpenCL that RKNN_OP_OPENCL names, or takes those of another node.
 * Returns NULL, or an error message.
 */
const char *gpu_open(const struct harness_invocation *invocation, harness_record_f *record,
                     rknn_gpu_op_context *context);

/* Describes a signal while a GPU kernel runs, or returns false: none runs. */
bool gpu_describe_fault(struct harness_fault *fault, char *text, size_t size);

/* Ends the session of a node whose operator was stopped by a fault. */
void gpu_abandon(void);

/*
 * Makes another context and queue, those of another thread. Returns false if there are none.
 */
bool gpu_open_another(rknn_gpu_op_context *context);

/* Releases all of them with the last node; objects that the operators still have are leaks. */
void gpu_close(void);

/*
 * Gives a tensor memory of its name, with these elements from an offset on. Returns false if there
 * is none.
 */
bool gpu_allocate(rknn_tensor_mem *mem, const char *name, const void *elements, size_t size,
                  size_t offset);

void gpu_free(rknn_tensor_mem *mem);

#endif
