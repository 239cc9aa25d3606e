/* Adds the last item of its second param, divided by its first, to each element. */
#include "opkit/check/harness/runtime.h"

int add(unsigned count, struct harness_value *values);

int add(unsigned count, struct harness_value *values)
{
    const float *input = values[0].bytes;
    float *output = values[1].bytes;
    const int divisor = *(const int *)values[2].bytes;
    const int *summands = values[3].bytes;
    const int summand = summands[values[3].shape[0] - 1] / divisor;

    for (size_t i = 0; i < values[0].size / sizeof *input; i++) {
        output[i] = input[i] + (float)summand;
    }
    return count == 4 ? 0 : 7;
}
