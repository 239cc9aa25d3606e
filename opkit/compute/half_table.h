/*
 * Functions of one half (IEEE 754 binary16) as a table: every half is an index.
 *
 * Plain C11 and C++11.
 */
#ifndef OPKIT_HALF_TABLE_H
#define OPKIT_HALF_TABLE_H

#include <stdlib.h>

#include "half.h"

#define OPKIT_HALF_TABLE_SIZE 65536 /* entries: 128 KB */

/* The table that a node keeps: tabulate.h. Initialize it with zeros. */
struct opkit_half_table {
    uint16_t *results; /* of each half, then a copy of the params; NULL: not filled */
    size_t computed; /* elements that were computed without it */
};

static inline void opkit_release_half_table(struct opkit_half_table *table)
{
    free(table->results);
    table->results = NULL;
    table->computed = 0;
}

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
