/*
 * The emulator's part of the harness: runs a VX kernel over all of its work items. Its files and
 * those of opkit/opencl/runtime are one library.
 *
 *     instructions.c  dot products and the other instructions on registers
 *     accesses.c      reads and writes of tensors that the prelude does not inline
 *     driver.c        takes the arguments and the launch, brings back outputs, describes faults
 *
 * Each file calls only those above it.
 */
#ifndef OPKIT_VX_RUNTIME_H
#define OPKIT_VX_RUNTIME_H

#include "opkit/opencl/runtime/runtime.h"

/* The value of a read outside of a tensor. */
enum __opkit_border {
    __OPKIT_BORDER_BITS, /* __opkit_fill, a pattern */
    __OPKIT_BORDER_EDGE, /* the nearest element */
    __OPKIT_BORDER_CONSTANT /* __opkit_constant, a number */
};

/* accesses.c */
extern enum __opkit_border __opkit_border;
extern uint32_t __opkit_fill;
extern double __opkit_constant;

#endif
