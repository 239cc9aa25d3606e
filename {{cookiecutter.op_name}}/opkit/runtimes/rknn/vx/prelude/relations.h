/* Comparisons by name, any and all, select and bitselect. */

/* 0 or 1 for scalars; 0 or -1 for each element of a vector, as an integer of the same width. */
#define VX_TEST_UNARY(T, R, convert, name, expression) \
    VX_FUNCTION R name(T a)                            \
    {                                                  \
        return convert((expression), R);               \
    }
#define VX_TEST_BINARY(T, R, convert, name, expression) \
    VX_FUNCTION R name(T a, T b)                        \
    {                                                   \
        return convert((expression), R);                \
    }
#define VX_TEST_SCALAR(T, arity, name, expression) VX_TEST_##arity(T, int, VX_CAST, name, expression)
#define VX_TEST_VECTOR(V, T, lanes, R, arity, name, expression) VX_TEST_##arity(V, R##lanes, VX_CONVERT_VECTOR, name, expression)
#define VX_TEST(arity, name, expression)                                          \
    VX_FLOAT_SCALARS(VX_TEST_SCALAR, arity, name, expression)                     \
    VX_WIDE_VECTORS(VX_TEST_VECTOR, float, int, arity, name, expression)          \
    VX_LANES(VX_TEST_VECTOR, half, vx_small_half, short, arity, name, expression) \
    VX_LANES(VX_TEST_VECTOR, vxc_half, half, vxc_short, arity, name, expression)  \
    VX_LONG_LANES(VX_TEST_VECTOR, half, half, short, arity, name, expression)
#define VX_LEAST_NORMAL VX_ALL(sizeof(VX_ELEMENT(a)) == sizeof(half) ? HALF_MIN : FLT_MIN)
VX_TEST(UNARY, isnan, a != a)
VX_TEST(UNARY, isinf, (a == a) & (a - a != VX_ALL(0)))
VX_TEST(UNARY, isfinite, a - a == VX_ALL(0))
VX_TEST(UNARY, isnormal, (a - a == VX_ALL(0)) & (fabs(a) >= VX_LEAST_NORMAL))
VX_TEST(UNARY, signbit, copysign(VX_ALL(1), a) < VX_ALL(0))
VX_TEST(BINARY, isequal, a == b)
VX_TEST(BINARY, isnotequal, a != b)
VX_TEST(BINARY, isgreater, a > b)
VX_TEST(BINARY, isgreaterequal, a >= b)
VX_TEST(BINARY, isless, a < b)
VX_TEST(BINARY, islessequal, a <= b)
VX_TEST(BINARY, islessgreater, (a < b) | (a > b))
VX_TEST(BINARY, isordered, (a == a) & (b == b))
VX_TEST(BINARY, isunordered, (a != a) | (b != b))

/* any and all look at the highest bit of each element: of all elements combined by an operator. */
#define VX_COMBINED_2(operation) a.s0 operation a.s1
#define VX_COMBINED_3(operation) VX_COMBINED_2(operation) operation a.s2
#define VX_COMBINED_4(operation) VX_COMBINED_3(operation) operation a.s3
#define VX_COMBINED_8(operation) VX_COMBINED_4(operation) operation a.s4 operation a.s5 operation a.s6 operation a.s7
#define VX_COMBINED_16(operation) \
    VX_COMBINED_8(operation)      \
    operation a.s8 operation a.s9 operation a.sa operation a.sb operation a.sc operation a.sd operation a.se operation a.sf
#define VX_ANY(T, any_of, all_of) \
    VX_FUNCTION int any(T a)      \
    {                             \
        return (any_of) < 0;      \
    }                             \
    VX_FUNCTION int all(T a)      \
    {                             \
        return (all_of) < 0;      \
    }
#define VX_ANY_VECTOR(V, T, lanes, _) VX_ANY(V, VX_COMBINED_##lanes(|), VX_COMBINED_##lanes(&))
VX_ANY(char, a, a)
VX_ANY(short, a, a)
VX_ANY(int, a, a)
VX_ANY(long, a, a)
VX_NARROW_VECTORS(VX_ANY_VECTOR, char, )
VX_NARROW_VECTORS(VX_ANY_VECTOR, short, )
VX_WIDE_VECTORS(VX_ANY_VECTOR, int, )
VX_WIDE_VECTORS(VX_ANY_VECTOR, long, )

/* select(a, b, c): b where c is true, which is not 0 for a scalar and the highest bit for an element. */
#define VX_SELECT(T, C)                 \
    VX_FUNCTION T select(T a, T b, C c) \
    {                                   \
        return c ? b : a;               \
    }
#define VX_SELECT_VECTOR(V, T, lanes, C) VX_SELECT(V, C##lanes)
#define VX_SELECT_WIDE(T, C) \
    VX_SELECT(T, C)          \
    VX_WIDE_VECTORS(VX_SELECT_VECTOR, T, C)
#define VX_SELECT_NARROW(T, C)                      \
    VX_SELECT(T, C)                                 \
    VX_LANES(VX_SELECT_VECTOR, T, vx_small_##T, C)  \
    VX_LANES(VX_SELECT_VECTOR, vxc_##T, T, vxc_##C) \
    VX_LONG_LANES(VX_SELECT_VECTOR, T, T, C)
VX_SELECT_WIDE(float, int)
VX_SELECT_WIDE(float, uint)
VX_SELECT_WIDE(int, int)
VX_SELECT_WIDE(int, uint)
VX_SELECT_WIDE(uint, int)
VX_SELECT_WIDE(uint, uint)
VX_SELECT_WIDE(long, long)
VX_SELECT_WIDE(long, ulong)
VX_SELECT_WIDE(ulong, long)
VX_SELECT_WIDE(ulong, ulong)
VX_SELECT_NARROW(half, short)
VX_SELECT_NARROW(half, ushort)
VX_SELECT_NARROW(short, short)
VX_SELECT_NARROW(short, ushort)
VX_SELECT_NARROW(ushort, short)
VX_SELECT_NARROW(ushort, ushort)
VX_SELECT_NARROW(char, char)
VX_SELECT_NARROW(char, uchar)
VX_SELECT_NARROW(uchar, char)
VX_SELECT_NARROW(uchar, uchar)
#define bitselect(a, b, c)                                                                                \
    __extension__({                                                                                       \
        __auto_type vx_a = (a);                                                                           \
        __typeof__(vx_a) vx_b = (b), vx_c = (c);                                                          \
        uchar *vx_a_byte = (uchar *)&vx_a, *vx_b_byte = (uchar *)&vx_b, *vx_c_byte = (uchar *)&vx_c;      \
        for (int vx_i = 0; vx_i < sizeof(vx_a); vx_i++) {                                                 \
            vx_a_byte[vx_i] = (vx_a_byte[vx_i] & ~vx_c_byte[vx_i]) | (vx_b_byte[vx_i] & vx_c_byte[vx_i]); \
        }                                                                                                 \
        vx_a;                                                                                             \
    })
