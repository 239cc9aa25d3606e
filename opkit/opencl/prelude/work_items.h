/* Qualifiers, the ids of a work item, barriers and local memory, atomics, printf. */

#define __kernel
#define kernel __kernel
#define __read_only
#define read_only
#define __write_only
#define write_only
#define __read_write
#define read_write
#define __global
#define global
#define __private
#define __generic
#define __constant const
#define constant const
/* Its size is that of the source, so its guard is what the alignment leaves free. */
#define _viv_uniform \
    __attribute__((no_sanitize("address"), section(".opkit_uniform"), aligned(128)))
#define restrict
#define __restrict
#define reqd_work_group_size(x, y, z) annotate("reqd_work_group_size")
#define work_group_size_hint(x, y, z) annotate("work_group_size_hint")
#define vec_type_hint(type) annotate("vec_type_hint")

/*
 * Local memory is static, since groups run one after the other; the runtime finds it by its
 * section. (The section has a dot in its name since AddressSanitizer guards no others; sections.ld
 * renames it.) A __local of a pointer's target expands to nothing. The syntax tree, which was read
 * before, tells the two apart: for a variable there is a macro __OPKIT_VARIABLE_<n> with the number
 * of the __local, counted from the beginning of the source.
 */
#define __local __OPKIT_LOCAL(__COUNTER__)
#define __OPKIT_LOCAL(number) __OPKIT_LOCAL_NUMBERED(number)
#define __OPKIT_LOCAL_NUMBERED(number) __OPKIT_SECOND(__OPKIT_VARIABLE_##number, , )
#define __OPKIT_SECOND(...) __OPKIT_SECOND_OF(__VA_ARGS__)
#define __OPKIT_SECOND_OF(first, second, ...) second
#define __OPKIT_STATIC static __attribute__((section(".opkit_local")))
#define local __local

#define __OPKIT_ITEM __OPKIT_UNCHECKED(const struct __opkit_work_item, &__opkit_item)
#define __OPKIT_ID(name, member, outside)                                 \
    __OPKIT_FUNCTION size_t name(uint dimension)                          \
    {                                                                     \
        return dimension < 3 ? __OPKIT_ITEM->member[dimension] : outside; \
    }
__OPKIT_ID(get_global_id, global_id, 0)
__OPKIT_ID(get_local_id, local_id, 0)
__OPKIT_ID(get_group_id, group_id, 0)
__OPKIT_ID(get_global_size, global_size, 1)
__OPKIT_ID(get_global_offset, global_offset, 0)
__OPKIT_ID(get_local_size, local_size, 1)
__OPKIT_FUNCTION size_t get_num_groups(uint dimension)
{
    return dimension < 3
               ? __OPKIT_ITEM->global_size[dimension] / __OPKIT_ITEM->local_size[dimension]
               : 1;
}
__OPKIT_FUNCTION uint get_work_dim(void)
{
    return __OPKIT_ITEM->dimensions;
}

#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2
/* The line and the column, which tell barriers apart. */
#define __OPKIT_PLACE ((uint) __builtin_LINE() << 10 | (uint) __builtin_COLUMN())
__OPKIT_FUNCTION void barrier(uint fences, uint place)
{
    __OPKIT_UNCHECKED(struct __opkit_work_item, &__opkit_item)->fences = fences;
    __opkit_barrier(place);
}
#define barrier(fences) barrier(fences, __OPKIT_PLACE)
/* Work items run one after the other, so what one wrote is there for the next. */
__OPKIT_FUNCTION void mem_fence(uint fences)
{
}
__OPKIT_FUNCTION void read_mem_fence(uint fences)
{
}
__OPKIT_FUNCTION void write_mem_fence(uint fences)
{
}

/* Accesses of several work items to one place are no race if all are atomic. */
#define __OPKIT_JOINT __OPKIT_UNCHECKED(struct __opkit_work_item, &__opkit_item)->is_joint
#define __OPKIT_EXCHANGE(T, place, value) \
    __OPKIT_JOINT = 1;                    \
    T old = *place;                       \
    *place = value;                       \
    __OPKIT_JOINT = 0;                    \
    return old
#define __OPKIT_ATOMIC(T, name, value)                    \
    __OPKIT_FUNCTION T name(volatile T *place, T operand) \
    {                                                     \
        __OPKIT_EXCHANGE(T, place, value);                \
    }
#define __OPKIT_ATOMIC_UNARY(T, name, value)   \
    __OPKIT_FUNCTION T name(volatile T *place) \
    {                                          \
        __OPKIT_EXCHANGE(T, place, value);     \
    }
#define __OPKIT_ATOMICS(T, prefix)                                               \
    __OPKIT_ATOMIC(T, prefix##add, old + operand)                                \
    __OPKIT_ATOMIC(T, prefix##sub, old - operand)                                \
    __OPKIT_ATOMIC(T, prefix##xchg, operand)                                     \
    __OPKIT_ATOMIC(T, prefix##min, old < operand ? old : operand)                \
    __OPKIT_ATOMIC(T, prefix##max, old > operand ? old : operand)                \
    __OPKIT_ATOMIC(T, prefix##and, old &operand)                                 \
    __OPKIT_ATOMIC(T, prefix## or, old | operand)                                \
    __OPKIT_ATOMIC(T, prefix## xor, old ^ operand)                               \
    __OPKIT_ATOMIC_UNARY(T, prefix##inc, old + 1)                                \
    __OPKIT_ATOMIC_UNARY(T, prefix##dec, old - 1)                                \
    __OPKIT_FUNCTION T prefix##cmpxchg(volatile T *place, T expected, T operand) \
    {                                                                            \
        __OPKIT_EXCHANGE(T, place, old == expected ? operand : old);             \
    }
__OPKIT_ATOMICS(int, atomic_)
__OPKIT_ATOMICS(uint, atomic_)
__OPKIT_ATOMICS(int, atom_)
__OPKIT_ATOMICS(uint, atom_)
__OPKIT_FUNCTION float atomic_xchg(volatile float *place, float operand)
{
    __OPKIT_EXCHANGE(float, place, operand);
}

/*
 * What a kernel prints comes back with its outputs. Of each argument, and of the format, the
 * runtime knows the type.
 */
#define __OPKIT_PRINTED(value)                                                                 \
    {(void *)(__typeof__((0, value))[1]){value}, __opkit_type_of(__OPKIT_NOTHING(value)),      \
     sizeof(__OPKIT_ELEMENT(__OPKIT_NOTHING(value))), __opkit_spacing(__OPKIT_NOTHING(value)), \
     sizeof(__OPKIT_NOTHING(value))}
#define __OPKIT_NOTHING(value) ((__typeof__((0, value))[1]){}[0])
#define __OPKIT_COUNT_OF(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, \
                         _17, count, ...)                                                       \
    count
#define __OPKIT_EACH_OF(count) __OPKIT_EACH_NUMBERED(count)
#define __OPKIT_EACH_NUMBERED(count) __OPKIT_EACH_##count
#define __OPKIT_EACH_1(X, value) X(value)
#define __OPKIT_EACH_2(X, value, ...) X(value), __OPKIT_EACH_1(X, __VA_ARGS__)
#define __OPKIT_EACH_3(X, value, ...) X(value), __OPKIT_EACH_2(X, __VA_ARGS__)
#define __OPKIT_EACH_4(X, value, ...) X(value), __OPKIT_EACH_3(X, __VA_ARGS__)
#define __OPKIT_EACH_5(X, value, ...) X(value), __OPKIT_EACH_4(X, __VA_ARGS__)
#define __OPKIT_EACH_6(X, value, ...) X(value), __OPKIT_EACH_5(X, __VA_ARGS__)
#define __OPKIT_EACH_7(X, value, ...) X(value), __OPKIT_EACH_6(X, __VA_ARGS__)
#define __OPKIT_EACH_8(X, value, ...) X(value), __OPKIT_EACH_7(X, __VA_ARGS__)
#define __OPKIT_EACH_9(X, value, ...) X(value), __OPKIT_EACH_8(X, __VA_ARGS__)
#define __OPKIT_EACH_10(X, value, ...) X(value), __OPKIT_EACH_9(X, __VA_ARGS__)
#define __OPKIT_EACH_11(X, value, ...) X(value), __OPKIT_EACH_10(X, __VA_ARGS__)
#define __OPKIT_EACH_12(X, value, ...) X(value), __OPKIT_EACH_11(X, __VA_ARGS__)
#define __OPKIT_EACH_13(X, value, ...) X(value), __OPKIT_EACH_12(X, __VA_ARGS__)
#define __OPKIT_EACH_14(X, value, ...) X(value), __OPKIT_EACH_13(X, __VA_ARGS__)
#define __OPKIT_EACH_15(X, value, ...) X(value), __OPKIT_EACH_14(X, __VA_ARGS__)
#define __OPKIT_EACH_16(X, value, ...) X(value), __OPKIT_EACH_15(X, __VA_ARGS__)
#define __OPKIT_EACH_17(X, value, ...) X(value), __OPKIT_EACH_16(X, __VA_ARGS__)
#define __OPKIT_COUNT(...) \
    __OPKIT_COUNT_OF(__VA_ARGS__, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define printf(...)                                                                       \
    __opkit_print((struct __opkit_operand[]){__OPKIT_EACH_OF(__OPKIT_COUNT(__VA_ARGS__))( \
                      __OPKIT_PRINTED, __VA_ARGS__)},                                     \
                  __OPKIT_COUNT(__VA_ARGS__))
