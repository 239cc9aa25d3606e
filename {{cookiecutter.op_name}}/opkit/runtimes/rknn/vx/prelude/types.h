/*
 * Scalars, vectors and images.
 *
 * A vxc_ vector is packed: vxc_short8 is 128 bits. A plain vector of up to four 8- or 16-bit elements is not: on the PPU each
 * element lies in 32 bits of its own, which shows when it is copied or given to an instruction. The two are different types
 * here, by their elements, so that the lists below can tell an instruction which one it has.
 */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef __UINTPTR_TYPE__ uintptr_t;

typedef _BitInt(8) vx_small_char;
typedef unsigned _BitInt(8) vx_small_uchar;
typedef _BitInt(16) vx_small_short;
typedef unsigned _BitInt(16) vx_small_ushort;
typedef _Float16 vx_small_half;

#define VX_VECTOR(element, name)                                 \
    typedef element name##2 __attribute__((ext_vector_type(2))); \
    typedef element name##3 __attribute__((ext_vector_type(3))); \
    typedef element name##4 __attribute__((ext_vector_type(4)))
#define VX_LONG_VECTOR(element, name)                            \
    typedef element name##8 __attribute__((ext_vector_type(8))); \
    typedef element name##16 __attribute__((ext_vector_type(16)))
#define VX_WIDE(element)         \
    VX_VECTOR(element, element); \
    VX_LONG_VECTOR(element, element)
#define VX_NARROW(element)                  \
    VX_VECTOR(vx_small_##element, element); \
    VX_VECTOR(element, vxc_##element);      \
    VX_LONG_VECTOR(element, element);       \
    typedef element##8 vxc_##element##8

VX_WIDE(int);
VX_WIDE(uint);
VX_WIDE(long);
VX_WIDE(ulong);
VX_WIDE(float);
VX_WIDE(double);
VX_NARROW(char);
VX_NARROW(uchar);
VX_NARROW(short);
VX_NARROW(ushort);
VX_NARROW(half);

#define VX_ALIAS(element)                \
    typedef element vxc_##element;       \
    typedef element##2 vxc_##element##2; \
    typedef element##3 vxc_##element##3; \
    typedef element##4 vxc_##element##4; \
    typedef element##8 vxc_##element##8; \
    typedef element##16 vxc_##element##16
VX_ALIAS(int);
VX_ALIAS(uint);
VX_ALIAS(float);
typedef char vxc_char;
typedef uchar vxc_uchar;
typedef short vxc_short;
typedef ushort vxc_ushort;
typedef half vxc_half;
typedef char16 vxc_char16;
typedef uchar16 vxc_uchar16;

/* Two registers. */
#define VX_PAIR(vector, name) \
    typedef struct {          \
        vector hi, lo;        \
    } name
VX_PAIR(char16, vxc_char32);
VX_PAIR(uchar16, vxc_uchar32);
VX_PAIR(short8, vxc_short16);
VX_PAIR(ushort8, vxc_ushort16);
VX_PAIR(half8, vxc_half16);

typedef uint16 vxc_512bits;
typedef uint4 vxc_128bits;
typedef vxc_512bits VXC_512Bits;
typedef vxc_128bits VXC_128Bits;
typedef int VXC_Modifier_t;

/* X(vector, element, lanes, ...) for every vector type of a kind; X(scalar, ...) for the scalars. */
#define VX_LANES(X, name, element, ...) \
    X(name##2, element, 2, __VA_ARGS__) \
    X(name##3, element, 3, __VA_ARGS__) \
    X(name##4, element, 4, __VA_ARGS__)
#define VX_LONG_LANES(X, name, element, ...) \
    X(name##8, element, 8, __VA_ARGS__)      \
    X(name##16, element, 16, __VA_ARGS__)
#define VX_WIDE_VECTORS(X, name, ...)    \
    VX_LANES(X, name, name, __VA_ARGS__) \
    VX_LONG_LANES(X, name, name, __VA_ARGS__)
#define VX_NARROW_VECTORS(X, name, ...)             \
    VX_LANES(X, name, vx_small_##name, __VA_ARGS__) \
    VX_LANES(X, vxc_##name, name, __VA_ARGS__)      \
    VX_LONG_LANES(X, name, name, __VA_ARGS__)
#define VX_FLOAT_VECTORS(X, ...)           \
    VX_WIDE_VECTORS(X, float, __VA_ARGS__) \
    VX_NARROW_VECTORS(X, half, __VA_ARGS__)
#define VX_INTEGER_VECTORS(X, ...)            \
    VX_NARROW_VECTORS(X, char, __VA_ARGS__)   \
    VX_NARROW_VECTORS(X, uchar, __VA_ARGS__)  \
    VX_NARROW_VECTORS(X, short, __VA_ARGS__)  \
    VX_NARROW_VECTORS(X, ushort, __VA_ARGS__) \
    VX_WIDE_VECTORS(X, int, __VA_ARGS__)      \
    VX_WIDE_VECTORS(X, uint, __VA_ARGS__)     \
    VX_WIDE_VECTORS(X, long, __VA_ARGS__)     \
    VX_WIDE_VECTORS(X, ulong, __VA_ARGS__)
/* The same with a scalar as a function's other argument: of a vector that is not packed, it is an element of it or a plain one. */
#define VX_FLOAT_MIXED(X, ...)       \
    VX_FLOAT_VECTORS(X, __VA_ARGS__) \
    VX_LANES(X, half, half, __VA_ARGS__)
#define VX_INTEGER_MIXED(X, ...)           \
    VX_INTEGER_VECTORS(X, __VA_ARGS__)     \
    VX_LANES(X, char, char, __VA_ARGS__)   \
    VX_LANES(X, uchar, uchar, __VA_ARGS__) \
    VX_LANES(X, short, short, __VA_ARGS__) \
    VX_LANES(X, ushort, ushort, __VA_ARGS__)
#define VX_FLOAT_SCALARS(X, ...) \
    X(float, __VA_ARGS__)        \
    X(half, __VA_ARGS__)         \
    X(vx_small_half, __VA_ARGS__)
#define VX_NARROW_SCALARS(X, ...)  \
    X(char, __VA_ARGS__)           \
    X(uchar, __VA_ARGS__)          \
    X(short, __VA_ARGS__)          \
    X(ushort, __VA_ARGS__)         \
    X(vx_small_char, __VA_ARGS__)  \
    X(vx_small_uchar, __VA_ARGS__) \
    X(vx_small_short, __VA_ARGS__) \
    X(vx_small_ushort, __VA_ARGS__)
#define VX_INTEGER_SCALARS(X, ...)    \
    VX_NARROW_SCALARS(X, __VA_ARGS__) \
    X(int, __VA_ARGS__)               \
    X(uint, __VA_ARGS__)              \
    X(long, __VA_ARGS__)              \
    X(ulong, __VA_ARGS__)

/* A function of the prelude: no names of its own in debug information, no sanitizer inside. */
#define VX_FUNCTION static inline __attribute__((overloadable, always_inline, nodebug, no_sanitize("undefined")))

/* What is known of a value by its type: its element's type, its element's type as a number, the spacing of its lanes. */
#define VX_KNOW(T, E, type, lane)                  \
    E __attribute__((overloadable)) vx_element(T); \
    VX_FUNCTION int vx_known(T value)              \
    {                                              \
        return (lane) << 8 | type;                 \
    }
#define vx_type_of(value) (vx_known(value) & 255)
#define vx_spacing(value) (vx_known(value) >> 8)
#define VX_KNOW_VECTOR(T, E, lanes, type, lane) VX_KNOW(T, E, type, lane)
#define VX_KNOW_SMALL(T, E, lanes, same, type) VX_KNOW(T, same, type, 4)
#define VX_KNOW_WIDE(T, type)      \
    VX_KNOW(T, T, type, sizeof(T)) \
    VX_WIDE_VECTORS(VX_KNOW_VECTOR, T, type, sizeof(T))
#define VX_KNOW_NARROW(T, type)                           \
    VX_KNOW(T, T, type, sizeof(T))                        \
    VX_KNOW(vx_small_##T, T, type, sizeof(T))             \
    VX_LANES(VX_KNOW_SMALL, T, vx_small_##T, T, type)     \
    VX_LANES(VX_KNOW_VECTOR, vxc_##T, T, type, sizeof(T)) \
    VX_LONG_LANES(VX_KNOW_VECTOR, T, T, type, sizeof(T))

VX_KNOW_NARROW(char, VX_INT8)
VX_KNOW_NARROW(uchar, VX_UINT8)
VX_KNOW_NARROW(short, VX_INT16)
VX_KNOW_NARROW(ushort, VX_UINT16)
VX_KNOW_NARROW(half, VX_FLOAT16)
VX_KNOW_WIDE(int, VX_INT32)
VX_KNOW_WIDE(uint, VX_UINT32)
VX_KNOW_WIDE(long, VX_INT64)
VX_KNOW_WIDE(ulong, VX_UINT64)
VX_KNOW_WIDE(float, VX_FLOAT32)
VX_KNOW_WIDE(double, VX_FLOAT64)
VX_KNOW(bool, uchar, VX_UINT8, 1)
VX_KNOW(vxc_char32, char, VX_INT8, 1)
VX_KNOW(vxc_uchar32, uchar, VX_UINT8, 1)
VX_KNOW(vxc_short16, short, VX_INT16, 2)
VX_KNOW(vxc_ushort16, ushort, VX_UINT16, 2)
VX_KNOW(vxc_half16, half, VX_FLOAT16, 2)
VX_KNOW(struct vx_image, uint, VX_UINT32, 4)
VX_KNOW(const void *, ulong, VX_UINT64, 8)
VX_KNOW(__constant const void *, ulong, VX_UINT64, 8)

#define VX_ELEMENT(value) __typeof__(vx_element(value))
#define VX_OPERAND(value) \
    ((struct vx_operand){(void *)&(value), vx_type_of(value), sizeof(VX_ELEMENT(value)), vx_spacing(value), sizeof(value)})

/* A 1-D array of params: what the kernel gets is its capacity, which RKNN makes equal to its length. */
#define VX_ARRAY(element) \
    typedef struct {      \
        size_t size;      \
        element *item;    \
    } vx_array_##element
VX_ARRAY(char);
VX_ARRAY(uchar);
VX_ARRAY(short);
VX_ARRAY(ushort);
VX_ARRAY(int);
VX_ARRAY(uint);
VX_ARRAY(float);

/* Every image is the same here: how it is used says what it is. */
#define image1d_t struct vx_image
#define image1d_array_t struct vx_image
#define image2d_t struct vx_image
#define image2d_array_t struct vx_image
#define image3d_t struct vx_image
