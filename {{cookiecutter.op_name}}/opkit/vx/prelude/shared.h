/* What a compiled kernel and the runtime have in common. Included by both, so it is plain C. */
#ifndef __OPKIT_SHARED_H
#define __OPKIT_SHARED_H

/* The types of elements, by the numbers that the configuration of a dot product uses; the rest is ours. */
enum __opkit_type {
    __OPKIT_FLOAT32,
    __OPKIT_FLOAT16,
    __OPKIT_INT32,
    __OPKIT_INT16,
    __OPKIT_INT8,
    __OPKIT_UINT32,
    __OPKIT_UINT16,
    __OPKIT_UINT8,
    __OPKIT_INT64,
    __OPKIT_UINT64,
    __OPKIT_FLOAT64,
};

/* A tensor as a kernel gets it. Kernels copy the first 32 bytes, the PPU's own descriptor, and compute addresses from them. */
struct __opkit_image {
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
    int type;  /* enum __opkit_type */
    int index; /* among the tensors, for messages */
};

/* A value of any vector or scalar type, as an instruction sees it. */
struct __opkit_operand {
    void *data;
    int type;         /* of an element: enum __opkit_type */
    int element_size; /* bytes */
    int spacing;      /* bytes from one lane of the register to the next: 4 where a small vector is not packed */
    int size;         /* bytes in memory */
};

/* The work item that runs. */
struct __opkit_work_item {
    unsigned long global_id[3];
    unsigned long local_id[3];
    unsigned long group_id[3];
    unsigned long global_size[3];
    unsigned long global_offset[3];
    unsigned long local_size[3];
    unsigned int dimensions;
};

/* The modifier word. */
#define __OPKIT_ROUNDING(info) ((info) >> 2 & 3)
#define __OPKIT_SOURCE_BIN(info) ((info) >> 4 & 15)
#define __OPKIT_END_BIN(info) ((info) >> 8 & 15)
#define __OPKIT_START_BIN(info) ((info) >> 12 & 15)
#define __OPKIT_FILTER(info) ((info) >> 16 & 15)
#define __OPKIT_SATURATES(info) ((info) >> 22 & 1)
#define __OPKIT_REGISTER_SIZE 16

enum __opkit_rounding {
    __OPKIT_TOWARD_ZERO,
    __OPKIT_TOWARD_INFINITY, /* up */
    __OPKIT_NEAREST_EVEN,
    __OPKIT_TOWARD_MINUS_INFINITY, /* of convert_..._rtn and CONV_RTN; no modifier can say it */
};

enum __opkit_filter {
    __OPKIT_FILTER_MAX = 8,
    __OPKIT_FILTER_MIN,
    __OPKIT_FILTER_MEDIAN,
};

/* Instructions that work on one lane after the other. */
enum __opkit_instruction {
    __OPKIT_VERT_MAX3,
    __OPKIT_VERT_MIN3,
    __OPKIT_VERT_MED3,
    __OPKIT_HORZ_MAX3,
    __OPKIT_HORZ_MIN3,
    __OPKIT_HORZ_MED3,
    __OPKIT_CLAMP,
    __OPKIT_ABS_DIFF,
    __OPKIT_BIT_EXTRACT,
    __OPKIT_MUL_SHIFT,
    __OPKIT_ACC_SQUARE,
    __OPKIT_LERP,
    __OPKIT_BILINEAR,
    __OPKIT_ADD3,
    __OPKIT_FILTER3X3,
};

#endif
