/*
 * Functions of one half (IEEE 754 binary16) as a table: every half is an index.
 *
 * Plain C11 and C++11.
 */
#ifndef OPKIT_HALF_TABLE_H
#define OPKIT_HALF_TABLE_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "half.h"

#define OPKIT_HALF_TABLE_SIZE 65536 /* entries: 128 KB */

/*
 * The results of a function with some params: one table for all nodes of the process that compute
 * this function with these params. A copy of the params is behind the struct.
 */
struct opkit_half_results {
    struct opkit_half_list *list; /* that has it */
    struct opkit_half_results *next;
    size_t users; /* nodes */
    void (*function)(const void *, size_t, size_t);
    size_t params_size;
    uint16_t table[OPKIT_HALF_TABLE_SIZE];
};

/* A node's use of a table: tabulate.h. Initialize it with zeros. */
struct opkit_half_table {
    struct opkit_half_results *results; /* NULL: none */
    size_t computed; /* elements that were computed without it */
};

/* Tables. They have a lock, because nodes of several graphs may run at the same time. */
struct opkit_half_list {
    bool is_locked;
    struct opkit_half_results *first;
};

static struct opkit_half_list opkit_half_tables; /* all tables of this source's functions */

/* The lock is held for a few instructions: filling a table is not among them. */
static inline void opkit_lock_half_list(struct opkit_half_list *list)
{
    while (__atomic_test_and_set(&list->is_locked, __ATOMIC_ACQUIRE)) {
    }
}

static inline void opkit_unlock_half_list(struct opkit_half_list *list)
{
    __atomic_clear(&list->is_locked, __ATOMIC_RELEASE);
}

/* Returns whether results are those of a function with some params. */
static inline bool opkit_are_results_of(const struct opkit_half_results *results,
                                        void (*function)(const void *, size_t, size_t),
                                        const void *params, size_t params_size)
{
    return results->function == function && results->params_size == params_size &&
           memcmp(results + 1, params, params_size) == 0;
}

/* Returns the table of a function with some params, which gets a user, or NULL. */
OPKIT_SMALL struct opkit_half_results *
opkit_use_half_results(void (*function)(const void *, size_t, size_t), const void *params,
                       size_t params_size)
{
    opkit_lock_half_list(&opkit_half_tables);
    struct opkit_half_results *found = opkit_half_tables.first;
    while (found != NULL && !opkit_are_results_of(found, function, params, params_size)) {
        found = found->next;
    }
    if (found != NULL) {
        found->users++;
    }
    opkit_unlock_half_list(&opkit_half_tables);
    return found;
}

/* Adds a filled table with one user. Nodes that fill equal tables at the same time keep both. */
OPKIT_SMALL void opkit_share_half_results(struct opkit_half_results *results)
{
    opkit_lock_half_list(&opkit_half_tables);
    results->list = &opkit_half_tables;
    results->users = 1;
    results->next = opkit_half_tables.first;
    opkit_half_tables.first = results;
    opkit_unlock_half_list(&opkit_half_tables);
}

/* Ends a node's use of its table. Returns the table, to be freed, if this was the last use. */
OPKIT_SMALL struct opkit_half_results *opkit_leave_half_results(struct opkit_half_table *table)
{
    struct opkit_half_results *results = table->results;

    table->results = NULL;
    table->computed = 0;
    if (results == NULL) {
        return NULL;
    }
    struct opkit_half_list *list = results->list;
    opkit_lock_half_list(list);
    const bool is_unused = --results->users == 0;
    if (is_unused) {
        struct opkit_half_results **link = &list->first;
        while (*link != results) {
            link = &(*link)->next;
        }
        *link = results->next;
    }
    opkit_unlock_half_list(list);
    return is_unused ? results : NULL;
}

static inline void opkit_release_half_table(struct opkit_half_table *table)
{
    free(opkit_leave_half_results(table));
}

/*
 * Sets y[i] to table[x[i]] for `count` halves, given and returned as their bits. `x` and `y` may be
 * the same array; any other overlap is undefined.
 *
 * Pairs of halves save more than half of the loads and stores, which bound the time. They are in
 * the same order in x and y, so the processor's byte order does not matter.
 */
OPKIT_LOOP void opkit_look_up_halves(const uint16_t *table, const uint16_t *x, uint16_t *y,
                                     size_t count)
{
    uint32_t pairs[4];
    const size_t block = 2 * sizeof pairs / sizeof pairs[0];
    size_t i = 0;

    for (; count - i >= block; i += block) {
        memcpy(pairs, x + i, sizeof pairs);
        for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++) {
            pairs[k] = table[pairs[k] & 0xFFFFU] | (uint32_t)table[pairs[k] >> 16] << 16;
        }
        memcpy(y + i, pairs, sizeof pairs);
    }
    for (; i < count; i++) {
        y[i] = table[x[i]];
    }
}

#endif
