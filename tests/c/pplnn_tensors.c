/* Print the math's views of tensors of ppl.nn, and what becomes of their shapes and elements. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int allocations; /* so far */
static int blocks; /* not freed */
static size_t limit = SIZE_MAX; /* of an allocation */

static void *counted_malloc(size_t size)
{
    void *memory = size <= limit ? malloc(size) : NULL;
    allocations++;
    blocks += memory != NULL;
    return memory;
}

static void counted_free(void *memory)
{
    blocks -= memory != NULL;
    free(memory);
}

#define malloc counted_malloc
#define free counted_free
#include "opkit/runtimes/pplnn/glue/tensors.h"
#undef malloc
#undef free

static void print_view(const char *title, const struct opkit_tensor *view)
{
    printf("%s: type %d, rank %zu, size %zu, shape", title, (int)view->type, view->rank,
           view->size);
    for (size_t i = 0; i < OPKIT_MAX_RANK; i++) {
        printf(" %zu", view->shape[i]);
    }
    printf("\n");
}

static void print_shapes(void)
{
    for (uint32_t rank = 0; rank <= OPKIT_MAX_RANK; rank++) {
        const struct opkit_pplnn_tensor tensor = {
            .type = OPKIT_PPLNN_INT16, .rank = rank, .dims = {2, 3, 4, 5, 6, 7}};
        struct opkit_tensor view = {.data = &view};
        char title[16];

        opkit_pplnn_set_shape(&view, &tensor);
        snprintf(title, sizeof title, "rank %d%s", (int)rank, view.data == NULL ? "" : "!");
        print_view(title, &view);
    }
}

static void print_taken_shapes(void)
{
    for (size_t rank = 0; rank <= OPKIT_MAX_RANK + 1; rank++) {
        const struct opkit_tensor view = {.rank = rank, .shape = {2, 3, 4, 5, 6, 7}};
        struct opkit_pplnn_tensor tensor = {.rank = 9, .dims = {-1, -1, -1, -1, -1, -1}};
        const char *problem = opkit_pplnn_take_shape(&tensor, &view);

        printf("take %zu: %s, rank %d, dims", rank, problem ? problem : "ok", (int)tensor.rank);
        for (size_t i = 0; i < OPKIT_MAX_RANK; i++) {
            printf(" %d", (int)tensor.dims[i]);
        }
        printf("\n");
    }
}

static void print_known(void)
{
    const struct opkit_pplnn_tensor tensors[] = {
        {.rank = 2, .dims = {0, 3, -1}}, {.rank = 0, .dims = {-1}}, {.rank = 2, .dims = {2, -1}}};

    printf("known: %d %d %d %d\n", opkit_pplnn_are_known(tensors, 0),
           opkit_pplnn_are_known(tensors, 1), opkit_pplnn_are_known(tensors, 2),
           opkit_pplnn_are_known(tensors, 3));
}

static void print_types(void)
{
    printf("types:");
    for (uint32_t type = 0; type <= 15; type++) {
        enum opkit_type element = OPKIT_FLOAT32;
        const bool is_known = opkit_pplnn_element(type, &element);

        printf(" %d", is_known ? (int)element : -1);
    }
    printf("\n");
}

static void print_unknown_type(void)
{
    const struct opkit_pplnn_tensor tensor = {.type = 0};
    struct opkit_tensor view = {.type = OPKIT_INT64};

    opkit_pplnn_set_shape(&view, &tensor);
    print_view("unknown", &view);
}

static void print_elements(enum opkit_type half)
{
    uint16_t halves[3] = {0x3C00, 0x4000, 0x4200}; /* 1, 2, 3 */
    uint16_t results[3] = {7, 7, 7};
    float floats[2] = {5, 6};
    const struct opkit_pplnn_tensor tensors[] = {
        {OPKIT_PPLNN_FLOAT16, 1, {3}, results},
        {OPKIT_PPLNN_FLOAT32, 1, {2}, floats},
        {OPKIT_PPLNN_FLOAT16, 1, {3}, halves},
    };
    struct opkit_tensor math[3];
    const struct opkit_pplnn_view views[] = {{&tensors[0], &math[0], true},
                                             {&tensors[1], &math[1], true},
                                             {&tensors[2], &math[2], false}};
    struct opkit_scratch scratch[3] = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
    const char *problem = opkit_pplnn_open(views, 3, half, scratch);

    printf("open: %s, types %d %d %d, in place %d %d %d", problem ? problem : "ok",
           (int)math[0].type, (int)math[1].type, (int)math[2].type, math[0].data == results,
           math[1].data == floats, math[2].data == halves);
    for (size_t i = 0; i < 3 && half == OPKIT_FLOAT32; i++) {
        printf(" %g", (double)math[2].float32[i]);
        math[2].float32[i] = -1;
        math[0].float32[i] = (float)i + 1;
    }
    opkit_pplnn_write(views, 3);
    printf("\nwrite: %x %x %x, %x %x %x, %g %g\n", halves[0], halves[1], halves[2], results[0],
           results[1], results[2], (double)floats[0], (double)floats[1]);
    for (size_t i = 0; i < 3; i++) {
        opkit_release_scratch(&scratch[i]);
    }
}

/* Opens halves of several sizes with the same memory. */
static void print_allocations(void)
{
    static const int64_t SIZES[] = {1000, 1000, 7, 999, 2000, 1000};
    static uint16_t halves[3000];
    struct opkit_tensor math[2];
    struct opkit_scratch scratch[2] = {{NULL, 0}, {NULL, 0}};

    printf("allocations:");
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        const struct opkit_pplnn_tensor tensor = {OPKIT_PPLNN_FLOAT16, 1, {SIZES[i]}, halves};
        const struct opkit_pplnn_view views[] = {{&tensor, &math[0], false},
                                                 {&tensor, &math[1], true}};

        allocations = 0;
        const char *problem = opkit_pplnn_open(views, 2, OPKIT_FLOAT32, scratch);
        printf(" %s%d", problem ? problem : "", allocations);
    }
    limit = 10000;
    const struct opkit_pplnn_tensor large = {OPKIT_PPLNN_FLOAT16, 1, {3000}, halves};
    const struct opkit_pplnn_view view = {&large, &math[0], false};
    printf("\nlarge: %s", opkit_pplnn_open(&view, 1, OPKIT_FLOAT32, scratch));
    printf(", %d blocks", blocks);
    printf(", as halves: %s\n",
           opkit_pplnn_open(&view, 1, OPKIT_FLOAT16, scratch) == NULL ? "ok" : "failed");
    opkit_release_scratch(&scratch[0]);
    opkit_release_scratch(&scratch[1]);
    printf("%d blocks\n", blocks);
}

int main(void)
{
    print_shapes();
    print_taken_shapes();
    print_known();
    print_types();
    print_unknown_type();
    print_elements(OPKIT_FLOAT32);
    print_elements(OPKIT_FLOAT16);
    print_allocations();
    return 0;
}
