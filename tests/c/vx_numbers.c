/*
 * Store and load numbers as the VX emulator does. For each line `type rounding saturates value` of
 * stdin, print the 8 bytes of the element as an integer, and the number that is loaded from them.
 * With an argument, print the count of lanes of a register, and its lanes from -1 on.
 */
#include <inttypes.h>
#include <stdio.h>

#include "opkit/runtimes/rknn/vx/runtime/runtime.h"

static void print_lanes(void)
{
    int16_t elements[3] = {-1, 300, INT16_MIN};
    const struct __opkit_operand operand = {
        .data = elements, .size = sizeof elements, .element_size = 2, .type = __OPKIT_INT16};

    printf("%d", __opkit_lane_count(&operand));
    for (int lane = -1; lane <= 3; lane++) {
        printf(" %g", __opkit_lane(&operand, lane));
    }
    printf("\n");
}

int main(int count, char **arguments)
{
    int type, rounding, saturates;
    double value;

    (void)arguments;
    if (count > 1) {
        print_lanes();
        return 0;
    }
    while (scanf("%d %d %d %la", &type, &rounding, &saturates, &value) == 4) {
        uint64_t bits = 0;

        __opkit_store(&bits, type, value, rounding, saturates != 0);
        printf("%" PRIu64 " %a\n", bits, __opkit_load(&bits, type));
    }
    return 0;
}
