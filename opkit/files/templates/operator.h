/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
#ifndef ${upper}_H
#define ${upper}_H

/* Inputs, outputs and params of ${name}, for every runtime. */

#include <stdbool.h>
#include <stdint.h>

#include "../include/opkit/compute/tensor.h"

struct ${lower}_inputs {
$inputs
};

struct ${lower}_outputs {
$outputs
};

struct ${lower}_params {
$params
};

#endif
