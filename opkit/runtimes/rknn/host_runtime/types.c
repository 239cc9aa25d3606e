/* What is known of each VX_TYPE_...: as in the board's own table; 0 where the driver refuses it. */
#include "hostrt.h"

struct type {
    vx_enum value;
    const char *name;
    vx_size scalar;
    vx_size item; /* of an array */
    vx_size element; /* of a tensor */
};

static const struct type TYPES[] = {
    {VX_TYPE_CHAR, "CHAR", 1, 1, 0},
    {VX_TYPE_INT8, "INT8", 1, 1, 1},
    {VX_TYPE_UINT8, "UINT8", 1, 1, 1},
    {VX_TYPE_INT16, "INT16", 2, 2, 2},
    {VX_TYPE_UINT16, "UINT16", 2, 2, 2},
    {VX_TYPE_INT32, "INT32", 4, 4, 4},
    {VX_TYPE_UINT32, "UINT32", 4, 4, 4},
    {VX_TYPE_INT64, "INT64", 8, 8, 8},
    {VX_TYPE_UINT64, "UINT64", 8, 8, 0},
    {VX_TYPE_FLOAT32, "FLOAT32", 4, 4, 4},
    {VX_TYPE_FLOAT64, "FLOAT64", 8, 8, 0},
    {VX_TYPE_ENUM, "ENUM", 4, 4, 0},
    {VX_TYPE_SIZE, "SIZE", sizeof(vx_size), sizeof(vx_size), 0},
    {VX_TYPE_DF_IMAGE, "DF_IMAGE", 4, 4, 0},
    {VX_TYPE_FLOAT16, "FLOAT16", 0, 2, 2},
    {VX_TYPE_BOOL, "BOOL", 4, 4, 0},
    {VX_TYPE_BOOL8, "BOOL8", 0, 0, 1},
    {VX_TYPE_RECTANGLE, "RECTANGLE", 16, 16, 0},
    {VX_TYPE_KEYPOINT, "KEYPOINT", 28, 28, 0},
    {VX_TYPE_COORDINATES2D, "COORDINATES2D", 8, 8, 0},
    {VX_TYPE_COORDINATES3D, "COORDINATES3D", 12, 12, 0},
    {VX_TYPE_COORDINATES2DF, "COORDINATES2DF", 8, 0, 0},
    {VX_TYPE_HOG_PARAMS, "HOG_PARAMS", 40, 40, 0},
    {VX_TYPE_HOUGH_LINES_PARAMS, "HOUGH_LINES_PARAMS", 28, 28, 0},
    {VX_TYPE_LINE_2D, "LINE_2D", 16, 16, 0},
    {VX_TYPE_TENSOR_MATRIX_MULTIPLY_PARAMS, "TENSOR_MATRIX_MULTIPLY_PARAMS", 12, 0, 0},
    {VX_TYPE_BFLOAT16, "BFLOAT16", 0, 2, 2},
    {VX_TYPE_REFERENCE, "REFERENCE", 0, 0, 0},
    {VX_TYPE_CONTEXT, "CONTEXT", 0, 0, 0},
    {VX_TYPE_GRAPH, "GRAPH", 0, 0, 0},
    {VX_TYPE_NODE, "NODE", 0, 0, 0},
    {VX_TYPE_KERNEL, "KERNEL", 0, 0, 0},
    {VX_TYPE_PARAMETER, "PARAMETER", 0, 0, 0},
    {VX_TYPE_DELAY, "DELAY", 0, 0, 0},
    {VX_TYPE_LUT, "LUT", 0, 0, 0},
    {VX_TYPE_DISTRIBUTION, "DISTRIBUTION", 0, 0, 0},
    {VX_TYPE_PYRAMID, "PYRAMID", 0, 0, 0},
    {VX_TYPE_THRESHOLD, "THRESHOLD", 0, 0, 0},
    {VX_TYPE_MATRIX, "MATRIX", 0, 0, 0},
    {VX_TYPE_CONVOLUTION, "CONVOLUTION", 0, 0, 0},
    {VX_TYPE_SCALAR, "SCALAR", 0, 0, 0},
    {VX_TYPE_ARRAY, "ARRAY", 0, 0, 0},
    {VX_TYPE_IMAGE, "IMAGE", 0, 0, 0},
    {VX_TYPE_REMAP, "REMAP", 0, 0, 0},
    {VX_TYPE_ERROR, "ERROR", 0, 0, 0},
    {VX_TYPE_META_FORMAT, "META_FORMAT", 0, 0, 0},
    {VX_TYPE_OBJECT_ARRAY, "OBJECT_ARRAY", 0, 0, 0},
    {VX_TYPE_TENSOR, "TENSOR", 0, 0, 0},
    {VX_TYPE_PROGRAM, "PROGRAM", 0, 0, 0},
};

static const struct type *find(vx_enum value)
{
    for (size_t i = 0; i < dimof(TYPES); i++) {
        if (TYPES[i].value == value) {
            return &TYPES[i];
        }
    }
    return NULL;
}

vx_size hostrt_scalar_size(vx_enum type)
{
    const struct type *found = find(type);
    return found ? found->scalar : 0;
}

vx_size hostrt_item_size(vx_enum type)
{
    const struct type *found = find(type);
    return found ? found->item : 0;
}

vx_size hostrt_element_size(vx_enum type)
{
    const struct type *found = find(type);
    return found ? found->element : 0;
}

bool hostrt_is_type(vx_enum type)
{
    return find(type) != NULL;
}

const char *hostrt_type_name(vx_enum type)
{
    const struct type *found = find(type);
    return found ? found->name : "unknown";
}
