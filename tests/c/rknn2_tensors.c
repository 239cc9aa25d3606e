/* Call the operator Two with one change, which the argument names. */
#include <string.h>

#include "rknn2/two_custom_op.h"

static float elements[6] = {1, 2, 3, 4, 5, 6};
static int64_t size = 4;
static const char *change;

static int is(const char *name)
{
    return strcmp(change, name) == 0;
}

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

static rknn_custom_op_tensor tensor(void)
{
    return (rknn_custom_op_tensor){
        .attr = {.n_dims = 2, .dims = {2, 3}, .n_elems = 6, .type = RKNN_TENSOR_FLOAT32},
        .mem = {.virt_addr = elements},
    };
}

static void change_attr(rknn_tensor_attr *attr)
{
    static const struct {
        const char *name;
        rknn_tensor_type type;
    } TYPES[] = {
        {"int32", RKNN_TENSOR_INT32}, {"int64", RKNN_TENSOR_INT64},
        {"bool", RKNN_TENSOR_BOOL},   {"float16", RKNN_TENSOR_FLOAT16},
        {"int8", RKNN_TENSOR_INT8},   {"unknown", RKNN_TENSOR_BFLOAT16},
    };

    for (size_t i = 0; i < sizeof TYPES / sizeof TYPES[0]; i++) {
        if (is(TYPES[i].name)) {
            attr->type = TYPES[i].type;
        }
    }
    if (is("undefined")) {
        attr->fmt = RKNN_TENSOR_UNDEFINED;
    } else if (is("nhwc")) {
        attr->fmt = RKNN_TENSOR_NHWC;
    } else if (is("rank")) {
        attr->n_dims = 7;
    } else if (is("six")) {
        *attr = (rknn_tensor_attr){.n_dims = 6, .dims = {1, 2, 1, 3, 1, 1}, .n_elems = 6};
    } else if (is("one")) {
        attr->n_dims = 1;
        attr->dims[0] = 6;
    } else if (is("count")) {
        attr->n_elems = 5;
    } else if (is("empty") || is("empty output")) {
        attr->dims[0] = attr->n_elems = 0;
    } else if (is("single")) {
        attr->n_dims = 0;
        attr->n_elems = 1;
    }
}

int main(int count, char **arguments)
{
    rknn_custom_op_context context = {.target = RKNN_TARGET_TYPE_CPU};
    rknn_custom_op_tensor inputs[4] = {tensor(), tensor(), tensor(), tensor()};
    rknn_custom_op_tensor outputs[2] = {tensor(), tensor()};
    const rknn_custom_op *op = two_custom_op();

    change = count > 1 ? arguments[1] : "nothing";
    const uint32_t input_count = is("few") ? 1 : is("many") ? 4 : is("constant") ? 3 : 2;
    inputs[2].attr.type = RKNN_TENSOR_INT64;
    inputs[2].attr.n_dims = 1;
    inputs[2].attr.dims[0] = inputs[2].attr.n_elems = 1;
    inputs[2].mem.virt_addr = &size;
    change_attr(&inputs[0].attr);
    if (is("memory")) {
        outputs[0].mem.virt_addr = NULL;
    } else if (is("empty")) {
        inputs[0].mem.virt_addr = NULL;
    } else if (is("empty output")) {
        change_attr(&outputs[0].attr);
    } else if (is("negative")) {
        elements[0] = -1;
    }
    if (!is("uninitialized")) {
        op->init(&context, inputs, input_count, outputs, 1);
    }
    const int status = op->compute(&context, inputs, input_count, outputs, is("outputs") ? 2 : 1);
    op->destroy(&context);
    return status != 0 || context.priv_data != NULL;
}
