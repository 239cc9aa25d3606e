/* Comparisons by name, any and all, select and bitselect. */

/* 0 or 1 for scalars; 0 or -1 for each element of a vector, as an integer of the same width. */
#define __OPKIT_TEST_UNARY(T, R, convert, name, expression) \
    __OPKIT_FUNCTION R name(T a)                            \
    {                                                       \
        return convert((expression), R);                    \
    }
#define __OPKIT_TEST_BINARY(T, R, convert, name, expression) \
    __OPKIT_FUNCTION R name(T a, T b)                        \
    {                                                        \
        return convert((expression), R);                     \
    }
#define __OPKIT_TEST_SCALAR(T, arity, name, expression) \
    __OPKIT_TEST_##arity(T, int, __OPKIT_CAST, name, expression)
#define __OPKIT_TEST_VECTOR(V, T, lanes, R, arity, name, expression) \
    __OPKIT_TEST_##arity(V, R##lanes, __OPKIT_CONVERT_VECTOR, name, expression)
#define __OPKIT_TEST(arity, name, expression)                                              \
    __OPKIT_FLOAT_SCALARS(__OPKIT_TEST_SCALAR, arity, name, expression)                    \
    __OPKIT_FLOAT_PAIRS(__OPKIT_PAIR_##arity, name)                                        \
    __OPKIT_WIDE_VECTORS(__OPKIT_TEST_VECTOR, float, int, arity, name, expression)         \
    __OPKIT_PLAIN_VECTORS(__OPKIT_TEST_VECTOR, half, half, short, arity, name, expression) \
    __OPKIT_PACKED_VECTORS(__OPKIT_TEST_VECTOR, half, half, vxc_short, arity, name, expression)
#define __OPKIT_MIN_NORMAL \
    __OPKIT_ALL(sizeof(__OPKIT_ELEMENT(a)) == sizeof(half) ? HALF_MIN : FLT_MIN)
__OPKIT_TEST(UNARY, isnan, a != a)
__OPKIT_TEST(UNARY, isinf, (a == a) & (a - a != __OPKIT_ALL(0)))
__OPKIT_TEST(UNARY, isfinite, a - a == __OPKIT_ALL(0))
__OPKIT_TEST(UNARY, isnormal, (a - a == __OPKIT_ALL(0)) & (fabs(a) >= __OPKIT_MIN_NORMAL))
__OPKIT_TEST(UNARY, signbit, copysign(__OPKIT_ALL(1), a) < __OPKIT_ALL(0))
__OPKIT_TEST(BINARY, isequal, a == b)
__OPKIT_TEST(BINARY, isnotequal, a != b)
__OPKIT_TEST(BINARY, isgreater, a > b)
__OPKIT_TEST(BINARY, isgreaterequal, a >= b)
__OPKIT_TEST(BINARY, isless, a < b)
__OPKIT_TEST(BINARY, islessequal, a <= b)
__OPKIT_TEST(BINARY, islessgreater, (a < b) | (a > b))
__OPKIT_TEST(BINARY, isordered, (a == a) & (b == b))
__OPKIT_TEST(BINARY, isunordered, (a != a) | (b != b))

/* any and all look at the highest bit of each element: of all elements combined by an operator. */
#define __OPKIT_COMBINED_2(operation) a.s0 operation a.s1
#define __OPKIT_COMBINED_3(operation) __OPKIT_COMBINED_2(operation) operation a.s2
#define __OPKIT_COMBINED_4(operation) __OPKIT_COMBINED_3(operation) operation a.s3
#define __OPKIT_COMBINED_8(operation) \
    __OPKIT_COMBINED_4(operation) operation a.s4 operation a.s5 operation a.s6 operation a.s7
#define __OPKIT_COMBINED_16(operation)                                                   \
    __OPKIT_COMBINED_8(operation)                                                        \
    operation a.s8 operation a.s9 operation a.sa operation a.sb operation a.sc operation \
        a.sd operation a.se operation a.sf
#define __OPKIT_ANY(T, any_of, all_of) \
    __OPKIT_FUNCTION int any(T a)      \
    {                                  \
        return (any_of) < 0;           \
    }                                  \
    __OPKIT_FUNCTION int all(T a)      \
    {                                  \
        return (all_of) < 0;           \
    }
#define __OPKIT_ANY_VECTOR(V, T, lanes, _) \
    __OPKIT_ANY(V, __OPKIT_COMBINED_##lanes(|), __OPKIT_COMBINED_##lanes(&))
__OPKIT_ANY(char, a, a)
__OPKIT_ANY(short, a, a)
__OPKIT_ANY(int, a, a)
__OPKIT_ANY(long, a, a)
__OPKIT_NARROW_VECTORS(__OPKIT_ANY_VECTOR, char, )
__OPKIT_NARROW_VECTORS(__OPKIT_ANY_VECTOR, short, )
__OPKIT_WIDE_VECTORS(__OPKIT_ANY_VECTOR, int, )
__OPKIT_WIDE_VECTORS(__OPKIT_ANY_VECTOR, long, )

/*
 * select(a, b, c): b where c is true, which is not 0 for a scalar and the highest bit for an
 * element.
 */
#define __OPKIT_SELECT(T, C)                 \
    __OPKIT_FUNCTION T select(T a, T b, C c) \
    {                                        \
        return c ? b : a;                    \
    }
#define __OPKIT_SELECT_VECTOR(V, T, lanes, C) __OPKIT_SELECT(V, C##lanes)
#define __OPKIT_SELECT_WIDE(T, C) \
    __OPKIT_SELECT(T, C)          \
    __OPKIT_WIDE_VECTORS(__OPKIT_SELECT_VECTOR, T, C)
/* The last is for the comparison of packed vectors: its result is plain. */
#define __OPKIT_SELECT_NARROW(T, C)                              \
    __OPKIT_SELECT(T, C)                                         \
    __OPKIT_PLAIN_VECTORS(__OPKIT_SELECT_VECTOR, T, T, C)        \
    __OPKIT_PACKED_VECTORS(__OPKIT_SELECT_VECTOR, T, T, vxc_##C) \
    __OPKIT_PACKED_VECTORS(__OPKIT_SELECT_VECTOR, T, T, C)
__OPKIT_SELECT_WIDE(float, int)
__OPKIT_SELECT_WIDE(float, uint)
__OPKIT_SELECT_WIDE(int, int)
__OPKIT_SELECT_WIDE(int, uint)
__OPKIT_SELECT_WIDE(uint, int)
__OPKIT_SELECT_WIDE(uint, uint)
__OPKIT_SELECT_WIDE(long, long)
__OPKIT_SELECT_WIDE(long, ulong)
__OPKIT_SELECT_WIDE(ulong, long)
__OPKIT_SELECT_WIDE(ulong, ulong)
__OPKIT_SELECT_NARROW(half, short)
__OPKIT_SELECT_NARROW(half, ushort)
__OPKIT_SELECT_NARROW(short, short)
__OPKIT_SELECT_NARROW(short, ushort)
__OPKIT_SELECT_NARROW(ushort, short)
__OPKIT_SELECT_NARROW(ushort, ushort)
__OPKIT_SELECT_NARROW(char, char)
__OPKIT_SELECT_NARROW(char, uchar)
__OPKIT_SELECT_NARROW(uchar, char)
__OPKIT_SELECT_NARROW(uchar, uchar)
#define bitselect(a, b, c)                                                                         \
    __extension__({                                                                                \
        __auto_type __opkit_a = (a);                                                               \
        __typeof__(__opkit_a) __opkit_b = (b), __opkit_c = (c);                                    \
        uchar *__opkit_a_byte = (uchar *)&__opkit_a, *__opkit_b_byte = (uchar *)&__opkit_b,        \
              *__opkit_c_byte = (uchar *)&__opkit_c;                                               \
        for (int __opkit_i = 0; __opkit_i < sizeof(__opkit_a); __opkit_i++) {                      \
            __opkit_a_byte[__opkit_i] = (__opkit_a_byte[__opkit_i] & ~__opkit_c_byte[__opkit_i]) | \
                                        (__opkit_b_byte[__opkit_i] & __opkit_c_byte[__opkit_i]);   \
        }                                                                                          \
        __opkit_a;                                                                                 \
    })
