/* Multiplies matrices of 8-bit integers: reads them from stdin, writes the sums. */
#include <stdio.h>
#include <stdlib.h>

#include "opkit/compute/integer_matmul.h"

static uint8_t numbers[4][1 << 20];
static int32_t sums[1 << 16];

/* Reads a tensor of one or two dimensions. */
static struct opkit_tensor read_tensor(uint8_t *memory, const char *type, size_t rank, size_t rows,
                                       size_t columns)
{
    struct opkit_tensor tensor;

    memset(&tensor, 0, sizeof tensor);
    tensor.type = strcmp(type, "int8") == 0 ? OPKIT_INT8 : OPKIT_UINT8;
    tensor.rank = rank;
    tensor.shape[0] = rows;
    tensor.shape[1] = columns;
    tensor.size = rows * columns;
    tensor.uint8 = memory;
    if (fread(memory, 1, tensor.size, stdin) != tensor.size) {
        exit(2);
    }
    return tensor;
}

/* Arguments: rows, terms, columns, the types of both, and of each the count of zero points. */
int main(int count, char **arguments)
{
    if (count != 8) {
        return 2;
    }
    const size_t rows = (size_t)atoi(arguments[1]), terms = (size_t)atoi(arguments[2]);
    const size_t columns = (size_t)atoi(arguments[3]);
    const char *left = arguments[4], *right = arguments[5];
    const struct opkit_tensor a = read_tensor(numbers[0], left, 2, rows, terms);
    const struct opkit_tensor b = read_tensor(numbers[1], right, 2, terms, columns);
    const struct opkit_tensor a_zeros =
        read_tensor(numbers[2], left, 1, (size_t)atoi(arguments[6]), 1);
    const struct opkit_tensor b_zeros =
        read_tensor(numbers[3], right, 1, (size_t)atoi(arguments[7]), 1);
    struct opkit_tensor y = a;
    struct opkit_integer_block block;
    struct opkit_matmul plan;
    size_t column;

    y.type = OPKIT_INT32;
    y.int32 = sums;
    y.shape[1] = columns;
    y.size = rows * columns;
    opkit_plan_matmul(&plan, &a, &b, &y, &a_zeros, &b_zeros);
    block.summed = NULL;
    for (size_t i = 0; i < opkit_matmul_blocks(&plan); i++) {
        const size_t first = opkit_run_matmul(&plan, i, &block, &column);

        for (size_t row = 0; row < block.rows; row++) {
            memcpy(sums + first + row * columns, block.sums + row * OPKIT_MATMUL_COLUMNS,
                   block.columns * sizeof *sums);
        }
    }
    fprintf(stderr, "%zu", opkit_find_tile().add == NULL ? 0 : opkit_find_tile().terms);
    return fwrite(sums, sizeof *sums, y.size, stdout) != y.size;
}
