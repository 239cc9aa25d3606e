/*
 * Elementwise functions of one half, looked up in a table of their results where that is faster.
 *
 * The table is filled by the loop that computes the function, so both give the same bits. Whether
 * it is faster depends on the function and on the caches of the processor: a node measures it once,
 * unless another node has the table already.
 *
 * Plain C11 and C++11.
 */
#ifndef OPKIT_TABULATE_H
#define OPKIT_TABULATE_H

#include <time.h>

#include "elementwise.h"

/*
 * Elements that a node computes before it fills the table, which takes as long as the computation
 * of 65,536. In checks the table is always used: the function is called with all halves there, too.
 */
#if defined(OPKIT_GUARDED)
#define OPKIT_WORTH_A_TABLE 1
#define OPKIT_MEASURES_TABLES false
#else
#define OPKIT_WORTH_A_TABLE (2 * OPKIT_HALF_TABLE_SIZE)
#define OPKIT_MEASURES_TABLES true
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

#if defined(__ANDROID__) /* where timespec_get is younger than the API level that we build for */
    (void)clock_gettime(CLOCK_REALTIME, &now);
#else
    (void)timespec_get(&now, TIME_UTC);
#endif
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Returns a new table, in which each half is its own result; NULL: out of memory. */
OPKIT_SMALL struct opkit_half_results *opkit_allocate_half_results(const struct opkit_loop *loop,
                                                                   size_t params_size,
                                                                   opkit_loop_body compute)
{
    struct opkit_half_results *results =
        (struct opkit_half_results *)malloc(sizeof *results + params_size);

    if (results == NULL) {
        return NULL;
    }
    results->function = compute;
    results->params_size = params_size;
    memcpy(results + 1, loop->params, params_size);
    for (size_t i = 0; i < OPKIT_HALF_TABLE_SIZE; i++) {
        results->table[i] = (uint16_t)i;
    }
    return results;
}

/* Replaces each half in a table by the function's result. */
OPKIT_SMALL void opkit_fill_half_results(struct opkit_half_results *results,
                                         const struct opkit_loop *loop)
{
    struct opkit_loop all;
    struct opkit_tensor halves;
    const struct opkit_tensor *const tensors[] = {&halves};

    halves.type = OPKIT_FLOAT16;
    halves.rank = 1;
    halves.size = halves.shape[0] = OPKIT_HALF_TABLE_SIZE;
    halves.data = results->table;
    (void)opkit_plan_loop(&all, tensors, 1, &halves, loop->params);
    results->function(&all, 0, all.size);
}

/* Returns the seconds of looking up a part of a call's elements, at the second time. */
static inline double opkit_time_look_up(const struct opkit_look_up *look_up, size_t count)
{
    opkit_look_up_part(look_up, 0, count); /* brings the tensors into the caches */
    const double start = opkit_seconds();
    opkit_look_up_part(look_up, 0, count);
    return opkit_seconds() - start;
}

/* Fills a table, and measures with the call's elements whether it is faster. */
OPKIT_SMALL void opkit_try_half_table(struct opkit_half_table *table, const struct opkit_loop *loop,
                                      size_t params_size, opkit_loop_body compute)
{
    const size_t count = loop->size < OPKIT_HALF_TABLE_SIZE ? loop->size : OPKIT_HALF_TABLE_SIZE;
    struct opkit_half_results *results = opkit_allocate_half_results(loop, params_size, compute);

    if (results != NULL) {
        const struct opkit_look_up look_up = {loop, results->table};

        const double start = opkit_seconds();
        opkit_fill_half_results(results, loop);
        const double per_result = (opkit_seconds() - start) / OPKIT_HALF_TABLE_SIZE;
        const double per_look_up = opkit_time_look_up(&look_up, count) / (double)count;
        if (!OPKIT_MEASURES_TABLES || per_look_up < per_result) {
            opkit_share_half_results(results);
            table->results = results;
            return;
        }
    }
    free(results);
    table->computed = OPKIT_TABLE_IS_SLOWER;
}

/* Finds or fills the table of a node for a call, unless computing is faster. */
OPKIT_SMALL void opkit_find_half_table(struct opkit_half_table *table,
                                       const struct opkit_loop *loop, size_t params_size,
                                       opkit_loop_body compute)
{
    if (table->results != NULL) {
        if (opkit_are_results_of(table->results, compute, loop->params, params_size)) {
            return;
        }
        opkit_release_half_table(table); /* for other params */
    }
    table->results = opkit_use_half_results(compute, loop->params, params_size);
    table->computed += loop->size;
    if (table->results == NULL && table->computed >= OPKIT_WORTH_A_TABLE) {
        opkit_try_half_table(table, loop, params_size, compute);
    }
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
        if (table->computed != OPKIT_TABLE_IS_SLOWER) {
            opkit_find_half_table(table, loop, params_size, compute);
        }
        if (table->results != NULL) {
            const struct opkit_look_up look_up = {loop, table->results->table};

            opkit_parallel_for(loop->size, OPKIT_GRAIN, opkit_look_up_part, &look_up);
            return;
        }
    }
    opkit_parallel_for(loop->size, OPKIT_GRAIN, compute, loop);
}

#endif
