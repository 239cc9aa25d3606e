/*
 * Store and load numbers as the VX emulator does. For each line `type rounding saturates value` of
 * stdin, print the 8 bytes of the element as an integer, and the number that is loaded from them.
 */
#include <inttypes.h>
#include <stdio.h>

#include "opkit/runtimes/rknn/vx/runtime/runtime.h"

int main(void)
{
    int type, rounding, saturates;
    double value;

    while (scanf("%d %d %d %la", &type, &rounding, &saturates, &value) == 4) {
        uint64_t bits = 0;

        __opkit_store(&bits, type, value, rounding, saturates != 0);
        printf("%" PRIu64 " %a\n", bits, __opkit_load(&bits, type));
    }
    return 0;
}
