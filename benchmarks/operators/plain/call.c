/*
 * Call an operator of the library, or its plain loops, on the tensors of a file.
 *
 *     program FILE COUNT    calls COUNT times; writes the elements of the outputs
 *
 * `case.h` has the tensors and params. With PLAIN, the function is that of plain.h.
 */
#include <stdio.h>
#include <stdlib.h>

#include "case.h"
#ifdef PLAIN
#include "plain.h"
#endif

struct bound_tensor {
    struct opkit_tensor *tensor;
    bool is_output;
    enum opkit_type type;
    size_t rank, shape[OPKIT_MAX_RANK];
};

static const struct bound_tensor bound_tensors[] = {TENSORS};
enum {
    COUNT = sizeof bound_tensors / sizeof *bound_tensors
};

static void bind(const struct bound_tensor *bound, FILE *file)
{
    struct opkit_tensor *tensor = bound->tensor;

    tensor->type = bound->type;
    tensor->rank = bound->rank;
    tensor->size = 1;
    for (size_t i = 0; i < OPKIT_MAX_RANK; i++) {
        tensor->shape[i] = i < bound->rank ? bound->shape[i] : 1;
        tensor->size *= tensor->shape[i];
    }
    tensor->data = calloc(tensor->size, opkit_element_size(tensor->type));
    if (tensor->data == NULL) {
        exit(EXIT_FAILURE);
    }
    if (!bound->is_output &&
        fread(tensor->data, opkit_element_size(tensor->type), tensor->size, file) != tensor->size) {
        exit(EXIT_FAILURE);
    }
}

/* Not inlined, so that each call computes everything again. */
__attribute__((noinline)) static void call(void)
{
#ifdef PLAIN
    plain(&inputs, &params, &outputs);
#else
    const char *problem = CALL;
    if (problem != NULL) {
        fprintf(stderr, "%s\n", problem);
        exit(EXIT_FAILURE);
    }
#endif
}

int main(int argument_count, char **arguments)
{
    FILE *file = argument_count > 2 ? fopen(arguments[1], "rb") : NULL;

    if (file == NULL) {
        return EXIT_FAILURE;
    }
    for (size_t i = 0; i < COUNT; i++) {
        bind(&bound_tensors[i], file);
    }
    for (int i = atoi(arguments[2]); i > 0; i--) {
        call();
    }
    for (size_t i = 0; i < COUNT; i++) {
        const struct opkit_tensor *tensor = bound_tensors[i].tensor;
        if (bound_tensors[i].is_output) {
            fwrite(tensor->data, opkit_element_size(tensor->type), tensor->size, stdout);
        }
    }
    return EXIT_SUCCESS;
}
