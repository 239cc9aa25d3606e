/* What a compiled kernel and the runtime have in common. Included by both, so it is plain C. */
#ifndef OPKIT_VX_SHARED_H
#define OPKIT_VX_SHARED_H

/* The types of elements, by the numbers that the configuration of a dot product uses; the rest is ours. */
enum vx_type {
    VX_FLOAT32,
    VX_FLOAT16,
    VX_INT32,
    VX_INT16,
    VX_INT8,
    VX_UINT32,
    VX_UINT16,
    VX_UINT8,
    VX_INT64,
    VX_UINT64,
    VX_FLOAT64,
};

/* A tensor as a kernel gets it. Kernels copy the first 32 bytes, the PPU's own descriptor, and compute addresses from them. */
struct vx_image {
    int address;      /* s0: below 2 GiB */
    int row_stride;   /* s1, bytes */
    int width;        /* s2, elements; that s2 and s3 are these is inferred */
    int height;       /* s3 */
    int slice_stride; /* s4, bytes */
    int depth;        /* s5 */
    int unused[2];
    unsigned char *data;
    unsigned char *written; /* one byte for each element of an output; NULL for an input */
    int element_size;
    int type;  /* enum vx_type */
    int index; /* among the tensors, for messages */
};

/* A value of any vector or scalar type, as an instruction sees it. */
struct vx_operand {
    void *data;
    int type;         /* of an element: enum vx_type */
    int element_size; /* bytes */
    int spacing;      /* bytes from one lane of the register to the next: 4 where a small vector is not packed */
    int size;         /* bytes in memory */
};

/* The work item that runs. */
struct vx_work_item {
    unsigned long global_id[3];
    unsigned long local_id[3];
    unsigned long group_id[3];
    unsigned long global_size[3];
    unsigned long global_offset[3];
    unsigned long local_size[3];
    unsigned int dimensions;
};

/* The modifier word. */
#define VX_ROUNDING(info) ((info) >> 2 & 3)
#define VX_SOURCE_BIN(info) ((info) >> 4 & 15)
#define VX_END_BIN(info) ((info) >> 8 & 15)
#define VX_START_BIN(info) ((info) >> 12 & 15)
#define VX_FILTER(info) ((info) >> 16 & 15)
#define VX_SATURATES(info) ((info) >> 22 & 1)
#define VX_REGISTER_SIZE 16

enum vx_rounding {
    VX_TOWARD_ZERO,
    VX_TOWARD_INFINITY, /* up */
    VX_NEAREST_EVEN,
    VX_TOWARD_MINUS_INFINITY, /* of convert_..._rtn and CONV_RTN; no modifier can say it */
};

enum vx_filter {
    VX_FILTER_MAX = 8,
    VX_FILTER_MIN,
    VX_FILTER_MEDIAN,
};

/* Instructions that work on one lane after the other. */
enum vx_instruction {
    VX_VERT_MAX3,
    VX_VERT_MIN3,
    VX_VERT_MED3,
    VX_HORZ_MAX3,
    VX_HORZ_MIN3,
    VX_HORZ_MED3,
    VX_CLAMP,
    VX_ABS_DIFF,
    VX_BIT_EXTRACT,
    VX_MUL_SHIFT,
    VX_ACC_SQUARE,
    VX_LERP,
    VX_BILINEAR,
    VX_ADD3,
    VX_FILTER3X3,
};

#endif
