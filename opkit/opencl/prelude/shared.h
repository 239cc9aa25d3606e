/* What kernels and the runtime share. Both include it, so it is C without OpenCL. */
#ifndef __OPKIT_SHARED_H
#define __OPKIT_SHARED_H

/*
 * The types of elements, by the numbers that the configuration of a dot product uses; the rest
 * are opkit's.
 */
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

/*
 * A tensor as a kernel gets it. Kernels copy the first 32 bytes, the PPU's own descriptor, and
 * compute addresses from them.
 */
struct __opkit_image {
    int address; /* s0: below 2 GiB */
    int row_stride; /* s1, bytes */
    int width; /* s2, elements; that s2 and s3 are these is inferred */
    int height; /* s3 */
    int slice_stride; /* s4, bytes */
    int depth; /* s5 */
    int unused[2];
    unsigned char *data;
    unsigned char *written; /* one byte for each element of an output; NULL for an input */
    int element_size;
    int type; /* enum __opkit_type */
    const char *name; /* for messages */
};

/* A value of any vector or scalar type, as an instruction sees it. */
struct __opkit_operand {
    void *data;
    int type; /* of an element: enum __opkit_type */
    int element_size; /* bytes */
    /* bytes from one lane of the register to the next: 4 where a small vector is not packed */
    int spacing;
    int size; /* bytes in memory */
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
    volatile unsigned int is_joint; /* an access is atomic, or one by all of the group */
    unsigned int fences; /* of the barrier that it waits at: CLK_... of work_items.h */
};

/* A parameter of a kernel, in the table __opkit_parameters_<kernel>, which a nameless one ends. */
struct __opkit_parameter {
    char name[64];
    int kind; /* enum __opkit_parameter_kind */
    int type; /* of elements behind the pointer: enum __opkit_type; -1: of a struct or a value */
    unsigned long size; /* bytes of a value; of an element behind a pointer */
};

enum __opkit_parameter_kind {
    __OPKIT_VALUE_PARAMETER,
    __OPKIT_GLOBAL_PARAMETER,
    __OPKIT_CONSTANT_PARAMETER,
    __OPKIT_LOCAL_PARAMETER,
};

/* The modifier word. */
#define __OPKIT_DEFAULT_MODIFIER (-1)
#define __OPKIT_ENABLE_BOOL(info) ((info) >> 1 & 1)
#define __OPKIT_ROUNDING(info) ((info) >> 2 & 3)
#define __OPKIT_SOURCE_BIN(info) ((info) >> 4 & 15)
#define __OPKIT_END_BIN(info) ((info) >> 8 & 15)
#define __OPKIT_START_BIN(info) ((info) >> 12 & 15)
#define __OPKIT_FILTER(info) ((info) >> 16 & 15)
#define __OPKIT_RANGE_PI(info) ((info) >> 20 & 1)
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
    __OPKIT_LERP_NEIGHBORS, /* of the first operand */
    __OPKIT_BILINEAR,
    __OPKIT_ADD3,
    __OPKIT_SELECT_ADD,
    __OPKIT_MAG_PHASE,
    __OPKIT_FILTER3X3,
};

/* Dot products, by what their table selects. */
enum __opkit_dot_form {
    __OPKIT_DOT_16, /* 16 terms: A and B are bins of either register, or B is a constant */
    __OPKIT_DOT_WIDE, /* 16 terms: A is a bin of two registers, B one of a third */
    __OPKIT_DOT_32, /* 32 terms: A is a bin of either register, B a constant */
};

/* ---- What kernels use of the runtime ---- */

/* Declared here only, so that a definition that differs does not compile. */
extern struct __opkit_work_item __opkit_item; /* log.c */

/* work_items.h */
/* The place in the source tells barriers apart; the compiler must not make one of two. */
void __opkit_barrier(unsigned int place);
int __opkit_print(const struct __opkit_operand *values, int count);

/* images.h */
void __opkit_read_checked(const struct __opkit_operand *destination,
                          const struct __opkit_image *image, int x, int y, int z, int info);
void __opkit_write_checked(const struct __opkit_operand *source, const struct __opkit_image *image,
                           int x, int y, int z, int info);
int __opkit_slice_of(const struct __opkit_image *image, int address);
void __opkit_load_image(const struct __opkit_image *image, int x, int y, int z, double *values,
                        int wanted);
void __opkit_store_image(const struct __opkit_image *image, int x, int y, int z,
                         const double *values, int wanted);

/* instructions.h */
void __opkit_dot_product(enum __opkit_dot_form form, int outputs,
                         const struct __opkit_operand *destination, const struct __opkit_operand *a,
                         const struct __opkit_operand *b, const struct __opkit_operand *c, int info,
                         const void *configuration);
void __opkit_lanewise(enum __opkit_instruction instruction,
                      const struct __opkit_operand *destination, const struct __opkit_operand *a,
                      const struct __opkit_operand *b, const struct __opkit_operand *c, int info);

/* memory.h: a copy by a whole group, put into the list `event` of copies that are made later */
struct __opkit_copy *__opkit_enqueue_copy(void *to, const void *from, unsigned long count,
                                          unsigned long size, unsigned long step,
                                          struct __opkit_copy *event);
void __opkit_make_copies(int count, struct __opkit_copy **events);

/* floats.h */
float __opkit_exp(float a);
float __opkit_exp2(float a);
float __opkit_exp10(float a);
float __opkit_expm1(float a);
float __opkit_log(float a);
float __opkit_log2(float a);
float __opkit_log10(float a);
float __opkit_log1p(float a);
float __opkit_logb(float a);
float __opkit_cbrt(float a);
float __opkit_sin(float a);
float __opkit_cos(float a);
float __opkit_tan(float a);
float __opkit_asin(float a);
float __opkit_acos(float a);
float __opkit_atan(float a);
float __opkit_sinh(float a);
float __opkit_cosh(float a);
float __opkit_tanh(float a);
float __opkit_asinh(float a);
float __opkit_acosh(float a);
float __opkit_atanh(float a);
float __opkit_sinpi(float a);
float __opkit_cospi(float a);
float __opkit_tanpi(float a);
float __opkit_asinpi(float a);
float __opkit_acospi(float a);
float __opkit_atanpi(float a);
float __opkit_erf(float a);
float __opkit_erfc(float a);
float __opkit_tgamma(float a);
float __opkit_lgamma(float a);
float __opkit_round(float a);
float __opkit_pow(float a, float b);
float __opkit_powr(float a, float b);
float __opkit_fmod(float a, float b);
float __opkit_remainder(float a, float b);
float __opkit_atan2(float a, float b);
float __opkit_atan2pi(float a, float b);
float __opkit_hypot(float a, float b);
float __opkit_ldexp(float a, int b);
float __opkit_pown(float a, int b);
float __opkit_rootn(float a, int b);
float __opkit_fma(float a, float b, float c);
float __opkit_frexp(float a, int *exponent);
int __opkit_ilogb(float a);
float __opkit_lgamma_r(float a, int *sign_of_gamma);
float __opkit_remquo(float a, float b, int *quotient);

#endif
