/* Generated from op.yml by opkit. Do not edit: the next build overwrites it. */
#ifndef ${upper}_ALLOWED_H
#define ${upper}_ALLOWED_H

#include <stdio.h>
$string
#include "${lower}.h"

/*
 * Returns whether min, max and choices in op.yml allow the params. If not, writes the first
 * problem.
 */
$declaration
{
$checks    return true;
}

#endif
