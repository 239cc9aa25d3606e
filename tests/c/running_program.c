/*
 * Computes running sums of a tensor of the elements 1, 2, 3, ... along an axis.
 *
 *     program TYPE AXIS EXCLUSIVE REVERSE [SIDE ...]
 *
 * TYPE is a number of enum opkit_type. Prints the totals, or an error message.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "opkit/compute/running.h"

OPKIT_DEFINE_RUNNING(sum_float32, float, double, 0, +)
OPKIT_DEFINE_RUNNING(sum_uint32, uint32_t, uint32_t, 0, +)
OPKIT_DEFINE_RUNNING(sum_uint64, uint64_t, uint64_t, 0, +)

enum {
    FIRST_SIDE = 5
};

int main(int argument_count, char **arguments)
{
    static const struct opkit_running SUM = {sum_float32, sum_uint32, sum_uint64};
    struct opkit_tensor x = {(enum opkit_type)atoi(arguments[1]), 0, {0}, 1, {NULL}};

    for (int i = FIRST_SIDE; i < argument_count; i++) {
        x.shape[x.rank] = (size_t)atoi(arguments[i]);
        x.size *= x.shape[x.rank++];
    }
    struct opkit_tensor y = x;
    x.data = calloc(x.size, sizeof(int64_t)); /* no other type is larger */
    y.data = calloc(y.size, sizeof(int64_t));
    if (x.data == NULL || y.data == NULL) {
        return 2;
    }
    for (size_t i = 0; i < x.size; i++) {
        if (x.type == OPKIT_FLOAT32) {
            x.float32[i] = (float)(i + 1);
        } else if (x.type == OPKIT_INT64) {
            x.int64[i] = (int64_t)(i + 1);
        } else {
            x.int32[i] = (int32_t)(i + 1);
        }
    }
    const char *problem =
        opkit_run_along(&SUM, &x, &y, atoi(arguments[2]), atoi(arguments[3]), atoi(arguments[4]));
    if (problem != NULL) {
        puts(problem);
        return 1;
    }
    for (size_t i = 0; i < y.size; i++) {
        if (y.type == OPKIT_FLOAT32) {
            printf("%.0f ", (double)y.float32[i]);
        } else {
            printf("%" PRId64 " ", y.type == OPKIT_INT64 ? y.int64[i] : y.int32[i]);
        }
    }
    return 0;
}
