/*
 * Call the math of an operator, for counting instructions. `case.h` has the operator, its tensors
 * and its params; a file has the elements of the inputs.
 *
 *     program FILE COUNT
 */
#include <stdio.h>
#include <stdlib.h>

#include "case.h"

struct bound_tensor {
    struct opkit_tensor *tensor;
    enum opkit_type type;
    bool is_output;
    size_t rank, shape[OPKIT_MAX_RANK];
};

static const struct bound_tensor bound_tensors[] = {TENSORS};

static void die(const char *problem)
{
    fprintf(stderr, "%s\n", problem);
    exit(EXIT_FAILURE);
}

static void load(const struct bound_tensor *bound, FILE *file)
{
    struct opkit_tensor *tensor = bound->tensor;

    tensor->type = bound->type;
    tensor->rank = bound->rank;
    tensor->size = 1;
    for (size_t i = 0; i < OPKIT_MAX_RANK; i++) {
        tensor->shape[i] = i < bound->rank ? bound->shape[i] : 1;
        tensor->size *= tensor->shape[i];
    }
    const size_t item = opkit_element_size(tensor->type);
    tensor->data = calloc(tensor->size, item);
    if (tensor->data == NULL) {
        die("not enough memory");
    }
    if (!bound->is_output && fread(tensor->data, item, tensor->size, file) != tensor->size) {
        die("the file is too short");
    }
}

/* Not inlined, so that each call computes everything again. */
__attribute__((noinline)) static void call(void)
{
    const char *problem = CALL;
    if (problem != NULL) {
        die(problem);
    }
}

int main(int argument_count, char **arguments)
{
    FILE *file = argument_count == 3 ? fopen(arguments[1], "rb") : NULL;

    if (file == NULL) {
        die("usage: program FILE COUNT");
    }
    for (size_t i = 0; i < sizeof bound_tensors / sizeof *bound_tensors; i++) {
        load(&bound_tensors[i], file);
    }
    for (int count = atoi(arguments[2]); count > 0; count--) {
        call();
    }
    return 0;
}
