/*
 * The math of Xor for one element: whether one of two elements is true, but not both.
 *
 * generated/xor_compute.h calls xor_of for each element of the output; the inputs are broadcast as
 * in numpy.
 */
#ifndef XOR_SCALAR_H
#define XOR_SCALAR_H

#include "generated/xor.h"

/* Returns an element of c. */
static inline bool xor_of(bool a, bool b, const struct xor_params *params)
{
    (void)params;

    return a != b;
}

#endif
