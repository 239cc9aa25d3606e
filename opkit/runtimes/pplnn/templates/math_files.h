/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
/* Path of ${name}'s math, relative to this folder. */
${loops}#include "${root}${compute}"
