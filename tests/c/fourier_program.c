/*
 * Transforms rows of stdin: fourier_program complex LENGTH ROWS, elements [LENGTH, ROWS] of two
 * doubles; or fourier_program real LENGTH ROWS, floats. Writes two doubles for each result.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opkit/compute/fourier.h"

static int load_complex(const struct opkit_fourier *plan, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (fread(&plan->x.re[i], sizeof(double), 1, stdin) != 1 ||
            fread(&plan->x.im[i], sizeof(double), 1, stdin) != 1) {
            return 1;
        }
    }
    return 0;
}

static int load_real(const struct opkit_fourier *plan, size_t length, size_t rows)
{
    float *x = (float *)malloc(length * rows * sizeof *x);
    const int failed = x == NULL || fread(x, sizeof *x, length * rows, stdin) != length * rows;

    for (size_t row = 0; row < rows && failed == 0; row++) {
        opkit_load_real(plan, rows, row, x + row, rows, length, NULL);
    }
    free(x);
    return failed;
}

int main(int argument_count, char **arguments)
{
    const int is_real = argument_count == 4 && strcmp(arguments[1], "real") == 0;
    const size_t length = argument_count == 4 ? strtoul(arguments[2], NULL, 10) : 1;
    const size_t rows = argument_count == 4 ? strtoul(arguments[3], NULL, 10) : 1;
    double *memory = (double *)malloc(opkit_fourier_memory(length, rows) * sizeof *memory);
    struct opkit_fourier plan;
    int failed = memory == NULL;

    if (failed == 0) {
        opkit_start_fourier(&plan, length, is_real, rows, memory);
        failed = is_real ? load_real(&plan, length, rows) : load_complex(&plan, length * rows);
    }
    if (failed == 0) {
        const size_t results = plan.is_halved ? plan.length + 1 : length;

        opkit_transform(&plan, rows);
        for (size_t i = 0; i < results * rows; i++) {
            failed |= fwrite(&plan.x.re[i], sizeof(double), 1, stdout) != 1;
            failed |= fwrite(&plan.x.im[i], sizeof(double), 1, stdout) != 1;
        }
    }
    free(memory);
    return failed;
}
