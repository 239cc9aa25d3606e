/* OpenVX's header of that name; everything in it is in vx.h. */
#ifndef OPKIT_VX_API_H
#define OPKIT_VX_API_H

#include <VX/vx.h>

#endif
