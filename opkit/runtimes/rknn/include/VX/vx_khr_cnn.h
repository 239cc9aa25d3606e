/*
 * The header that the vendor's kernel sources include first. They take nothing from the neural
 * network extension that it is named after, only the plain OpenVX of vx.h.
 */
#ifndef OPKIT_VX_KHR_CNN_H
#define OPKIT_VX_KHR_CNN_H

#include <VX/vx.h>

#endif
