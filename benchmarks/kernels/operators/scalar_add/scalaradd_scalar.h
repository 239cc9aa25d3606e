/* The math of ScalarAdd for one element: the sum. */
#ifndef SCALARADD_SCALAR_H
#define SCALARADD_SCALAR_H

#include "generated/scalaradd.h"

static inline float scalaradd_of(float a, float b, const struct scalaradd_params *params)
{
    (void)params;

    return a + b;
}

#endif
