/*
 * Writes of the floats of stdin: the sum; the sum of the squared differences from 0.25; the same
 * two sums of differences by one function; mean and variance.
 */
#include <stdio.h>

#include "opkit/compute/reduce.h"

int main(void)
{
    static float x[1 << 16];
    const size_t count = fread(x, sizeof *x, sizeof x / sizeof *x, stdin);
    const struct opkit_differences both = opkit_sum_differences(x, count, 0.25F);
    const struct opkit_statistics found = opkit_measure(x, count);
    const double sums[] = {
        opkit_sum(x, count), opkit_sum_of_squares(x, count, 0.25F), both.sum,
        both.squares,        (double)found.center + found.rest,     found.variance,
    };

    return fwrite(sums, sizeof *sums, 6, stdout) == 6 ? 0 : 1;
}
