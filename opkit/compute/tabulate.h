/*
 * Elementwise functions of one half, looked up in a table of their results where that is faster.
 *
 * The table is filled by the loop that computes the function, so both give the same bits. Whether
 * it is faster depends on the function and on the caches of the processor: a node measures it once.
 *
 * Plain C11 and C++11.
 */
#ifndef OPKIT_TABULATE_H
#define OPKIT_TABULATE_H

#include <time.h>

#include "elementwise.h"
#include "half_table.h"

/*
 * Elements that a node computes before it fills the table, which takes as long as the computation
 * of 65,536. In checks the table is always used: the function is called with all halves there, too.
 */
#if defined(OPKIT_GUARDED)
#define OPKIT_WORTH_A_TABLE 0
#else
#define OPKIT_WORTH_A_TABLE (2 * OPKIT_HALF_TABLE_SIZE)
#endif
#define OPKIT_TABLE_IS_SLOWER SIZE_MAX /* instead of the number of computed elements */

/* A loop and the table of its results. */
struct opkit_look_up {
    const struct opkit_loop *loop;
    const uint16_t *results;
};

/* Looks up a part of the output: a body for opkit_parallel_for. */
OPKIT_SMALL void opkit_look_up_part(const void *context, size_t begin, size_t end)
{
    const struct opkit_look_up *look_up = (const struct opkit_look_up *)context;
    const struct opkit_loop *loop = look_up->loop;
    const uint16_t *x = (const uint16_t *)(const void *)loop->inputs[0].data;
    uint16_t *y = (uint16_t *)(void *)loop->data;

    opkit_look_up_halves(look_up->results, x + begin, y + begin, end - begin);
}

static inline double opkit_seconds(void)
{
    struct timespec now;

    (void)timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Allocates the table. Each half is its own result. Returns false if out of memory. */
OPKIT_SMALL bool opkit_allocate_half_table(struct opkit_half_table *table, size_t params_size)
{
    table->results =
        (uint16_t *)malloc(OPKIT_HALF_TABLE_SIZE * sizeof *table->results + params_size);
    if (table->results == NULL) {
        return false;
    }
    for (size_t i = 0; i < OPKIT_HALF_TABLE_SIZE; i++) {
        table->results[i] = (uint16_t)i;
    }
    return true;
}

/* Replaces each half in the table by the function's result. */
OPKIT_SMALL void opkit_fill_half_table(struct opkit_half_table *table,
                                       const struct opkit_loop *loop, size_t params_size,
                                       opkit_loop_body compute)
{
    struct opkit_loop all;
    struct opkit_tensor halves;
    const struct opkit_tensor *const tensors[] = {&halves};

    halves.type = OPKIT_FLOAT16;
    halves.rank = 1;
    halves.size = halves.shape[0] = OPKIT_HALF_TABLE_SIZE;
    halves.data = table->results;
    (void)opkit_plan_loop(&all, tensors, 1, &halves, loop->params);
    compute(&all, 0, all.size);
    memcpy(table->results + OPKIT_HALF_TABLE_SIZE, loop->params, params_size);
}

/* Fills the table, and measures with the call's elements whether it is faster. */
OPKIT_SMALL bool opkit_try_half_table(struct opkit_half_table *table, const struct opkit_loop *loop,
                                      size_t params_size, opkit_loop_body compute)
{
    const size_t count = loop->size < OPKIT_HALF_TABLE_SIZE ? loop->size : OPKIT_HALF_TABLE_SIZE;

    if (opkit_allocate_half_table(table, params_size)) {
        const struct opkit_look_up look_up = {loop, table->results};

        const double start = opkit_seconds();
        opkit_fill_half_table(table, loop, params_size, compute);
        const double filled = opkit_seconds();
        opkit_look_up_part(&look_up, 0, count);
        const double looked_up = opkit_seconds();

        const double per_look_up = (looked_up - filled) / (double)count;
        const double per_result = (filled - start) / OPKIT_HALF_TABLE_SIZE;
        if (OPKIT_WORTH_A_TABLE == 0 || per_look_up < per_result) {
            return true;
        }
    }
    opkit_release_half_table(table);
    table->computed = OPKIT_TABLE_IS_SLOWER;
    return false;
}

/* Returns whether the table has the results for the params of a loop. */
static inline bool opkit_is_tabulated(const struct opkit_half_table *table,
                                      const struct opkit_loop *loop, size_t params_size)
{
    return table->results != NULL &&
           memcmp(table->results + OPKIT_HALF_TABLE_SIZE, loop->params, params_size) == 0;
}

/*
 * Runs a loop over the elements of one input, all in a row, by a table of halves where that is
 * faster. `table` is kept by the node for all its calls, one at a time; NULL: there is none.
 */
OPKIT_SMALL void opkit_run_loop(struct opkit_half_table *table, const struct opkit_loop *loop,
                                size_t params_size, opkit_loop_body compute)
{
    const bool are_halves = loop->type == OPKIT_FLOAT16 && loop->inputs[0].type == OPKIT_FLOAT16;

    if (table != NULL && are_halves && loop->size > 0) {
        bool is_tabulated = opkit_is_tabulated(table, loop, params_size);

        if (!is_tabulated && table->results != NULL) { /* for other params */
            opkit_release_half_table(table);
        }
        if (!is_tabulated && table->computed != OPKIT_TABLE_IS_SLOWER) {
            table->computed += loop->size;
            is_tabulated = table->computed >= OPKIT_WORTH_A_TABLE &&
                           opkit_try_half_table(table, loop, params_size, compute);
        }
        if (is_tabulated) {
            const struct opkit_look_up look_up = {loop, table->results};

            opkit_parallel_for(loop->size, OPKIT_GRAIN, opkit_look_up_part, &look_up);
            return;
        }
    }
    opkit_parallel_for(loop->size, OPKIT_GRAIN, compute, loop);
}

#endif
