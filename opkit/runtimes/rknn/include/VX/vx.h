/*
 * OpenVX for custom operators: types and functions.
 *
 * OpenVX is the C interface between an operator and the runtime that executes it. Every object (a
 * tensor, a scalar, the node that runs a kernel) is an opaque handle; vxQuery... returns its
 * attributes, vxCopy... copies its data in and out. Functions return a vx_status: VX_SUCCESS or a
 * negative error. Functions that create an object return its handle.
 *
 * These headers declare the part of OpenVX 1.2 and of Vivante's extensions that operators need and
 * the boards' libOpenVX.so exports. Comments at the declarations note differences from the OpenVX
 * standard; they were measured on the board's driver 1.7.5.
 *
 * On failure, functions that create an object return an error object, or NULL for tensors;
 * vxGetStatus returns the status of both. Functions that release an object take the address of the
 * handle and set it to NULL.
 *
 * libOpenVX.so of every board exports all functions below. It lacks some functions of OpenVX's
 * sample code, so this header does not declare them: vxGetLogEntry, vxClearLog,
 * vxRegisterHelperAsLogReader, vxCreateNodeByStructure, math_gcd.
 *
 * Includes string.h, because kernel sources for the vendor's toolkit call memset without it.
 */
#ifndef OPKIT_VX_H
#define OPKIT_VX_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VX_API_ENTRY __attribute__((visibility("default"))) /* a function of the library */
#define VX_API_CALL /* the calling convention: the platform's own */
#define VX_CALLBACK /* the same, for functions called by the library */

#ifdef __cplusplus
#define VX_STATIC_ASSERT(condition, message) static_assert(condition, message)
extern "C" {
#else
#define VX_STATIC_ASSERT(condition, message) _Static_assert(condition, message)
#endif

/*
 * Selects a number by pointer size: the first for 64 bits (x64, aarch64), the second for 32 bits
 * (armhf).
 */
#define VX_BY_POINTER_SIZE(bits64, bits32) (sizeof(void *) == 8 ? (bits64) : (bits32))

/* ---- Numbers ---- */

typedef char vx_char; /* signed on x64, unsigned on both ARM ABIs: do not rely on its sign */
typedef int8_t vx_int8;
typedef uint8_t vx_uint8;
typedef int16_t vx_int16;
typedef uint16_t vx_uint16;
typedef int32_t vx_int32;
typedef uint32_t vx_uint32;
typedef int64_t vx_int64;
typedef uint64_t vx_uint64;
typedef float vx_float32;
typedef double vx_float64;
/*
 * There is no vx_float16: elements of a VX_TYPE_FLOAT16 tensor are stored in uint16_t (see
 * opkit/compute/half.h).
 */

typedef size_t vx_size; /* 8 bytes on x64 and aarch64, 4 on armhf */
typedef uintptr_t vx_map_id;
typedef int32_t vx_enum;
typedef vx_enum vx_status;
typedef vx_enum vx_action;
typedef uint32_t vx_bitfield;
typedef uint32_t vx_df_image;

/* 4 bytes. A VX_TYPE_BOOL parameter of an operator is NOT a vx_bool: see VX_TYPE_BOOL. */
typedef vx_enum vx_bool;

enum vx_bool_e {
    vx_false_e = 0,
    vx_true_e = 1
};

/* ---- Objects ---- */

/*
 * Handles. Cast explicitly: every handle may become a vx_reference, and a vx_reference a handle of
 * its actual kind.
 */
typedef struct vx_reference_s *vx_reference;
typedef struct vx_context_s *vx_context;
typedef struct vx_graph_s *vx_graph;
typedef struct vx_node_s *vx_node;
typedef struct vx_kernel_s *vx_kernel;
typedef struct vx_parameter_s *vx_parameter;
typedef struct vx_program_s *vx_program;
typedef struct vx_scalar_s *vx_scalar;
typedef struct vx_array_s *vx_array;
typedef struct vx_tensor_s *vx_tensor;
typedef struct vx_image_s *vx_image;
typedef struct vx_meta_format_s *vx_meta_format;

/* ---- Limits ---- */

#define VX_MAX_KERNEL_NAME 256 /* use less than 128 bytes: the board copies the name unchecked */
#define VX_MAX_LOG_MESSAGE_LEN 1024
#define VX_MAX_LOG_NUM_ENTRIES 1024
#define VX_MAX_IMPLEMENTATION_NAME 64
#define VX_MAX_REFERENCE_NAME 64
#define VX_MAX_WORK_ITEM_DIMENSIONS 3
/*
 * Tensors have at most 6 dimensions on the board. The vendor's headers define no constant for it.
 */

/* ---- Composition of constants ---- */

#define VX_ID_KHRONOS 0x000
#define VX_ID_VIVANTE 0x007
#define VX_ID_USER 0xFFE /* for user kernels without a vendor id */
#define VX_ID_DEFAULT 0xFFF

#define VX_ENUM_BASE(vendor, id) ((vx_enum)(((uint32_t)(vendor) << 20) | ((uint32_t)(id) << 12)))
#define VX_ATTRIBUTE_BASE(vendor, object) \
    ((vx_enum)(((uint32_t)(vendor) << 20) | ((uint32_t)(object) << 8)))
#define VX_KERNEL_BASE(vendor, library) \
    ((vx_enum)(((uint32_t)(vendor) << 20) | ((uint32_t)(library) << 12)))

enum vx_enum_e {
    VX_ENUM_DIRECTION = 0x00,
    VX_ENUM_PARAMETER_STATE = 0x08,
    VX_ENUM_CONVERT_POLICY = 0x0A,
    VX_ENUM_BORDER = 0x0C,
    VX_ENUM_MEMORY_TYPE = 0x0E,
    VX_ENUM_ACCESSOR = 0x11,
    VX_ENUM_ROUND_POLICY = 0x12
};

/* ---- Status ---- */

enum vx_status_e {
    VX_STATUS_MIN = -25,
    VX_ERROR_REFERENCE_NONZERO = -24,
    VX_ERROR_MULTIPLE_WRITERS = -23,
    VX_ERROR_GRAPH_ABANDONED = -22,
    VX_ERROR_GRAPH_SCHEDULED = -21,
    VX_ERROR_INVALID_SCOPE = -20,
    VX_ERROR_INVALID_NODE = -19,
    VX_ERROR_INVALID_GRAPH = -18,
    VX_ERROR_INVALID_TYPE = -17,
    VX_ERROR_INVALID_VALUE = -16,
    VX_ERROR_INVALID_DIMENSION = -15,
    VX_ERROR_INVALID_FORMAT = -14,
    VX_ERROR_INVALID_LINK = -13,
    VX_ERROR_INVALID_REFERENCE = -12,
    VX_ERROR_INVALID_MODULE = -11,
    VX_ERROR_INVALID_PARAMETERS = -10, /* also: wrong size, unknown attribute in vxQueryTensor */
    VX_ERROR_OPTIMIZED_AWAY = -9,
    VX_ERROR_NO_MEMORY = -8,
    VX_ERROR_NO_RESOURCES = -7,
    VX_ERROR_NOT_COMPATIBLE = -6,
    VX_ERROR_NOT_ALLOCATED = -5,
    VX_ERROR_NOT_SUFFICIENT = -4,
    VX_ERROR_NOT_SUPPORTED = -3,
    VX_ERROR_NOT_IMPLEMENTED = -2,
    VX_FAILURE = -1,
    VX_SUCCESS = 0
};

/* ---- Types of data and of objects ---- */

/*
 * Scalars hold any number or struct except FLOAT16 and BOOL8; items of an array also FLOAT16 and
 * BFLOAT16. Elements of a tensor are INT8, UINT8, BOOL8 (1 byte), INT16, UINT16, FLOAT16, BFLOAT16
 * (2), INT32, UINT32, FLOAT32 (4) or INT64 (8); the board supports no others.
 */
enum vx_type_e {
    VX_TYPE_INVALID = 0x000,
    VX_TYPE_CHAR = 0x001,
    VX_TYPE_INT8 = 0x002,
    VX_TYPE_UINT8 = 0x003,
    VX_TYPE_INT16 = 0x004,
    VX_TYPE_UINT16 = 0x005,
    VX_TYPE_INT32 = 0x006,
    VX_TYPE_UINT32 = 0x007,
    VX_TYPE_INT64 = 0x008,
    VX_TYPE_UINT64 = 0x009,
    VX_TYPE_FLOAT32 = 0x00A,
    VX_TYPE_FLOAT64 = 0x00B,
    VX_TYPE_ENUM = 0x00C, /* the board rejects it as an operator's parameter; VX_TYPE_SIZE, too */
    VX_TYPE_SIZE = 0x00D,
    VX_TYPE_DF_IMAGE = 0x00E,
    /* Tensors and arrays: the driver can neither read nor write a scalar of this type. */
    VX_TYPE_FLOAT16 = 0x00F,
    /* 4 bytes. But a BOOL parameter of an operator arrives as a VX_TYPE_UINT8 scalar, 1 byte. */
    VX_TYPE_BOOL = 0x010,
    VX_TYPE_BOOL8 = 0x011, /* Vivante; tensors only, 1 byte */

    /* Structs, of scalars and of an array's items; two of scalars only. */
    VX_TYPE_RECTANGLE = 0x020, /* 16 bytes */
    VX_TYPE_KEYPOINT = 0x021, /* 28 */
    VX_TYPE_COORDINATES2D = 0x022, /* 8 */
    VX_TYPE_COORDINATES3D = 0x023, /* 12 */
    VX_TYPE_COORDINATES2DF = 0x024, /* 8; scalars */
    VX_TYPE_HOG_PARAMS = 0x028, /* 40 */
    VX_TYPE_HOUGH_LINES_PARAMS = 0x029, /* 28 */
    VX_TYPE_LINE_2D = 0x02A, /* 16 */
    VX_TYPE_TENSOR_MATRIX_MULTIPLY_PARAMS = 0x02B, /* 12; scalars */

    VX_TYPE_USER_STRUCT_START = 0x100,
    VX_TYPE_VENDOR_STRUCT_START = 0x400,

    VX_TYPE_KHRONOS_OBJECT_START = 0x800,
    VX_TYPE_REFERENCE = 0x800, /* as the type of a kernel's parameter: any object */
    VX_TYPE_CONTEXT = 0x801,
    VX_TYPE_GRAPH = 0x802,
    VX_TYPE_NODE = 0x803,
    VX_TYPE_KERNEL = 0x804,
    VX_TYPE_PARAMETER = 0x805,
    VX_TYPE_DELAY = 0x806,
    VX_TYPE_LUT = 0x807,
    VX_TYPE_DISTRIBUTION = 0x808,
    VX_TYPE_PYRAMID = 0x809,
    VX_TYPE_THRESHOLD = 0x80A,
    VX_TYPE_MATRIX = 0x80B,
    VX_TYPE_CONVOLUTION = 0x80C,
    VX_TYPE_SCALAR = 0x80D,
    VX_TYPE_ARRAY = 0x80E, /* as an operator's parameter: 1 to 16 items, always VX_TYPE_INT32 */
    VX_TYPE_IMAGE = 0x80F,
    VX_TYPE_REMAP = 0x810,
    VX_TYPE_ERROR = 0x811,
    VX_TYPE_META_FORMAT = 0x812,
    VX_TYPE_OBJECT_ARRAY = 0x813,
    VX_TYPE_TENSOR = 0x815,

    VX_TYPE_TARGET = 0x816, /* this and all following: Vivante */
    VX_TYPE_TENSOR_VIEW = 0x817,
    VX_TYPE_TENSOR_ADDRESS = 0x818,
    VX_TYPE_TENSOR_MEM = 0x819,
    VX_TYPE_BFLOAT16 = 0x81A,
    VX_TYPE_PROGRAM = 0x900,

    VX_TYPE_VENDOR_OBJECT_START = 0xC00
};

/* ---- Values of arguments ---- */

/*
 * The board rejects bidirectional parameters, so VX_BIDIRECTIONAL is not declared.
 */
enum vx_direction_e {
    VX_INPUT = 0x0,
    VX_OUTPUT = 0x1
};

enum vx_parameter_state_e {
    VX_PARAMETER_STATE_REQUIRED = 0x8000,
    VX_PARAMETER_STATE_OPTIONAL = 0x8001
};

enum vx_convert_policy_e {
    VX_CONVERT_POLICY_WRAP = 0xA000,
    VX_CONVERT_POLICY_SATURATE = 0xA001
};

/*
 * Border mode: the values that a VX kernel reads outside of a tensor. The constants follow Khronos'
 * composition; they were not verified on a board.
 */
enum vx_border_e {
    VX_BORDER_UNDEFINED = 0xC000, /* undefined values */
    VX_BORDER_CONSTANT = 0xC001,
    VX_BORDER_REPLICATE = 0xC002 /* the nearest element */
};

/* An element of any type, at the beginning of 16 bytes. */
typedef union {
    vx_uint8 reserved[16];
    vx_uint8 U8;
    vx_int16 S16;
    vx_uint16 U16;
    vx_int32 S32;
    vx_uint32 U32;
} vx_pixel_value_t;

typedef struct {
    vx_enum mode; /* enum vx_border_e */
    vx_pixel_value_t constant_value; /* for VX_BORDER_CONSTANT */
} vx_border_t;

/*
 * Pass VX_MEMORY_TYPE_HOST. vxCopyScalar requires it; vxCopyTensorPatch and vxCopyArrayRange ignore
 * it.
 */
enum vx_memory_type_e {
    VX_MEMORY_TYPE_NONE = 0xE000,
    VX_MEMORY_TYPE_HOST = 0xE001
};

/* Access to an object's data. vxCopy... functions accept the first two only. */
enum vx_accessor_e {
    VX_READ_ONLY = 0x11001, /* object -> user's memory */
    VX_WRITE_ONLY = 0x11002, /* user's memory -> object */
    VX_READ_AND_WRITE = 0x11003
};

enum vx_round_policy_e {
    VX_ROUND_POLICY_TO_ZERO = 0x12001,
    VX_ROUND_POLICY_TO_NEAREST_EVEN = 0x12002
};

enum vx_map_flag_e {
    VX_NOGAP_X = 1
};

/* Quantization of a tensor. Tensors of a custom operator are float16, not quantized. */
enum vx_quantized_format_e {
    VX_QUANT_NONE = 0,
    VX_QUANT_DYNAMIC_FIXED_POINT = 1,
    VX_QUANT_AFFINE_SCALE = 2,
    VX_QUANT_AFFINE_SCALE_PER_CHANNEL = 3
};

/* Values of VX_TENSOR_RANK: the order of the dimensions. */
enum vx_tensor_rank_type_e {
    VX_TENSOR_RANK_WHCN = 0,
    VX_TENSOR_RANK_CWHN = 1,
    VX_TENSOR_RANK_SN = 2
};

enum vx_tensor_precision_type_e {
    VX_TENSOR_PRECISION_AUTO = 0
};

/* ---- Attributes for vxQuery... and vxSet...Attribute ---- */

/*
 * Comments give the type of the value. The size argument must be exactly the size of the type; NULL
 * crashes the board.
 */
enum vx_reference_attribute_e {
    VX_REFERENCE_COUNT = 0x080000, /* vx_uint32 */
    VX_REFERENCE_TYPE = 0x080001, /* vx_enum */
    VX_REFERENCE_NAME = 0x080002 /* const vx_char * */
};

enum vx_context_attribute_e {
    VX_CONTEXT_MAX_TENSOR_DIMS = 0x08010E /* vx_size */
};

enum vx_node_attribute_e {
    VX_NODE_STATUS = 0x080300, /* vx_status */
    VX_NODE_PERFORMANCE = 0x080301, /* 64 bytes */
    VX_NODE_BORDER = 0x080302, /* vx_border_t; set it in the VX kernel's initializer */
    /*
     * vx_size and void *, settable in initialize and deinitialize. With a size and no pointer, the
     * board allocates memory after initialize. When the node is destroyed, the board frees the
     * pointer, even if it came from the operator's malloc. So after freeing the memory itself,
     * deinitialize must set the pointer to NULL.
     */
    VX_NODE_LOCAL_DATA_SIZE = 0x080303,
    VX_NODE_LOCAL_DATA_PTR = 0x080304,
    VX_NODE_PARAMETERS = 0x080305, /* vx_uint32 */
    VX_NODE_IS_REPLICATED = 0x080306, /* vx_bool */
    VX_NODE_REPLICATE_FLAGS = 0x080307, /* crashes the board */
    VX_NODE_VALID_RECT_RESET = 0x080308 /* rejected by the board */
};

enum vx_kernel_attribute_e {
    VX_KERNEL_PARAMETERS = 0x080400, /* vx_uint32 */
    VX_KERNEL_NAME = 0x080401, /* vx_char[VX_MAX_KERNEL_NAME] */
    VX_KERNEL_ENUM = 0x080402, /* vx_enum */
    VX_KERNEL_LOCAL_DATA_SIZE = 0x080403 /* vx_size */
};

enum vx_scalar_attribute_e {
    VX_SCALAR_TYPE = 0x080D00 /* vx_enum */
};

/* Set only NUMITEMS, up to the capacity. The board accepts the others, but keeps the memory. */
enum vx_array_attribute_e {
    VX_ARRAY_ITEMTYPE = 0x080E00, /* vx_enum */
    VX_ARRAY_NUMITEMS = 0x080E01, /* vx_size */
    VX_ARRAY_CAPACITY = 0x080E02, /* vx_size */
    VX_ARRAY_ITEMSIZE = 0x080E03 /* vx_size */
};

/*
 * Boards differ from the OpenVX standard: the number of dimensions and each dimension are
 * vx_uint32, not vx_size. VX_TENSOR_NUMBER_OF_DIMS requires a size of exactly 4 bytes,
 * VX_TENSOR_DIMS of 4 * rank to 24 bytes; other sizes fail with VX_ERROR_INVALID_PARAMETERS.
 * dims[0] is the fastest dimension: width or channels, depending on the model.
 */
enum vx_tensor_attribute_e {
    VX_TENSOR_NUMBER_OF_DIMS = 0x081500, /* vx_uint32 */
    VX_TENSOR_DIMS = 0x081501, /* vx_uint32[rank] */
    VX_TENSOR_DATA_TYPE = 0x081502, /* vx_enum */
    VX_TENSOR_FIXED_POINT_POSITION = 0x081503, /* vx_int8 */

    /* Vivante's extensions. The first three are read-only on the board. */
    VX_TENSOR_QUANT_FORMAT = 0x781500, /* enum vx_quantized_format_e, 4 bytes */
    VX_TENSOR_ZERO_POINT = 0x781501, /* vx_int32 */
    VX_TENSOR_SCALE = 0x781502, /* vx_float32 */
    /* enum vx_tensor_rank_type_e, 4 bytes; not the number of dimensions */
    VX_TENSOR_RANK = 0x781503,
    VX_TENSOR_PRECISION = 0x781504, /* 4 bytes */
    VX_TENSOR_LIFETIME = 0x781505, /* 4 bytes */
    VX_TENSOR_VALUE = 0x781506 /* 4 bytes */
};

/* ---- Callbacks of a kernel ---- */

/*
 * Functions of an operator, called by the runtime. `parameters` are references in the order inputs,
 * outputs, params; `count` is their number. Any status except VX_SUCCESS fails the node (execution)
 * or the graph (other callbacks).
 */

/* Executes the CPU kernel. */
typedef vx_status(VX_CALLBACK *vx_kernel_f)(vx_node node, const vx_reference *parameters,
                                            vx_uint32 count);
/*
 * Runs once before the first execution: the VX kernel sets its execution parameters here. May be
 * NULL.
 */
typedef vx_status(VX_CALLBACK *vx_kernel_initialize_f)(vx_node node, const vx_reference *parameters,
                                                       vx_uint32 count);
/* Runs when the node is destroyed, and before a graph is verified again. May be NULL. */
typedef vx_status(VX_CALLBACK *vx_kernel_deinitialize_f)(vx_node node,
                                                         const vx_reference *parameters,
                                                         vx_uint32 count);
/*
 * Checks the parameters, and describes the outputs in `metas`, which has an item per parameter.
 * Must not be NULL.
 */
typedef vx_status(VX_CALLBACK *vx_kernel_validate_f)(vx_node node, const vx_reference parameters[],
                                                     vx_uint32 count, vx_meta_format metas[]);

/* ---- References: the common base of all objects ---- */

VX_API_ENTRY vx_status VX_API_CALL vxQueryReference(vx_reference reference, vx_enum attribute,
                                                    void *value, vx_size size);
/* Returns VX_ERROR_NO_RESOURCES for NULL. */
VX_API_ENTRY vx_status VX_API_CALL vxGetStatus(vx_reference reference);
VX_API_ENTRY vx_context VX_API_CALL vxGetContext(vx_reference reference);
VX_API_ENTRY vx_status VX_API_CALL vxReleaseReference(vx_reference *reference);

/*
 * Adds a line to the log of the reference's context, with printf's formats. The line is truncated
 * to VX_MAX_LOG_MESSAGE_LEN bytes.
 */
VX_API_ENTRY void VX_API_CALL vxAddLogEntry(vx_reference reference, vx_status status,
                                            const char *message, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- Contexts and graphs ---- */

VX_API_ENTRY vx_context VX_API_CALL vxCreateContext(void);
VX_API_ENTRY vx_status VX_API_CALL vxReleaseContext(vx_context *context);
VX_API_ENTRY vx_graph VX_API_CALL vxCreateGraph(vx_context context);
/* No effect on a verified graph. Returns VX_ERROR_INVALID_GRAPH for a graph without nodes. */
VX_API_ENTRY vx_status VX_API_CALL vxVerifyGraph(vx_graph graph);
/* Boards return VX_SUCCESS even if a CPU kernel returned an error. */
VX_API_ENTRY vx_status VX_API_CALL vxProcessGraph(vx_graph graph);
VX_API_ENTRY vx_status VX_API_CALL vxReleaseGraph(vx_graph *graph);

/* ---- Kernels ---- */

/*
 * `name` is a buffer of VX_MAX_KERNEL_NAME bytes with more than ":". parameter_count must not be 0,
 * function and validate not NULL. deinitialize runs when the graph is released, even if validate or
 * initialize failed or never ran.
 */
VX_API_ENTRY vx_kernel VX_API_CALL vxAddUserKernel(vx_context context, const vx_char *name,
                                                   vx_enum enumeration, vx_kernel_f function,
                                                   vx_uint32 parameter_count,
                                                   vx_kernel_validate_f validate,
                                                   vx_kernel_initialize_f initialize,
                                                   vx_kernel_deinitialize_f deinitialize);
VX_API_ENTRY vx_status VX_API_CALL vxAddParameterToKernel(vx_kernel kernel, vx_uint32 index,
                                                          vx_enum direction, vx_enum data_type,
                                                          vx_enum state);
VX_API_ENTRY vx_status VX_API_CALL vxFinalizeKernel(vx_kernel kernel);
VX_API_ENTRY vx_status VX_API_CALL vxRemoveKernel(vx_kernel kernel);
VX_API_ENTRY vx_status VX_API_CALL vxReleaseKernel(vx_kernel *kernel);
/* Returns an error object if no kernel has the name. */
VX_API_ENTRY vx_kernel VX_API_CALL vxGetKernelByName(vx_context context, const vx_char *name);

/* ---- Nodes: a kernel with its parameters, in a graph ---- */

VX_API_ENTRY vx_node VX_API_CALL vxCreateGenericNode(vx_graph graph, vx_kernel kernel);
VX_API_ENTRY vx_status VX_API_CALL vxSetParameterByIndex(vx_node node, vx_uint32 index,
                                                         vx_reference value);
VX_API_ENTRY vx_status VX_API_CALL vxQueryNode(vx_node node, vx_enum attribute, void *value,
                                               vx_size size);
/*
 * Call it from initialize: after the verification of the graph it returns VX_ERROR_NOT_SUPPORTED.
 * Local data and the border can be set in deinitialize, too.
 */
VX_API_ENTRY vx_status VX_API_CALL vxSetNodeAttribute(vx_node node, vx_enum attribute,
                                                      const void *value, vx_size size);
VX_API_ENTRY vx_status VX_API_CALL vxReleaseNode(vx_node *node);

/*
 * Describes an output; call it in validate. On the board the metas of inputs are NULL, so the call
 * returns VX_ERROR_INVALID_REFERENCE. For an attribute of another kind of object it returns
 * VX_ERROR_INVALID_TYPE.
 */
VX_API_ENTRY vx_status VX_API_CALL vxSetMetaFormatAttribute(vx_meta_format meta, vx_enum attribute,
                                                            const void *value, vx_size size);
VX_API_ENTRY vx_status VX_API_CALL vxSetMetaFormatFromReference(vx_meta_format meta,
                                                                vx_reference reference);

/* ---- Tensors ---- */

/*
 * `data_type` is a tensor type of enum vx_type_e. dims[0] is the fastest dimension. Dimensions are
 * vx_size here, vx_uint32 in queries.
 *
 * On the board:
 *   - both functions return NULL, not an error object, on failure.
 *   - a tensor with a dimension of 0 is created, but all other functions reject it.
 *   - an empty dimension of a view becomes 1 element.
 */
VX_API_ENTRY vx_tensor VX_API_CALL vxCreateTensor(vx_context context, vx_size number_of_dims,
                                                  const vx_size *dims, vx_enum data_type,
                                                  vx_int8 fixed_point_position);
VX_API_ENTRY vx_tensor VX_API_CALL vxCreateTensorFromView(vx_tensor tensor, vx_size number_of_dims,
                                                          const vx_size *view_start,
                                                          const vx_size *view_end);
VX_API_ENTRY vx_status VX_API_CALL vxReleaseTensor(vx_tensor *tensor);
/*
 * See enum vx_tensor_attribute_e: dimensions are vx_uint32, and sizes are checked. `value` must be
 * aligned to 4 bytes, except for DIMS and FIXED_POINT_POSITION.
 */
VX_API_ENTRY vx_status VX_API_CALL vxQueryTensor(vx_tensor tensor, vx_enum attribute, void *value,
                                                 vx_size size);
VX_API_ENTRY vx_status VX_API_CALL vxSetTensorAttribute(vx_tensor tensor, vx_enum attribute,
                                                        const void *value, vx_size size);

/*
 * Copies a box of elements between the tensor and the user's memory.
 *
 * view_start (first) and view_end (one past the last) are in elements, user_stride in bytes;
 * user_memory is the address of the box's first element. For a dense buffer, user_stride[0] is the
 * size of an element, and user_stride[k] = user_stride[k - 1] * dims[k - 1].
 *
 * On the board:
 *   - number_of_dims must be the tensor's rank, at most 6; the standard allows fewer dimensions.
 *   - no stride may be 0, not even for a dimension with one element in the box.
 *   - user_stride[0] selects the type of the user's elements: the tensor's element size = the same
 *     type; otherwise 4 = float and 2 = half. The driver then converts between FLOAT16 and FLOAT32,
 *     with errors: it truncates instead of rounding, drops subnormals and turns infinity and NaN
 *     into 65504. Between other types it copies NOTHING and returns VX_SUCCESS. So always pass the
 *     element size of the tensor.
 *   - user_memory_type is ignored. Pass VX_MEMORY_TYPE_HOST.
 */
VX_API_ENTRY vx_status VX_API_CALL vxCopyTensorPatch(vx_tensor tensor, vx_size number_of_dims,
                                                     const vx_size *view_start,
                                                     const vx_size *view_end,
                                                     const vx_size *user_stride, void *user_memory,
                                                     vx_enum usage, vx_enum user_memory_type);

/*
 * Since OpenVX 1.3. Maps a box of a tensor's elements. On the board:
 *   - stride[0] is the element size, and the strides belong to the whole, dense tensor.
 *   - for a view, it maps the FIRST elements of the parent, with the strides of a dense tensor of
 *     the view's shape. Do not map views: copy them.
 *   - with fewer dimensions than the tensor's rank, the returned address is undefined.
 *   - for a tensor that was never written it returns VX_ERROR_NO_MEMORY, unless usage is
 *     VX_WRITE_ONLY.
 */
VX_API_ENTRY vx_status VX_API_CALL vxMapTensorPatch(vx_tensor tensor, vx_size number_of_dims,
                                                    const vx_size *view_start,
                                                    const vx_size *view_end, vx_map_id *map_id,
                                                    vx_size *stride, void **memory, vx_enum usage,
                                                    vx_enum memory_type);
VX_API_ENTRY vx_status VX_API_CALL vxUnmapTensorPatch(vx_tensor tensor, const vx_map_id map_id);

/* ---- Scalars ---- */

/*
 * With an unsupported type (VX_TYPE_FLOAT16, ...), returns a valid object; its value stays 0.
 */
VX_API_ENTRY vx_scalar VX_API_CALL vxCreateScalar(vx_context context, vx_enum data_type,
                                                  const void *value);
VX_API_ENTRY vx_scalar VX_API_CALL vxCreateScalarWithSize(vx_context context, vx_enum data_type,
                                                          const void *value, vx_size size);
VX_API_ENTRY vx_status VX_API_CALL vxReleaseScalar(vx_scalar *scalar);
VX_API_ENTRY vx_status VX_API_CALL vxQueryScalar(vx_scalar scalar, vx_enum attribute, void *value,
                                                 vx_size size);
/*
 * Copies as many bytes as the scalar's type has: query VX_SCALAR_TYPE first. A BOOL parameter of
 * an operator has 1 byte, not sizeof(vx_bool). user_memory_type must be VX_MEMORY_TYPE_HOST.
 */
VX_API_ENTRY vx_status VX_API_CALL vxCopyScalar(vx_scalar scalar, void *user_memory, vx_enum usage,
                                                vx_enum user_memory_type);
/* `size` is used for user-defined structs only. */
VX_API_ENTRY vx_status VX_API_CALL vxCopyScalarWithSize(vx_scalar scalar, vx_size size,
                                                        void *user_memory, vx_enum usage,
                                                        vx_enum user_memory_type);
VX_API_ENTRY vx_status VX_API_CALL vxReadScalarValue(vx_scalar scalar, void *value);
VX_API_ENTRY vx_status VX_API_CALL vxWriteScalarValue(vx_scalar scalar, const void *value);

/* ---- Arrays ---- */

VX_API_ENTRY vx_array VX_API_CALL vxCreateArray(vx_context context, vx_enum item_type,
                                                vx_size capacity);
VX_API_ENTRY vx_status VX_API_CALL vxReleaseArray(vx_array *array);
VX_API_ENTRY vx_status VX_API_CALL vxQueryArray(vx_array array, vx_enum attribute, void *value,
                                                vx_size size);
VX_API_ENTRY vx_status VX_API_CALL vxSetArrayAttribute(vx_array array, vx_enum attribute,
                                                       void *value, vx_size size);
/* `stride` is the distance between items in memory, in bytes. */
VX_API_ENTRY vx_status VX_API_CALL vxAddArrayItems(vx_array array, vx_size count, const void *items,
                                                   vx_size stride);
VX_API_ENTRY vx_status VX_API_CALL vxTruncateArray(vx_array array, vx_size count);
/*
 * Copies the items start to end - 1. `stride`, in bytes, is at least the item's size. Returns
 * VX_ERROR_INVALID_PARAMETERS for an empty range.
 */
VX_API_ENTRY vx_status VX_API_CALL vxCopyArrayRange(vx_array array, vx_size start, vx_size end,
                                                    vx_size stride, void *user_memory,
                                                    vx_enum usage, vx_enum user_memory_type);
VX_API_ENTRY vx_status VX_API_CALL vxMapArrayRange(vx_array array, vx_size start, vx_size end,
                                                   vx_map_id *map_id, vx_size *stride,
                                                   void **memory, vx_enum usage,
                                                   vx_enum memory_type, vx_uint32 flags);
VX_API_ENTRY vx_status VX_API_CALL vxUnmapArrayRange(vx_array array, vx_map_id map_id);

/* ---- Layouts of the board's ABI ---- */

VX_STATIC_ASSERT(sizeof(vx_bool) == 4 && sizeof(vx_enum) == 4 && sizeof(vx_status) == 4,
                 "enumerations have 4 bytes");
VX_STATIC_ASSERT(sizeof(vx_size) == sizeof(void *) && sizeof(vx_map_id) == sizeof(void *),
                 "sizes are as wide as pointers");
VX_STATIC_ASSERT(VX_PARAMETER_STATE_REQUIRED ==
                     VX_ENUM_BASE(VX_ID_KHRONOS, VX_ENUM_PARAMETER_STATE),
                 "composition");
VX_STATIC_ASSERT(VX_CONVERT_POLICY_WRAP == VX_ENUM_BASE(VX_ID_KHRONOS, VX_ENUM_CONVERT_POLICY),
                 "composition");
VX_STATIC_ASSERT(VX_BORDER_UNDEFINED == VX_ENUM_BASE(VX_ID_KHRONOS, VX_ENUM_BORDER), "composition");
VX_STATIC_ASSERT(sizeof(vx_border_t) == 20, "as the board demands");
VX_STATIC_ASSERT(VX_MEMORY_TYPE_NONE == VX_ENUM_BASE(VX_ID_KHRONOS, VX_ENUM_MEMORY_TYPE),
                 "composition");
VX_STATIC_ASSERT(VX_READ_ONLY == VX_ENUM_BASE(VX_ID_KHRONOS, VX_ENUM_ACCESSOR) + 1, "composition");
VX_STATIC_ASSERT(VX_ROUND_POLICY_TO_ZERO == VX_ENUM_BASE(VX_ID_KHRONOS, VX_ENUM_ROUND_POLICY) + 1,
                 "composition");
VX_STATIC_ASSERT(VX_REFERENCE_COUNT == VX_ATTRIBUTE_BASE(VX_ID_KHRONOS, VX_TYPE_REFERENCE),
                 "composition");
VX_STATIC_ASSERT(VX_CONTEXT_MAX_TENSOR_DIMS ==
                     VX_ATTRIBUTE_BASE(VX_ID_KHRONOS, VX_TYPE_CONTEXT) + 0xE,
                 "composition");
VX_STATIC_ASSERT(VX_NODE_STATUS == VX_ATTRIBUTE_BASE(VX_ID_KHRONOS, VX_TYPE_NODE), "composition");
VX_STATIC_ASSERT(VX_KERNEL_PARAMETERS == VX_ATTRIBUTE_BASE(VX_ID_KHRONOS, VX_TYPE_KERNEL),
                 "composition");
VX_STATIC_ASSERT(VX_SCALAR_TYPE == VX_ATTRIBUTE_BASE(VX_ID_KHRONOS, VX_TYPE_SCALAR), "composition");
VX_STATIC_ASSERT(VX_ARRAY_ITEMTYPE == VX_ATTRIBUTE_BASE(VX_ID_KHRONOS, VX_TYPE_ARRAY),
                 "composition");
VX_STATIC_ASSERT(VX_TENSOR_NUMBER_OF_DIMS == VX_ATTRIBUTE_BASE(VX_ID_KHRONOS, VX_TYPE_TENSOR),
                 "composition");
VX_STATIC_ASSERT(VX_TENSOR_QUANT_FORMAT == VX_ATTRIBUTE_BASE(VX_ID_VIVANTE, VX_TYPE_TENSOR),
                 "composition");

#ifdef __cplusplus
}
#endif

#endif
