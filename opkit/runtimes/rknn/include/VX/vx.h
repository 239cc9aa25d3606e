/*
 * OpenVX as custom operators use it: types and functions.
 *
 * OpenVX is the C interface between an operator and the runtime that executes it. Every object (a
 * tensor, a scalar, the node that runs a kernel) is an opaque handle; vxQuery... returns its
 * attributes, vxCopy... copies its data in and out. Every function
 * returns a vx_status, VX_SUCCESS or a negative error.
 *
 * These headers declare what the boards' libOpenVX.so exports and an operator needs: a small part
 * of OpenVX 1.2 and of Vivante's extensions. Where boards differ from the OpenVX standard, the
 * comment at the declaration says so; such remarks were measured on the board's driver 1.7.5.
 */
#ifndef OPKIT_VX_H
#define OPKIT_VX_H

#include <VX/vx_types.h>
#include <VX/vx_api.h>

#endif
