/* Writes the sum of the floats of stdin, and the sum of their squared differences from 0.25. */
#include <stdio.h>

#include "opkit/compute/reduce.h"

int main(void)
{
    static float x[1 << 16];
    const size_t count = fread(x, sizeof *x, sizeof x / sizeof *x, stdin);
    const double sums[] = {opkit_sum(x, count), opkit_sum_of_squares(x, count, 0.25F)};

    return fwrite(sums, sizeof *sums, 2, stdout) == 2 ? 0 : 1;
}
