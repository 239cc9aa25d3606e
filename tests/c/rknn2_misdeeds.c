/* Custom operators that librknnrt would not run, or that have a fault. */
#include <stdlib.h>
#include <string.h>

#include <rknn_custom_op.h>

#define EXPORTED(name)                                \
    RKNN_CUSTOM_OP_EXPORT rknn_custom_op *name(void); \
    rknn_custom_op *name(void)

#define ARGUMENTS                                                                         \
    rknn_custom_op_context *context, rknn_custom_op_tensor *inputs, uint32_t input_count, \
        rknn_custom_op_tensor *outputs, uint32_t output_count

static char *elements(const rknn_custom_op_tensor *tensor)
{
    return (char *)tensor->mem.virt_addr + tensor->mem.offset;
}

/* Copies the first input: the correct behavior. */
static int copy(ARGUMENTS)
{
    (void)context;
    if (input_count != 1 || output_count != 1) {
        return 1;
    }
    memcpy(elements(&outputs[0]), elements(&inputs[0]), outputs[0].attr.size);
    return 0;
}

static rknn_custom_op custom_op = {
    .version = 1,
    .target = RKNN_TARGET_TYPE_CPU,
    .op_type = "cstMisdeeds",
    .compute = copy,
};

/* ---- Structs ---- */

EXPORTED(nothing_wrong)
{
    return &custom_op;
}

EXPORTED(no_operator)
{
    return NULL;
}

EXPORTED(for_gpu)
{
    custom_op.target = RKNN_TARGET_TYPE_GPU;
    return &custom_op;
}

EXPORTED(without_type)
{
    custom_op.op_type[0] = '\0';
    return &custom_op;
}

EXPORTED(endless_type)
{
    memset(custom_op.op_type, 'a', sizeof custom_op.op_type);
    return &custom_op;
}

EXPORTED(without_compute)
{
    custom_op.compute = NULL;
    return &custom_op;
}

EXPORTED(with_compute_native)
{
    custom_op.compute_native = copy;
    return &custom_op;
}

/* ---- Functions ---- */

static int fail(ARGUMENTS)
{
    (void)context, (void)inputs, (void)input_count, (void)outputs, (void)output_count;
    return 7;
}

EXPORTED(failing_init)
{
    custom_op.init = fail;
    return &custom_op;
}

EXPORTED(failing_prepare)
{
    custom_op.prepare = fail;
    return &custom_op;
}

static int skip(ARGUMENTS)
{
    (void)context, (void)inputs, (void)input_count, (void)outputs, (void)output_count;
    return RKNN_WARNING_SKIP_CUSTOM_OP_COMPUTE;
}

EXPORTED(skipping_init)
{
    custom_op.init = skip;
    return &custom_op;
}

static int abort_in_destroy(rknn_custom_op_context *context)
{
    (void)context;
    abort();
}

EXPORTED(aborting_in_destroy)
{
    custom_op.destroy = abort_in_destroy;
    return &custom_op;
}

EXPORTED(failing_init_without_destroy)
{
    custom_op.init = fail;
    custom_op.destroy = abort_in_destroy;
    return &custom_op;
}

EXPORTED(reading_in_init) /* tensors have no elements there yet */
{
    custom_op.init = copy;
    return &custom_op;
}

static int ignore_offset(ARGUMENTS)
{
    (void)context, (void)input_count, (void)output_count;
    memcpy(elements(&outputs[0]), inputs[0].mem.virt_addr, outputs[0].attr.size);
    return 0;
}

EXPORTED(ignoring_offset)
{
    custom_op.compute = ignore_offset;
    return &custom_op;
}

static int write_too_much(ARGUMENTS)
{
    const int status = copy(context, inputs, input_count, outputs, output_count);
    elements(&outputs[0])[outputs[0].attr.size] = 0;
    return status;
}

EXPORTED(writing_too_much)
{
    custom_op.compute = write_too_much;
    return &custom_op;
}

static int write_input(ARGUMENTS)
{
    const int status = copy(context, inputs, input_count, outputs, output_count);
    elements(&inputs[0])[0] = 1;
    return status;
}

EXPORTED(writing_input)
{
    custom_op.compute = write_input;
    return &custom_op;
}

static int write_attributes(ARGUMENTS)
{
    const int status = copy(context, inputs, input_count, outputs, output_count);
    outputs[0].attr.n_dims = 2;
    return status;
}

EXPORTED(writing_attributes)
{
    custom_op.compute = write_attributes;
    return &custom_op;
}

/* ---- Attributes ---- */

static rknn_custom_op_attr attribute;

static int keep_attribute(ARGUMENTS)
{
    (void)inputs, (void)input_count, (void)outputs, (void)output_count;
    rknn_custom_op_get_op_attr(context, "p", &attribute);
    return 0;
}

static int use_attribute(ARGUMENTS)
{
    const int64_t value = *(const int64_t *)attribute.data;
    return copy(context, inputs, input_count, outputs, output_count) + (value != 5);
}

EXPORTED(keeping_attribute) /* after the return of the function that queries it */
{
    custom_op.init = keep_attribute;
    custom_op.compute = use_attribute;
    return &custom_op;
}

static int read_beyond_attribute(ARGUMENTS)
{
    keep_attribute(context, inputs, input_count, outputs, output_count);
    return ((const volatile char *)attribute.data)[8] == 'x';
}

EXPORTED(reading_beyond_attribute)
{
    custom_op.init = read_beyond_attribute;
    return &custom_op;
}

static int ask_elsewhere(ARGUMENTS)
{
    rknn_custom_op_context another = *context;
    (void)inputs, (void)input_count, (void)outputs, (void)output_count;
    rknn_custom_op_get_op_attr(&another, "p", &attribute);
    return 0;
}

EXPORTED(asking_elsewhere)
{
    custom_op.init = ask_elsewhere;
    return &custom_op;
}

static int leak(ARGUMENTS)
{
    (void)inputs, (void)input_count, (void)outputs, (void)output_count;
    context->priv_data = malloc(24);
    return 0;
}

EXPORTED(leaking)
{
    custom_op.init = leak;
    return &custom_op;
}
