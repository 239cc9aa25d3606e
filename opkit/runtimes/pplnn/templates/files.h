/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
/* Paths of ${name}'s headers, relative to this folder. */
#include "${root}generated/${lower}.h"
#include "${root}include/opkit/runtimes/pplnn/glue/tensors.h"
