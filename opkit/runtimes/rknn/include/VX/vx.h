/*
 * OpenVX for custom operators: types and functions.
 *
 * OpenVX is the C interface between an operator and the runtime that executes it. Every object (a
 * tensor, a scalar, the node that runs a kernel) is an opaque handle; vxQuery... returns its
 * attributes, vxCopy... copies its data in and out. Functions return a vx_status: VX_SUCCESS or a
 * negative error. Functions that create an object return its handle.
 *
 * These headers declare the part of OpenVX 1.2 and of Vivante's extensions that operators need and
 * the boards' libOpenVX.so exports. Comments at the declarations note differences from the OpenVX
 * standard; they were measured on the board's driver 1.7.5.
 */
#ifndef OPKIT_VX_H
#define OPKIT_VX_H

#include <VX/vx_types.h>
#include <VX/vx_api.h>

#endif
