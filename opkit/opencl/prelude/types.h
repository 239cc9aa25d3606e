/*
 * Scalars, vectors and images.
 *
 * A vxc_ vector is packed: vxc_short4 is 64 bits. A plain vector of up to four 8- or 16-bit
 * elements is not: on the PPU each element lies in 32 bits of its own, which shows when it is
 * copied or given to an instruction. The two are different types here, by their elements, so that
 * the lists below can tell an instruction which one it has, and so that parts of a packed vector
 * are packed.
 *
 * Elements of plain vectors are OpenCL's own types. Those of packed ones are enumerations, which C
 * promotes to int as it does a short. Each type behind the colon is spelled with keywords: clang
 * crashes on vectors of enumerations whose type is a typedef's name. Where only one of the two
 * fits, and both mean the same, corrections.py puts __opkit_repacked around the other.
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

typedef enum __opkit_packed_char : char {
    __opkit_char_0
} __opkit_packed_char;
typedef enum __opkit_packed_uchar : unsigned char {
    __opkit_uchar_0
} __opkit_packed_uchar;
typedef enum __opkit_packed_short : short {
    __opkit_short_0
} __opkit_packed_short;
typedef enum __opkit_packed_ushort : unsigned short {
    __opkit_ushort_0
} __opkit_packed_ushort;
typedef half __opkit_packed_half;
#define __opkit_plain_char char
#define __opkit_plain_uchar uchar
#define __opkit_plain_short short
#define __opkit_plain_ushort ushort
typedef _Float16 __opkit_plain_half;

#define __OPKIT_VECTOR(element, name)                            \
    typedef element name##2 __attribute__((ext_vector_type(2))); \
    typedef element name##3 __attribute__((ext_vector_type(3))); \
    typedef element name##4 __attribute__((ext_vector_type(4)))
#define __OPKIT_LONG_VECTOR(element, name)                       \
    typedef element name##8 __attribute__((ext_vector_type(8))); \
    typedef element name##16 __attribute__((ext_vector_type(16)))
#define __OPKIT_WIDE(element)         \
    __OPKIT_VECTOR(element, element); \
    __OPKIT_LONG_VECTOR(element, element)
#define __OPKIT_NARROW(element)                              \
    __OPKIT_VECTOR(__opkit_plain_##element, element);        \
    __OPKIT_LONG_VECTOR(__opkit_plain_##element, element);   \
    __OPKIT_VECTOR(__opkit_packed_##element, vxc_##element); \
    typedef __opkit_packed_##element vxc_##element##8 __attribute__((ext_vector_type(8)))

__OPKIT_WIDE(int);
__OPKIT_WIDE(uint);
__OPKIT_WIDE(long);
__OPKIT_WIDE(ulong);
__OPKIT_WIDE(float);
__OPKIT_WIDE(double);
__OPKIT_NARROW(char);
__OPKIT_NARROW(uchar);
__OPKIT_NARROW(short);
__OPKIT_NARROW(ushort);
__OPKIT_NARROW(half);

#define __OPKIT_ALIAS(element)           \
    typedef element vxc_##element;       \
    typedef element##2 vxc_##element##2; \
    typedef element##3 vxc_##element##3; \
    typedef element##4 vxc_##element##4; \
    typedef element##8 vxc_##element##8; \
    typedef element##16 vxc_##element##16
__OPKIT_ALIAS(int);
__OPKIT_ALIAS(uint);
__OPKIT_ALIAS(float);
typedef char vxc_char;
typedef uchar vxc_uchar;
typedef short vxc_short;
typedef ushort vxc_ushort;
typedef half vxc_half;
typedef __opkit_packed_char vxc_char16 __attribute__((ext_vector_type(16)));
typedef __opkit_packed_uchar vxc_uchar16 __attribute__((ext_vector_type(16)));

/* Two registers. */
#define __OPKIT_PAIR(vector, name) \
    typedef struct {               \
        vector hi, lo;             \
    } name
__OPKIT_PAIR(vxc_char16, vxc_char32);
__OPKIT_PAIR(vxc_uchar16, vxc_uchar32);
__OPKIT_PAIR(vxc_short8, vxc_short16);
__OPKIT_PAIR(vxc_ushort8, vxc_ushort16);
__OPKIT_PAIR(vxc_half8, vxc_half16);

typedef uint16 vxc_512bits;
typedef uint4 vxc_128bits;
typedef vxc_512bits VXC_512Bits;
typedef vxc_128bits VXC_128Bits;

/*
 * X(vector, element, lanes, ...) for every vector type of a kind; X(scalar, ...) for the scalars.
 */
#define __OPKIT_LANES(X, name, element, ...) \
    X(name##2, element, 2, __VA_ARGS__)      \
    X(name##3, element, 3, __VA_ARGS__)      \
    X(name##4, element, 4, __VA_ARGS__)
#define __OPKIT_LONG_LANES(X, name, element, ...) \
    X(name##8, element, 8, __VA_ARGS__)           \
    X(name##16, element, 16, __VA_ARGS__)
#define __OPKIT_WIDE_VECTORS(X, name, ...)    \
    __OPKIT_LANES(X, name, name, __VA_ARGS__) \
    __OPKIT_LONG_LANES(X, name, name, __VA_ARGS__)
#define __OPKIT_PACKED_VECTORS(X, name, element, ...)  \
    __OPKIT_LANES(X, vxc_##name, element, __VA_ARGS__) \
    X(vxc_##name##8, element, 8, __VA_ARGS__)          \
    __OPKIT_PACKED_16_##name(X, element, __VA_ARGS__)
#define __OPKIT_PACKED_16_char(X, element, ...) X(vxc_char16, element, 16, __VA_ARGS__)
#define __OPKIT_PACKED_16_uchar(X, element, ...) X(vxc_uchar16, element, 16, __VA_ARGS__)
#define __OPKIT_PACKED_16_short(X, element, ...)
#define __OPKIT_PACKED_16_ushort(X, element, ...)
#define __OPKIT_PACKED_16_half(X, element, ...)
#define __OPKIT_PLAIN_VECTORS(X, name, element, ...) \
    __OPKIT_LANES(X, name, element, __VA_ARGS__)     \
    __OPKIT_LONG_LANES(X, name, element, __VA_ARGS__)
#define __OPKIT_NARROW_VECTORS(X, name, ...)                          \
    __OPKIT_PLAIN_VECTORS(X, name, __opkit_plain_##name, __VA_ARGS__) \
    __OPKIT_PACKED_VECTORS(X, name, __opkit_packed_##name, __VA_ARGS__)
#define __OPKIT_FLOAT_VECTORS(X, ...)           \
    __OPKIT_WIDE_VECTORS(X, float, __VA_ARGS__) \
    __OPKIT_NARROW_VECTORS(X, half, __VA_ARGS__)
#define __OPKIT_INTEGERS(NARROW, X, ...)       \
    NARROW(X, char, __VA_ARGS__)               \
    NARROW(X, uchar, __VA_ARGS__)              \
    NARROW(X, short, __VA_ARGS__)              \
    NARROW(X, ushort, __VA_ARGS__)             \
    __OPKIT_WIDE_VECTORS(X, int, __VA_ARGS__)  \
    __OPKIT_WIDE_VECTORS(X, uint, __VA_ARGS__) \
    __OPKIT_WIDE_VECTORS(X, long, __VA_ARGS__) \
    __OPKIT_WIDE_VECTORS(X, ulong, __VA_ARGS__)
#define __OPKIT_INTEGER_VECTORS(X, ...) __OPKIT_INTEGERS(__OPKIT_NARROW_VECTORS, X, __VA_ARGS__)

/*
 * The same with a scalar as a function's other argument. It is of one type, to which an element of
 * another name converts: with two of them a call with a number would be no one's.
 */
#define __OPKIT_NARROW_MIXED(X, name, ...)            \
    __OPKIT_PLAIN_VECTORS(X, name, name, __VA_ARGS__) \
    __OPKIT_PACKED_VECTORS(X, name, name, __VA_ARGS__)
#define __OPKIT_FLOAT_MIXED(X, ...)             \
    __OPKIT_WIDE_VECTORS(X, float, __VA_ARGS__) \
    __OPKIT_NARROW_MIXED(X, half, __VA_ARGS__)
#define __OPKIT_INTEGER_MIXED(X, ...) __OPKIT_INTEGERS(__OPKIT_NARROW_MIXED, X, __VA_ARGS__)

#define __OPKIT_FLOAT_SCALARS(X, ...) \
    X(float, __VA_ARGS__)             \
    X(half, __VA_ARGS__)              \
    X(__opkit_plain_half, __VA_ARGS__)
#define __OPKIT_NARROW_SCALARS(X, ...)   \
    X(char, __VA_ARGS__)                 \
    X(uchar, __VA_ARGS__)                \
    X(short, __VA_ARGS__)                \
    X(ushort, __VA_ARGS__)               \
    X(__opkit_packed_char, __VA_ARGS__)  \
    X(__opkit_packed_uchar, __VA_ARGS__) \
    X(__opkit_packed_short, __VA_ARGS__) \
    X(__opkit_packed_ushort, __VA_ARGS__)
#define __OPKIT_INTEGER_SCALARS(X, ...)    \
    __OPKIT_NARROW_SCALARS(X, __VA_ARGS__) \
    X(int, __VA_ARGS__)                    \
    X(uint, __VA_ARGS__)                   \
    X(long, __VA_ARGS__)                   \
    X(ulong, __VA_ARGS__)

/*
 * A pointer whose accesses AddressSanitizer leaves out, because they are in an address space of
 * their own, which is the same memory: for what the prelude checks itself.
 */
#define __OPKIT_UNCHECKED_SPACE __attribute__((address_space(1)))
#define __OPKIT_UNCHECKED(T, pointer) ((T __OPKIT_UNCHECKED_SPACE *)(uintptr_t)(pointer))

/*
 * X(T, other, ...) for the scalars of two names: an element of a vector may have the other one, and
 * a call with both is no one's.
 */
#define __OPKIT_FLOAT_PAIRS(X, ...) X(half, __opkit_plain_half, __VA_ARGS__)
#define __OPKIT_INTEGER_PAIRS(X, ...)           \
    X(char, __opkit_packed_char, __VA_ARGS__)   \
    X(uchar, __opkit_packed_uchar, __VA_ARGS__) \
    X(short, __opkit_packed_short, __VA_ARGS__) \
    X(ushort, __opkit_packed_ushort, __VA_ARGS__)
#define __OPKIT_PAIR_UNARY(T, other, name)
#define __OPKIT_PAIR_BINARY(T, other, name)   \
    __OPKIT_PAIR_BINARY_OF(T, other, T, name) \
    __OPKIT_PAIR_BINARY_OF(T, T, other, name)
#define __OPKIT_PAIR_BINARY_OF(T, A, B, name)                    \
    __OPKIT_FUNCTION __typeof__(name((T)0, (T)0)) name(A a, B b) \
    {                                                            \
        return name((T)a, (T)b);                                 \
    }
#define __OPKIT_PAIR_TERNARY(T, other, name)          \
    __OPKIT_PAIR_TERNARY_OF(T, other, T, T, name)     \
    __OPKIT_PAIR_TERNARY_OF(T, T, other, T, name)     \
    __OPKIT_PAIR_TERNARY_OF(T, T, T, other, name)     \
    __OPKIT_PAIR_TERNARY_OF(T, other, other, T, name) \
    __OPKIT_PAIR_TERNARY_OF(T, other, T, other, name) \
    __OPKIT_PAIR_TERNARY_OF(T, T, other, other, name)
#define __OPKIT_PAIR_TERNARY_OF(T, A, B, C, name) \
    __OPKIT_FUNCTION T name(A a, B b, C c)        \
    {                                             \
        return name((T)a, (T)b, (T)c);            \
    }

/* A function of the prelude: no names of its own in debug information, no sanitizer inside. */
#define __OPKIT_FUNCTION \
    static inline __attribute__((overloadable, always_inline, nodebug, no_sanitize("undefined")))

/*
 * What is known of a value by its type: its element's type, its element's type as a number, the
 * spacing of its lanes.
 */
#define __OPKIT_TRAITS(T, E, type, lane)                \
    E __attribute__((overloadable)) __opkit_element(T); \
    __OPKIT_FUNCTION int __opkit_traits(T value)        \
    {                                                   \
        return (lane) << 8 | type;                      \
    }
#define __opkit_type_of(value) (__opkit_traits(value) & 255)
#define __opkit_spacing(value) (__opkit_traits(value) >> 8)
#define __OPKIT_TRAITS_VECTOR(T, E, lanes, type, lane) __OPKIT_TRAITS(T, E, type, lane)
#define __OPKIT_TRAITS_NAMED(T, E, lanes, same, type, lane) __OPKIT_TRAITS(T, same, type, lane)
#define __OPKIT_TRAITS_WIDE(T, type)      \
    __OPKIT_TRAITS(T, T, type, sizeof(T)) \
    __OPKIT_WIDE_VECTORS(__OPKIT_TRAITS_VECTOR, T, type, sizeof(T))
#define __OPKIT_TRAITS_NARROW(T, odd, type)                            \
    __OPKIT_TRAITS(T, T, type, sizeof(T))                              \
    __OPKIT_TRAITS(odd, T, type, sizeof(T))                            \
    __OPKIT_LANES(__OPKIT_TRAITS_NAMED, T, T, T, type, 4)              \
    __OPKIT_LONG_LANES(__OPKIT_TRAITS_NAMED, T, T, T, type, sizeof(T)) \
    __OPKIT_PACKED_VECTORS(__OPKIT_TRAITS_NAMED, T, T, T, type, sizeof(T))

__OPKIT_TRAITS_NARROW(char, __opkit_packed_char, __OPKIT_INT8)
__OPKIT_TRAITS_NARROW(uchar, __opkit_packed_uchar, __OPKIT_UINT8)
__OPKIT_TRAITS_NARROW(short, __opkit_packed_short, __OPKIT_INT16)
__OPKIT_TRAITS_NARROW(ushort, __opkit_packed_ushort, __OPKIT_UINT16)
__OPKIT_TRAITS_NARROW(half, __opkit_plain_half, __OPKIT_FLOAT16)
__OPKIT_TRAITS_WIDE(int, __OPKIT_INT32)
__OPKIT_TRAITS_WIDE(uint, __OPKIT_UINT32)
__OPKIT_TRAITS_WIDE(long, __OPKIT_INT64)
__OPKIT_TRAITS_WIDE(ulong, __OPKIT_UINT64)
__OPKIT_TRAITS_WIDE(float, __OPKIT_FLOAT32)
__OPKIT_TRAITS_WIDE(double, __OPKIT_FLOAT64)
__OPKIT_TRAITS(bool, uchar, __OPKIT_UINT8, 1)
__OPKIT_TRAITS(vxc_char32, char, __OPKIT_INT8, 1)
__OPKIT_TRAITS(vxc_uchar32, uchar, __OPKIT_UINT8, 1)
__OPKIT_TRAITS(vxc_short16, short, __OPKIT_INT16, 2)
__OPKIT_TRAITS(vxc_ushort16, ushort, __OPKIT_UINT16, 2)
__OPKIT_TRAITS(vxc_half16, half, __OPKIT_FLOAT16, 2)
__OPKIT_TRAITS(struct __opkit_image, uint, __OPKIT_UINT32, 4)
__OPKIT_TRAITS(const void *, ulong, __OPKIT_UINT64, 8)
__OPKIT_TRAITS(__constant const void *, ulong, __OPKIT_UINT64, 8)

#define __OPKIT_ELEMENT(value) __typeof__(__opkit_element(value))
#define __OPKIT_LANES_OF(value) (sizeof(value) / sizeof(__OPKIT_ELEMENT(value)))
#define __OPKIT_OPERAND(value)                                                        \
    ((struct __opkit_operand){(void *)&(value), __opkit_type_of(value),               \
                              sizeof(__OPKIT_ELEMENT(value)), __opkit_spacing(value), \
                              sizeof(value)})

/* The same elements as the other of the two types, plain and packed. */
#define __OPKIT_REPACKED(V, W)                   \
    __OPKIT_FUNCTION W __opkit_repacked(V value) \
    {                                            \
        return __builtin_astype(value, W);       \
    }
#define __OPKIT_REPACKED_BOTH(V, element, lanes, T) \
    __OPKIT_REPACKED(V, T##lanes) __OPKIT_REPACKED(T##lanes, V)
__OPKIT_PACKED_VECTORS(__OPKIT_REPACKED_BOTH, char, , char)
__OPKIT_PACKED_VECTORS(__OPKIT_REPACKED_BOTH, uchar, , uchar)
__OPKIT_PACKED_VECTORS(__OPKIT_REPACKED_BOTH, short, , short)
__OPKIT_PACKED_VECTORS(__OPKIT_REPACKED_BOTH, ushort, , ushort)
__OPKIT_PACKED_VECTORS(__OPKIT_REPACKED_BOTH, half, , half)

/*
 * A 1-D array of params: what the kernel gets is its capacity, which RKNN makes equal to its
 * length.
 */
#define __OPKIT_ARRAY(element) \
    typedef struct {           \
        size_t size;           \
        element *item;         \
    } vx_array_##element
__OPKIT_ARRAY(char);
__OPKIT_ARRAY(uchar);
__OPKIT_ARRAY(short);
__OPKIT_ARRAY(ushort);
__OPKIT_ARRAY(int);
__OPKIT_ARRAY(uint);
__OPKIT_ARRAY(float);

/*
 * Every image is the same here: how it is used says what it is. The names are keywords, which a
 * typedef cannot have.
 */
#define __OPKIT_IMAGE(name) typedef struct __opkit_image __opkit_##name
__OPKIT_IMAGE(image1d_t);
#define image1d_t __opkit_image1d_t
__OPKIT_IMAGE(image1d_array_t);
#define image1d_array_t __opkit_image1d_array_t
__OPKIT_IMAGE(image2d_t);
#define image2d_t __opkit_image2d_t
__OPKIT_IMAGE(image2d_array_t);
#define image2d_array_t __opkit_image2d_array_t
__OPKIT_IMAGE(image3d_t);
#define image3d_t __opkit_image3d_t
