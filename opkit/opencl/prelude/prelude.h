/*
 * The language of .vx kernels for clang's OpenCL C: what the vendor's compiler has built in.
 *
 *     shared.h        what kernels and the runtime share
 *     types.h         scalars, vectors, images
 *     work_items.h    qualifiers, ids, barriers, local memory
 *     images.h        VXC_ReadImage and the like, read_image..., img_load_3d
 *     conversions.h   convert_..., as_..., _viv_asm
 *     limits.h        the constants of OpenCL 1.2
 *     floats.h        its mathematics
 *     integers.h      the same for integers
 *     relations.h     comparisons by name, select
 *     memory.h        vload, vstore, asynchronous copies, shuffle
 *     instructions.h  VXC_DP..., VXC_VertMax3 and the other VXC_ instructions
 *     unavailable.h   what is not emulated, by name
 */
#include "shared.h"
#include "types.h"
#include "work_items.h"
#include "conversions.h"
#include "images.h"
#include "limits.h"
#include "floats.h"
#include "integers.h"
#include "relations.h"
#include "memory.h"
#include "instructions.h"
#include "unavailable.h"
