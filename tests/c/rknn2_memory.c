/*
 * Call the operator Doubled, whose op.yml declares int64, with float32 tensors as librknnrt 1.6.0
 * does: the math needs converted tensors. Prints the allocations of each call.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int allocations; /* so far */
static int blocks; /* not freed */
static size_t limit = (size_t)1 << 40; /* of an allocation */

static void *counted_calloc(size_t count, size_t size)
{
    void *memory = count * size <= limit ? calloc(count, size) : NULL;
    __atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&blocks, memory != NULL, __ATOMIC_RELAXED);
    return memory;
}

static void *counted_malloc(size_t size)
{
    return counted_calloc(1, size);
}

static void counted_free(void *block)
{
    __atomic_fetch_sub(&blocks, block != NULL, __ATOMIC_RELAXED);
    free(block);
}

#define malloc counted_malloc
#define calloc counted_calloc
#define free counted_free
#include "rknn2/doubled_custom_op.c"
#undef malloc
#undef calloc
#undef free

enum {
    MAX_SIZE = 5000,
    THREADS = 4
};

int rknn_register_custom_ops(rknn_context ctx, rknn_custom_op *op, uint32_t custom_op_num)
{
    (void)ctx, (void)op, (void)custom_op_num;
    return 0;
}

void rknn_custom_op_get_op_attr(rknn_custom_op_context *op_ctx, const char *attr_name,
                                rknn_custom_op_attr *op_attr)
{
    (void)op_ctx, (void)attr_name, (void)op_attr;
}

static rknn_custom_op_tensor tensor(float *elements, uint32_t size)
{
    return (rknn_custom_op_tensor){
        .attr = {.n_dims = 1, .dims = {size}, .n_elems = size, .type = RKNN_TENSOR_FLOAT32},
        .mem = {.virt_addr = elements},
    };
}

/* Returns the private data of a new context. */
static void *init(void *private_data, rknn_custom_op_interal_context internal)
{
    rknn_custom_op_context context = {.internal_ctx = internal, .priv_data = private_data};
    rknn_custom_op_tensor tensors[2] = {tensor(NULL, 1), tensor(NULL, 1)};

    doubled_custom_op()->init(&context, tensors, 1, tensors + 1, 1);
    return context.priv_data;
}

static void destroy(void *private_data)
{
    rknn_custom_op_context context = {.priv_data = private_data};
    doubled_custom_op()->destroy(&context);
}

/* Doubles the numbers from `first`. Returns 0, the status of an error, or 1 if a result is wrong.
 */
static int compute(void *private_data, uint32_t size, uint32_t first)
{
    float input[MAX_SIZE];
    float output[MAX_SIZE];
    rknn_custom_op_context context = {.priv_data = private_data};
    rknn_custom_op_tensor tensors[2] = {tensor(input, size), tensor(output, size)};

    for (uint32_t i = 0; i < size; i++) {
        input[i] = (float)(first + i);
    }
    const int status = doubled_custom_op()->compute(&context, tensors, 1, tensors + 1, 1);
    for (uint32_t i = 0; i < size && status == 0; i++) {
        if (output[i] != 2 * input[i]) {
            return 1;
        }
    }
    return status;
}

static void print_call(const char *name, void *node, uint32_t size)
{
    const int before = allocations;
    const int status = compute(node, size, size);
    printf("%s of %u: %d, %d allocations\n", name, (unsigned)size, status, allocations - before);
}

static void print_calls(void)
{
    static const uint32_t SIZES[] = {1000, 1000, 3, 999, 2000, 1000};

    void *first = init(NULL, 1);
    void *second = init(NULL, 2);
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        print_call("first", first, SIZES[i]);
    }
    print_call("second", second, 1000);
    print_call("second", second, 1000);
    print_call("first", first, 1000);
    limit = 5000 * sizeof(int64_t) - 1;
    fflush(stdout);
    print_call("first", first, 5000);
    print_call("first", first, 1000);
    print_call("no node", NULL, 10);
    destroy(first);
    print_call("second", second, 1000);
    destroy(second);
    printf("%d blocks\n", blocks);
}

static void *run(void *private_data)
{
    static uint32_t started;
    const uint32_t number = __atomic_fetch_add(&started, 1, __ATOMIC_RELAXED);

    for (uint32_t i = 0; i < 500; i++) {
        if (compute(private_data, 1 + (i * 7 + number * 911) % MAX_SIZE, number * 10000) != 0) {
            return private_data;
        }
    }
    return NULL;
}

/* All contexts after rknn_dup_context have the same node. */
static void run_in_threads(void)
{
    pthread_t threads[THREADS];
    void *node = NULL;

    for (size_t i = 0; i < THREADS; i++) {
        node = init(node, 1);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, run, node);
    }
    for (size_t i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        printf("%s\n", failed == NULL ? "right" : "wrong");
    }
    for (size_t i = 0; i < THREADS; i++) {
        destroy(node);
    }
    printf("%d blocks\n", blocks);
}

int main(int count, char **arguments)
{
    (void)arguments;
    if (count > 1) {
        run_in_threads();
    } else {
        print_calls();
    }
    return 0;
}
