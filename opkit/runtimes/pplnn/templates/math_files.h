/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
/* Where the math of ${name} is, as seen from this folder. */
#include "${root}${lower}_compute.h"
