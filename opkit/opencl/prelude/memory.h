/* vload and vstore, copies between local and global memory by a whole group, shuffle. */

/*
 * The vector number `offset` from a pointer; of three elements in the forms with an a, it takes the
 * place of four.
 */
#define __OPKIT_LOAD(T, vector, lanes)                                        \
    __OPKIT_FUNCTION vector vload##lanes(size_t offset, const T *place)       \
    {                                                                         \
        vector result;                                                        \
        __builtin_memcpy(&result, place + offset * lanes, lanes * sizeof(T)); \
        return result;                                                        \
    }
#define __OPKIT_STORE(T, vector, lanes)                                        \
    __OPKIT_FUNCTION void vstore##lanes(vector value, size_t offset, T *place) \
    {                                                                          \
        __builtin_memcpy(place + offset * lanes, &value, lanes * sizeof(T));   \
    }
#define __OPKIT_MOVE(vector, element, lanes, T) \
    __OPKIT_LOAD(T, vector, lanes)              \
    __OPKIT_STORE(T, vector, lanes)
#define __OPKIT_STORE_PACKED(vector, T, lanes, _) __OPKIT_STORE(T, vector, lanes)
#define __OPKIT_MOVES(T) __OPKIT_WIDE_VECTORS(__OPKIT_MOVE, T, T)
#define __OPKIT_MOVES_NARROW(T) \
    __OPKIT_MOVES(T)            \
    __OPKIT_PACKED_VECTORS(__OPKIT_STORE_PACKED, T, T, )
__OPKIT_MOVES_NARROW(char)
__OPKIT_MOVES_NARROW(uchar)
__OPKIT_MOVES_NARROW(short)
__OPKIT_MOVES_NARROW(ushort)
__OPKIT_MOVES_NARROW(half)
__OPKIT_MOVES(int)
__OPKIT_MOVES(uint)
__OPKIT_MOVES(long)
__OPKIT_MOVES(ulong)
__OPKIT_MOVES(float)
__OPKIT_MOVES(double)

/*
 * Halves in memory that are floats in the kernel. Three take the place of four in the forms with an
 * a.
 */
__OPKIT_FUNCTION void __opkit_load_halves(float *values, const half *place, int count)
{
    for (int i = 0; i < count; i++) {
        values[i] = (float)place[i];
    }
}
__OPKIT_FUNCTION void __opkit_store_halves(const float *values, half *place, int count,
                                           int rounding)
{
    for (int i = 0; i < count; i++) {
        __opkit_convert(&place[i], values[i], false, rounding);
    }
}
__OPKIT_FUNCTION float vload_half(size_t offset, const half *place)
{
    return (float)place[offset];
}
#define __OPKIT_LOAD_HALVES(name, lanes, step)                                  \
    __OPKIT_FUNCTION float##lanes name##lanes(size_t offset, const half *place) \
    {                                                                           \
        float##lanes result;                                                    \
        __opkit_load_halves((float *)&result, place + offset * step, lanes);    \
        return result;                                                          \
    }
#define __OPKIT_STORE_HALF(T, name, rounding)                       \
    __OPKIT_FUNCTION void name(T value, size_t offset, half *place) \
    {                                                               \
        __opkit_convert(&place[offset], value, false, rounding);    \
    }
#define __OPKIT_STORE_HALVES(name, lanes, step, rounding)                              \
    __OPKIT_FUNCTION void name(float##lanes value, size_t offset, half *place)         \
    {                                                                                  \
        __opkit_store_halves((float *)&value, place + offset * step, lanes, rounding); \
    }
#define __OPKIT_STORES_OF_HALVES(lanes, step, step_a, suffix, rounding)     \
    __OPKIT_STORE_HALVES(vstore_half##lanes##suffix, lanes, step, rounding) \
    __OPKIT_STORE_HALVES(vstorea_half##lanes##suffix, lanes, step_a, rounding)
#define __OPKIT_STORES_ROUNDED(suffix, rounding)              \
    __OPKIT_STORE_HALF(float, vstore_half##suffix, rounding)  \
    __OPKIT_STORE_HALF(double, vstore_half##suffix, rounding) \
    __OPKIT_STORES_OF_HALVES(2, 2, 2, suffix, rounding)       \
    __OPKIT_STORES_OF_HALVES(3, 3, 4, suffix, rounding)       \
    __OPKIT_STORES_OF_HALVES(4, 4, 4, suffix, rounding)       \
    __OPKIT_STORES_OF_HALVES(8, 8, 8, suffix, rounding)       \
    __OPKIT_STORES_OF_HALVES(16, 16, 16, suffix, rounding)
__OPKIT_LOAD_HALVES(vload_half, 2, 2)
__OPKIT_LOAD_HALVES(vload_half, 3, 3)
__OPKIT_LOAD_HALVES(vload_half, 4, 4)
__OPKIT_LOAD_HALVES(vload_half, 8, 8)
__OPKIT_LOAD_HALVES(vload_half, 16, 16)
__OPKIT_LOAD_HALVES(vloada_half, 2, 2)
__OPKIT_LOAD_HALVES(vloada_half, 3, 4)
__OPKIT_LOAD_HALVES(vloada_half, 4, 4)
__OPKIT_LOAD_HALVES(vloada_half, 8, 8)
__OPKIT_LOAD_HALVES(vloada_half, 16, 16)
__OPKIT_STORES_ROUNDED(, __OPKIT_DEFAULT_ROUNDING)
__OPKIT_STORES_ROUNDED(_rte, __OPKIT_NEAREST_EVEN)
__OPKIT_STORES_ROUNDED(_rtz, __OPKIT_TOWARD_ZERO)
__OPKIT_STORES_ROUNDED(_rtp, __OPKIT_TOWARD_INFINITY)
__OPKIT_STORES_ROUNDED(_rtn, __OPKIT_TOWARD_MINUS_INFINITY)

/*
 * Copies by a whole group are made when it waits for them: without a wait nothing is copied.
 * An event is a list of copies.
 */
#define event_t struct __opkit_copy *
#define async_work_group_copy(to, from, count, event) \
    async_work_group_strided_copy(to, from, count, 1, event)
/* The step is that of the side which is not in local memory. */
#define async_work_group_strided_copy(to, from, count, step, event)                           \
    __extension__({                                                                           \
        _Static_assert(                                                                       \
            __builtin_types_compatible_p(__OPKIT_ELEMENT(*(to)), __OPKIT_ELEMENT(*(from))) && \
                sizeof(*(to)) == sizeof(*(from)),                                             \
            "an asynchronous copy is between pointers to the same type");                     \
        __opkit_enqueue_copy((void *)(to), (const void *)(from), count, sizeof(*(to)), step,  \
                             event);                                                          \
    })
__OPKIT_FUNCTION void wait_group_events(int count, event_t *events, uint place)
{
    __opkit_make_copies(count, events);
    __OPKIT_UNCHECKED(struct __opkit_work_item, &__opkit_item)->fences =
        CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE;
    __opkit_barrier(place);
}
#define wait_group_events(count, events) wait_group_events(count, events, __OPKIT_PLACE)
/* A hint, without an effect on any result. */
__OPKIT_FUNCTION void prefetch(const void *place, size_t count)
{
}

/*
 * The elements of a vector, or of two, in the order of a mask. A short result is packed if the mask
 * is.
 */
#define __OPKIT_NAMED_LANE(kind, element)   \
    _Generic((element)0,                    \
        char: (__opkit_##kind##_char)0,     \
        uchar: (__opkit_##kind##_uchar)0,   \
        short: (__opkit_##kind##_short)0,   \
        ushort: (__opkit_##kind##_ushort)0, \
        half: (__opkit_##kind##_half)0,     \
        default: (element)0)
#define __OPKIT_SHUFFLE(name, value, chosen, mask, count)                                     \
    __extension__({                                                                           \
        __auto_type __opkit_a = (value);                                                      \
        __auto_type __opkit_mask = (mask);                                                    \
        typedef __OPKIT_ELEMENT(__opkit_a) __opkit_element_type;                              \
        typedef __OPKIT_ELEMENT(__opkit_mask) __opkit_plain_mask_type                         \
            __attribute__((ext_vector_type(__OPKIT_LANES_OF(__opkit_mask))));                 \
        typedef __typeof__(__builtin_choose_expr(                                             \
            !__builtin_types_compatible_p(__typeof__(__opkit_mask), __opkit_plain_mask_type), \
            __OPKIT_NAMED_LANE(packed, __opkit_element_type),                                 \
            __OPKIT_NAMED_LANE(plain, __opkit_element_type))) __opkit_lane_type;              \
        typedef __opkit_lane_type __opkit_result_type                                         \
            __attribute__((ext_vector_type(__OPKIT_LANES_OF(__opkit_mask))));                 \
        _Static_assert(sizeof(__opkit_element_type) == sizeof(__OPKIT_ELEMENT(__opkit_mask)), \
                       name " needs a mask whose elements are as wide as the vector's");      \
        __opkit_result_type __opkit_result;                                                   \
        for (int __opkit_i = 0; __opkit_i < __OPKIT_LANES_OF(__opkit_mask); __opkit_i++) {    \
            int __opkit_index =                                                               \
                (int)__opkit_mask[__opkit_i] & (count * __OPKIT_LANES_OF(__opkit_a) - 1);     \
            __opkit_result[__opkit_i] = (__opkit_lane_type)chosen;                            \
        }                                                                                     \
        __opkit_result;                                                                       \
    })
#define shuffle(value, mask) __OPKIT_SHUFFLE("shuffle", value, __opkit_a[__opkit_index], mask, 1)
#define shuffle2(value0, value1, mask)                                                  \
    __extension__({                                                                     \
        __auto_type __opkit_b = (value1);                                               \
        __OPKIT_SHUFFLE("shuffle2", value0,                                             \
                        (__opkit_index < __OPKIT_LANES_OF(__opkit_a)                    \
                             ? __opkit_a[__opkit_index]                                 \
                             : __opkit_b[__opkit_index - __OPKIT_LANES_OF(__opkit_a)]), \
                        mask, 2);                                                       \
    })
