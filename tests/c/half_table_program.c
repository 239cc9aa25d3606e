/*
 * opkit/compute/half.h as a filter: half_table_program [in_place] < table and halves > looked
 * up halves. Fails if an element past the result is written.
 */
#include <opkit/compute/half.h>

#include <stdio.h>

static uint16_t table[OPKIT_HALF_TABLE_SIZE];
static uint16_t halves[1 << 17];
static uint16_t results[1 << 17];

int main(int argument_count, char **arguments)
{
    (void)arguments;
    if (fread(table, sizeof *table, OPKIT_HALF_TABLE_SIZE, stdin) != OPKIT_HALF_TABLE_SIZE) {
        return 2;
    }
    const size_t count = fread(halves, sizeof *halves, (1 << 17) - 1, stdin);
    uint16_t *target = argument_count > 1 ? halves : results;
    target[count] = 0x1234;
    opkit_look_up_halves(table, halves, target, count);
    if (target[count] != 0x1234) {
        return 3;
    }
    return fwrite(target, sizeof *target, count, stdout) == count && fflush(stdout) == 0 ? 0 : 4;
}
