/*
 * Sums a tensor of the elements 0, 1, 2, ... along axes, by the loops of a plan.
 *
 *     program SIDE IS_REDUCED [SIDE IS_REDUCED ...]
 *
 * Prints the counts of the loops from the outside, then the sums.
 */
#include <stdio.h>
#include <stdlib.h>

#include "opkit/compute/axes.h"

int main(int argument_count, char **arguments)
{
    struct opkit_tensor x = {OPKIT_FLOAT32, 0, {1, 1, 1, 1, 1, 1}, 1, {NULL}};
    bool is_reduced[OPKIT_MAX_RANK] = {false};

    for (int i = 1; i + 1 < argument_count; i += 2) {
        x.shape[x.rank] = (size_t)atoi(arguments[i]);
        is_reduced[x.rank++] = atoi(arguments[i + 1]) != 0;
    }
    const struct opkit_reduction plan = opkit_plan_reduction(&x, is_reduced);

    printf("%zu %zu %zu %zu %zu\n", plan.kept.count, plan.reduced.count, plan.length, plan.columns,
           plan.terms);
    for (size_t i = 0; i < plan.kept.count * plan.columns; i++) {
        const size_t first = opkit_offset(&plan.kept, i / plan.columns) + i % plan.columns;
        size_t sum = 0;

        for (size_t j = 0; j < plan.reduced.count; j++) {
            for (size_t row = 0; row < plan.length; row++) {
                sum += first + opkit_offset(&plan.reduced, j) + row * plan.columns;
            }
        }
        printf("%zu ", sum);
    }
    return 0;
}
