/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
/* Where the structs of ${name} are, as seen from this folder. */
#include "${root}generated/${lower}.h"
#include "${root}include/opkit/runtimes/pplnn/glue/tensors.h"
