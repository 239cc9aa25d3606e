/*
 * Store and load numbers as the VX emulator does. For each line `type rounding saturates value` of
 * stdin, print the 8 bytes of the element as an integer, and the number that is loaded from them.
 * With an argument, print the count of lanes of a register, its lanes from -1 on, and halves.
 */
#include <inttypes.h>
#include <stdio.h>

#include "opkit/opencl/runtime/runtime.h"

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

/* For processors without instructions for halves. */
_Float16 __truncsfhf2(float value);
_Float16 __truncdfhf2(double value);
float __extendhfsf2(_Float16 half);

static void print_halves(void)
{
    const double numbers[] = {1 + 0x3p-11, 65519, 65520, -0x1p-24};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const double from_double = (double)__extendhfsf2(__truncdfhf2(numbers[i]));
        const double from_float = (double)__extendhfsf2(__truncsfhf2((float)numbers[i]));

        printf("%a %a\n", from_double, from_float);
    }
}

int main(int count, char **arguments)
{
    int type, rounding, saturates;
    double value;

    (void)arguments;
    if (count > 1) {
        print_lanes();
        print_halves();
        return 0;
    }
    while (scanf("%d %d %d %la", &type, &rounding, &saturates, &value) == 4) {
        uint64_t bits = 0;

        __opkit_store(&bits, type, value, rounding, saturates != 0);
        printf("%" PRIu64 " %a\n", bits, __opkit_load(&bits, type));
    }
    return 0;
}
