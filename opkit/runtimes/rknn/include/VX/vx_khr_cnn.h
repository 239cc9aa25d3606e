/*
 * The first include of the vendor's kernel sources. They use only plain OpenVX (vx.h), nothing of
 * the neural network extension with this header's name.
 */
#ifndef OPKIT_VX_KHR_CNN_H
#define OPKIT_VX_KHR_CNN_H

#include <VX/vx.h>

#endif
