/*
 * Functions of one half (IEEE 754 binary16) as a table: every half is an index.
 *
 * Plain C11 and C++11.
 */
#ifndef OPKIT_HALF_TABLE_H
#define OPKIT_HALF_TABLE_H

#include "half.h"

#define OPKIT_HALF_TABLE_SIZE 65536 /* entries: 128 KB */

/*
 * Sets y[i] to table[x[i]] for `count` halves, given and returned as their bits. `x` and `y` may be
 * the same array; any other overlap is undefined.
 */
OPKIT_LOOP void opkit_look_up_halves(const uint16_t *table, const uint16_t *x, uint16_t *y,
                                     size_t count)
{
    for (size_t i = 0; i < count; i++) {
        y[i] = table[x[i]];
    }
}

#endif
