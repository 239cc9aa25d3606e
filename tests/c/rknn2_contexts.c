/*
 * Call the operator Two as librknnrt 1.6.0 does after rknn_dup_context: the private data of the
 * first context go into the second initialization, whose private data both contexts then have.
 * Every call gets a copy of the context. Prints each status, and the count of allocated blocks.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int blocks;

static void *counted_malloc(size_t size)
{
    blocks++;
    return malloc(size);
}

static void *counted_calloc(size_t count, size_t size)
{
    blocks++;
    return calloc(count, size);
}

static void counted_free(void *block)
{
    blocks -= block != NULL;
    if (block != NULL) {
        memset(block, 0x7E, sizeof(void *)); /* makes a use after free visible */
    }
    free(block);
}

#define malloc counted_malloc
#define calloc counted_calloc
#define free counted_free
#include "rknn2/two_custom_op.c"
#undef malloc
#undef calloc
#undef free

static float elements[6] = {1, 2, 3, 4, 5, 6};

int rknn_register_custom_ops(rknn_context ctx, rknn_custom_op *op, uint32_t custom_op_num)
{
    (void)ctx, (void)op, (void)custom_op_num;
    return 0;
}

void rknn_custom_op_get_op_attr(rknn_custom_op_context *op_ctx, const char *attr_name,
                                rknn_custom_op_attr *op_attr)
{
    static int64_t sizes[] = {4, 5};

    (void)op_ctx, (void)attr_name;
    *op_attr = (rknn_custom_op_attr){
        .dtype = RKNN_TENSOR_INT64, .n_elems = sizeof sizes / sizeof sizes[0], .data = sizes};
}

static rknn_custom_op_tensor tensor(void)
{
    return (rknn_custom_op_tensor){
        .attr = {.n_dims = 2, .dims = {2, 3}, .n_elems = 6, .type = RKNN_TENSOR_FLOAT32},
        .mem = {.virt_addr = elements},
    };
}

static void *init(void *private_data, rknn_custom_op_interal_context internal)
{
    rknn_custom_op_context context = {.internal_ctx = internal, .priv_data = private_data};
    rknn_custom_op_tensor tensors[3] = {tensor(), tensor(), tensor()};
    const int status = two_custom_op()->init(&context, tensors, 2, tensors + 2, 1);

    printf("init %d, %d blocks\n", status, blocks);
    return context.priv_data;
}

static void compute(void *private_data)
{
    rknn_custom_op_context context = {.priv_data = private_data};
    rknn_custom_op_tensor tensors[3] = {tensor(), tensor(), tensor()};
    const int status = two_custom_op()->compute(&context, tensors, 2, tensors + 2, 1);

    printf("compute %d\n", status);
}

static void destroy(void *private_data)
{
    rknn_custom_op_context context = {.priv_data = private_data};
    const int status = two_custom_op()->destroy(&context);

    printf("destroy %d, %d blocks\n", status, blocks);
}

/* Initializes, computes and destroys a node repeatedly. */
static void *live(void *internal)
{
    for (int i = 0; i < 1000; i++) {
        rknn_custom_op_context context = {.internal_ctx =
                                              (rknn_custom_op_interal_context)(size_t)internal};
        rknn_custom_op_tensor tensors[3] = {tensor(), tensor(), tensor()};
        const rknn_custom_op *op = two_custom_op();
        op->init(&context, tensors, 2, tensors + 2, 1);
        if (op->compute(&context, tensors, 2, tensors + 2, 1) != 0) {
            return internal;
        }
        op->destroy(&context);
    }
    return NULL;
}

int main(int count, char **arguments)
{
    (void)arguments;
    if (count > 1) {
        pthread_t threads[4];
        void *failed[4];
        for (size_t i = 0; i < 4; i++) {
            pthread_create(&threads[i], NULL, live, (void *)(i + 1));
        }
        for (size_t i = 0; i < 4; i++) {
            pthread_join(threads[i], &failed[i]);
        }
        for (size_t i = 0; i < 4; i++) {
            printf("%s\n", failed[i] == NULL ? "lived" : "failed");
        }
        return 0;
    }
    void *first = init(NULL, 1);
    void *other = init(NULL, 2);
    void *both = init(first, 1);
    compute(both);
    destroy(both);
    compute(both);
    destroy(both);
    fflush(stdout);
    compute(both);
    destroy(both);
    void *stale = init(other, 3); /* the private data of another node */
    destroy(stale);
    compute(other);
    destroy(other);
    return 0;
}
