/*
 * The interface for custom operators of librknnrt, the runtime of RKNN-Toolkit2.
 *
 * It replaces the header of the same name in the vendor's SDK; `scons RKNN_INCLUDE=DIR` selects the
 * vendor's. Values and layouts are the same as in the SDK, 1.6.0 and later; the assertions at the
 * end hold for each ABI. Inferred: the spelling of the enumerators, and the purpose of `version`.
 */
#ifndef RKNN_CUSTOM_OP_H
#define RKNN_CUSTOM_OP_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RKNN_MAX_DIMS 16
#define RKNN_MAX_NAME_LEN 256

#define RKNN_CUSTOM_OP_EXPORT __attribute__((visibility("default")))

/* Returned by init: the runtime computes the operator itself, if it can. */
#define RKNN_WARNING_SKIP_CUSTOM_OP_COMPUTE (-14)

#ifdef __arm__
typedef uint32_t rknn_context;
typedef uint32_t rknn_custom_op_interal_context; /* as the SDK spells it */
#else
typedef uint64_t rknn_context;
typedef uint64_t rknn_custom_op_interal_context;
#endif

/* ---- Tensors ---- */

typedef enum {
    RKNN_TENSOR_FLOAT32 = 0,
    RKNN_TENSOR_FLOAT16 = 1,
    RKNN_TENSOR_INT8 = 2,
    RKNN_TENSOR_UINT8 = 3,
    RKNN_TENSOR_INT16 = 4,
    RKNN_TENSOR_UINT16 = 5,
    RKNN_TENSOR_INT32 = 6,
    RKNN_TENSOR_UINT32 = 7,
    RKNN_TENSOR_INT64 = 8,
    RKNN_TENSOR_BOOL = 9,
    RKNN_TENSOR_INT4 = 10,
    RKNN_TENSOR_BFLOAT16 = 11
} rknn_tensor_type;

typedef enum {
    RKNN_TENSOR_NCHW = 0,
    RKNN_TENSOR_NHWC = 1,
    RKNN_TENSOR_NC1HWC2 = 2,
    RKNN_TENSOR_UNDEFINED = 3
} rknn_tensor_format;

typedef enum {
    RKNN_TENSOR_QNT_NONE = 0,
    RKNN_TENSOR_QNT_DFP = 1,
    RKNN_TENSOR_QNT_AFFINE_ASYMMETRIC = 2
} rknn_tensor_qnt_type;

typedef struct {
    uint32_t index;
    uint32_t n_dims;
    uint32_t dims[RKNN_MAX_DIMS]; /* slowest dimension first */
    char name[RKNN_MAX_NAME_LEN];
    uint32_t n_elems;
    uint32_t size; /* bytes */
    rknn_tensor_format fmt;
    rknn_tensor_type type;
    rknn_tensor_qnt_type qnt_type;
    int8_t fl; /* for DFP */
    int32_t zp; /* for affine quantization, like `scale` */
    float scale;
    uint32_t w_stride;
    uint32_t size_with_stride;
    uint8_t pass_through;
    uint32_t h_stride;
} rknn_tensor_attr;

typedef struct {
    void *virt_addr; /* the elements begin at virt_addr + offset */
    uint64_t phys_addr;
    int32_t fd;
    int32_t offset;
    uint32_t size;
    uint32_t flags;
    void *priv_data;
} rknn_tensor_mem;

/* ---- Operators ---- */

typedef enum {
    RKNN_TARGET_TYPE_CPU = 1,
    RKNN_TARGET_TYPE_GPU = 2
} rknn_target_type;

typedef struct {
    void *cl_context;
    void *cl_command_queue;
    void *cl_kernel;
} rknn_gpu_op_context;

/* A node of a model. */
typedef struct {
    rknn_target_type target;
    rknn_custom_op_interal_context internal_ctx;
    rknn_gpu_op_context gpu_ctx;
    void *priv_data; /* set by the operator */
} rknn_custom_op_context;

typedef struct {
    rknn_tensor_attr attr;
    rknn_tensor_mem mem;
} rknn_custom_op_tensor;

typedef struct {
    char name[RKNN_MAX_NAME_LEN];
    rknn_tensor_type dtype;
    uint32_t n_elems;
    void *data;
} rknn_custom_op_attr;

/* All functions return 0, or another value on an error. */
typedef struct {
    uint32_t version;
    rknn_target_type target;
    char op_type[RKNN_MAX_NAME_LEN]; /* the same as in the model */
    char cl_kernel_name[RKNN_MAX_NAME_LEN];
    char *cl_kernel_source;
    uint64_t cl_source_size;
    char cl_build_options[RKNN_MAX_NAME_LEN];
    /* Called once, at registration. May be NULL. */
    int (*init)(rknn_custom_op_context *op_ctx, rknn_custom_op_tensor *inputs, uint32_t n_inputs,
                rknn_custom_op_tensor *outputs, uint32_t n_outputs);
    /* Called before each compute. May be NULL. */
    int (*prepare)(rknn_custom_op_context *op_ctx, rknn_custom_op_tensor *inputs, uint32_t n_inputs,
                   rknn_custom_op_tensor *outputs, uint32_t n_outputs);
    int (*compute)(rknn_custom_op_context *op_ctx, rknn_custom_op_tensor *inputs, uint32_t n_inputs,
                   rknn_custom_op_tensor *outputs, uint32_t n_outputs);
    /* Reserved: must be NULL. */
    int (*compute_native)(rknn_custom_op_context *op_ctx, rknn_custom_op_tensor *inputs,
                          uint32_t n_inputs, rknn_custom_op_tensor *outputs, uint32_t n_outputs);
    /* Called once, in rknn_destroy. May be NULL. */
    int (*destroy)(rknn_custom_op_context *op_ctx);
} rknn_custom_op;

/* Call it once, with all operators of a model, after rknn_init and before the model runs. */
int rknn_register_custom_ops(rknn_context ctx, rknn_custom_op *op, uint32_t custom_op_num);

/* If the node has no such attribute, sets `n_elems` to 0 and `data` to NULL (1.6.0). */
void rknn_custom_op_get_op_attr(rknn_custom_op_context *op_ctx, const char *attr_name,
                                rknn_custom_op_attr *op_attr);

#ifdef __cplusplus
}
#endif

/* ---- Layouts ---- */

#define RKNN_LAYOUT(on_64_bits, on_32_bits) (sizeof(void *) == 8 ? (on_64_bits) : (on_32_bits))

static_assert(sizeof(rknn_tensor_attr) == 376, "rknn_tensor_attr");
static_assert(sizeof(rknn_tensor_mem) == 40, "rknn_tensor_mem");
static_assert(sizeof(rknn_custom_op_tensor) == 416, "rknn_custom_op_tensor");
static_assert(offsetof(rknn_custom_op_tensor, mem) == 376, "rknn_custom_op_tensor");
static_assert(sizeof(rknn_custom_op_context) == RKNN_LAYOUT(48, 24), "rknn_custom_op_context");
static_assert(offsetof(rknn_custom_op_context, priv_data) == RKNN_LAYOUT(40, 20),
              "rknn_custom_op_context");
static_assert(sizeof(rknn_custom_op_attr) == RKNN_LAYOUT(272, 268), "rknn_custom_op_attr");
static_assert(sizeof(rknn_custom_op) == RKNN_LAYOUT(832, 816), "rknn_custom_op");
static_assert(offsetof(rknn_custom_op, cl_kernel_source) == 520, "rknn_custom_op");
static_assert(offsetof(rknn_custom_op, init) == 792, "rknn_custom_op");
static_assert(offsetof(rknn_custom_op, destroy) == RKNN_LAYOUT(824, 808), "rknn_custom_op");

#undef RKNN_LAYOUT

#endif
