/*
 * Included after prelude.h to read what a source declares: its syntax tree becomes small and quick
 * to write. Of each instruction it has the operands, and the type of the value.
 */

/*
 * The declarations that are looked for have a mark. The compiler writes the numbers of it into the
 * tree; syntax_tree.py has the same ones.
 */
enum __opkit_mark {
    __OPKIT_KERNEL = 1,
    __OPKIT_GROUP, /* and the sizes that it requires */
    __OPKIT_UNIFORM
};
#undef __kernel
#define __kernel __attribute__((annotate("kernel", __OPKIT_KERNEL)))
#undef _viv_uniform
#define _viv_uniform __attribute__((annotate("uniform", __OPKIT_UNIFORM)))
#undef reqd_work_group_size
#define reqd_work_group_size(x, y, z) annotate("reqd_work_group_size", __OPKIT_GROUP, x, y, z)

/* Each __local is a tag on the type, with its number. */
#undef __local
#define __local __OPKIT_TAGGED(__COUNTER__)
#define __OPKIT_TAGGED(number) __attribute__((btf_type_tag("__local " __OPKIT_TEXT(number))))
#define __OPKIT_TEXT(number) __OPKIT_TEXT_OF(number)
#define __OPKIT_TEXT_OF(number) #number

/* The compiler sees which variables are read, and which are set, as if there were values. */
#define __OPKIT_USED(value)                 \
    __extension__({                         \
        __auto_type __opkit_used = (value); \
        (void)__opkit_used;                 \
    })
#define __OPKIT_SET(destination) ((destination) = *(__typeof__(destination) *)(void *)0)
#define __OPKIT_VALUE(T, value) (*(T *)(__OPKIT_USED(value), (void *)0))

#undef __OPKIT_READ
#define __OPKIT_READ(destination, image, coord, plane, offset, info) \
    ((void)(image), __OPKIT_USED(coord), (void)(offset), (void)(info), __OPKIT_SET(destination))
#undef __OPKIT_WRITE
#define __OPKIT_WRITE(image, coord, plane, color, info) \
    ((void)(image), __OPKIT_USED(coord), __OPKIT_USED(color), (void)(info))
#undef __OPKIT_DOT
#define __OPKIT_DOT(form, outputs, destination, source0, source1, source2, info, configuration) \
    (__OPKIT_USED(source0), __OPKIT_USED(source1), __OPKIT_USED(source2), (void)(info),         \
     (void)(configuration), __OPKIT_SET(destination))
#undef __OPKIT_LANEWISE
#define __OPKIT_LANEWISE(instruction, destination, source0, source1, source2, info)     \
    (__OPKIT_USED(source0), __OPKIT_USED(source1), __OPKIT_USED(source2), (void)(info), \
     __OPKIT_SET(destination))
#undef __OPKIT_VLOAD
#define __OPKIT_VLOAD(destination, address, offset) \
    ((void)(address), (void)(offset), __OPKIT_SET(destination))
#undef __OPKIT_VSTORE
#define __OPKIT_VSTORE(address, offset, data) ((void)(address), (void)(offset), __OPKIT_USED(data))
#undef __OPKIT_VLOAD3
#define __OPKIT_VLOAD3 __OPKIT_VLOAD
#undef __OPKIT_VSTORE3
#define __OPKIT_VSTORE3 __OPKIT_VSTORE
#undef __OPKIT_CONVERT
#define __OPKIT_CONVERT(T, value, saturates, rounding) __OPKIT_VALUE(T, value)
#undef __OPKIT_AS
#define __OPKIT_AS(T, value) __OPKIT_VALUE(T, value)
#undef __OPKIT_ASM_CONVERT
#define __OPKIT_ASM_CONVERT(to, from, saturates, rounding) (__OPKIT_USED(from), __OPKIT_SET(to))
#undef __OPKIT_ASM_COPY
#define __OPKIT_ASM_COPY(to, from, bytes) (__OPKIT_USED(from), (void)(bytes), __OPKIT_SET(to))
#undef __OPKIT_ASM_CLAMP0MAX
#define __OPKIT_ASM_CLAMP0MAX(to, value, maximum) \
    (__OPKIT_USED(value), __OPKIT_USED(maximum), __OPKIT_SET(to))
#undef printf
#define printf(...) ((void)(__VA_ARGS__), 0)
