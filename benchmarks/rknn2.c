/*
 * Time an operator of RKNN-Toolkit2 as a plugin and as bare math, alternating.
 *
 *     rknn2 ELEMENTS TURNS
 *
 * prints the nanoseconds of each turn: of the plugin, and of the math. OPERATOR is the operator's
 * name in lower case; it has one input and one output.
 */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PASTE(a, b) a##b
#define EXPANDED(a, b) PASTE(a, b)
#define OF_OPERATOR(what) EXPANDED(OPERATOR, what)
#define TEXT(name) #name
#define HEADER(name) TEXT(name)

#include HEADER(MATH)
#include HEADER(CUSTOM_OP)

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

/* Volatile, so read again for each call: the compiler must not inline the math here. */
static const char *(*volatile bare_math)(const struct OF_OPERATOR(_inputs) *,
                                         const struct OF_OPERATOR(_params) *,
                                         struct OF_OPERATOR(_outputs) *) = OF_OPERATOR(_compute);

static double nanoseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static rknn_custom_op_tensor tensor_of(float *elements, uint32_t count)
{
    return (rknn_custom_op_tensor){
        .attr = {.n_dims = 1, .dims = {count}, .n_elems = count, .type = RKNN_TENSOR_FLOAT32},
        .mem = {.virt_addr = elements},
    };
}

static struct opkit_tensor math_tensor_of(float *elements, size_t count)
{
    return (struct opkit_tensor){OPKIT_FLOAT32, 1, {count, 1, 1, 1, 1, 1}, count, {elements}};
}

int main(int argument_count, char **arguments)
{
    const size_t count = argument_count == 3 ? strtoul(arguments[1], NULL, 10) : 0;
    const size_t turns = argument_count == 3 ? strtoul(arguments[2], NULL, 10) : 0;
    float *from = calloc(count, sizeof *from);
    float *to = calloc(count, sizeof *to);
    double *times = calloc(2 * turns, sizeof *times);
    rknn_custom_op_context context = {.target = RKNN_TARGET_TYPE_CPU};
    rknn_custom_op_tensor input = tensor_of(from, (uint32_t)count);
    rknn_custom_op_tensor output = tensor_of(to, (uint32_t)count);
    const struct OF_OPERATOR(_inputs) inputs = {math_tensor_of(from, count)};
    const struct OF_OPERATOR(_params) params = {0};
    struct OF_OPERATOR(_outputs) outputs = {math_tensor_of(to, count)};
    const rknn_custom_op *op = OF_OPERATOR(_custom_op)();
    bool failed = false;

    for (size_t i = 0; i < 2 * turns; i++) {
        const bool is_math = i % 4 == 1 || i % 4 == 2; /* as often first as second */
        const double start = nanoseconds();
        failed |= is_math ? bare_math(&inputs, &params, &outputs) != NULL
                          : op->compute(&context, &input, 1, &output, 1) != 0;
        times[i / 2 * 2 + is_math] = nanoseconds() - start;
    }
    for (size_t i = 0; i < turns; i++) {
        printf("%.0f %.0f\n", times[2 * i], times[2 * i + 1]);
    }
    free(from);
    free(to);
    free(times);
    return failed;
}
