/* vload and vstore, copies between local and global memory by a whole group, shuffle. */

/* The vector number `offset` from a pointer; of three elements in the forms with an a, it takes the place of four. */
#define VX_LOAD(T, vector, lanes)                                             \
    VX_FUNCTION vector vload##lanes(size_t offset, const T *place)            \
    {                                                                         \
        vector result;                                                        \
        __builtin_memcpy(&result, place + offset * lanes, lanes * sizeof(T)); \
        return result;                                                        \
    }
#define VX_STORE(T, vector, lanes)                                           \
    VX_FUNCTION void vstore##lanes(vector value, size_t offset, T *place)    \
    {                                                                        \
        __builtin_memcpy(place + offset * lanes, &value, lanes * sizeof(T)); \
    }
#define VX_MOVE(vector, element, lanes, T) \
    VX_LOAD(T, vector, lanes)              \
    VX_STORE(T, vector, lanes)
#define VX_STORE_PACKED(vector, T, lanes, _) VX_STORE(T, vector, lanes)
#define VX_MOVES(T) VX_WIDE_VECTORS(VX_MOVE, T, T)
#define VX_MOVES_NARROW(T) \
    VX_MOVES(T)            \
    VX_LANES(VX_STORE_PACKED, vxc_##T, T, )
VX_MOVES_NARROW(char)
VX_MOVES_NARROW(uchar)
VX_MOVES_NARROW(short)
VX_MOVES_NARROW(ushort)
VX_MOVES_NARROW(half)
VX_MOVES(int)
VX_MOVES(uint)
VX_MOVES(long)
VX_MOVES(ulong)
VX_MOVES(float)
VX_MOVES(double)

/* Halves in memory that are floats in the kernel. Three take the place of four in the forms with an a. */
VX_FUNCTION void vx_load_halves(float *values, const half *place, int count)
{
    for (int i = 0; i < count; i++) {
        values[i] = (float)place[i];
    }
}
VX_FUNCTION void vx_store_halves(const float *values, half *place, int count, int rounding)
{
    for (int i = 0; i < count; i++) {
        vx_convert(&place[i], values[i], false, rounding);
    }
}
VX_FUNCTION float vload_half(size_t offset, const half *place)
{
    return (float)place[offset];
}
#define VX_LOAD_HALVES(name, lanes, step)                                  \
    VX_FUNCTION float##lanes name##lanes(size_t offset, const half *place) \
    {                                                                      \
        float##lanes result;                                               \
        vx_load_halves((float *)&result, place + offset * step, lanes);    \
        return result;                                                     \
    }
#define VX_STORE_HALF(T, name, rounding)                       \
    VX_FUNCTION void name(T value, size_t offset, half *place) \
    {                                                          \
        vx_convert(&place[offset], value, false, rounding);    \
    }
#define VX_STORE_HALVES(name, lanes, step, rounding)                              \
    VX_FUNCTION void name(float##lanes value, size_t offset, half *place)         \
    {                                                                             \
        vx_store_halves((float *)&value, place + offset * step, lanes, rounding); \
    }
#define VX_STORES_OF_HALVES(lanes, step, step_a, suffix, rounding)     \
    VX_STORE_HALVES(vstore_half##lanes##suffix, lanes, step, rounding) \
    VX_STORE_HALVES(vstorea_half##lanes##suffix, lanes, step_a, rounding)
#define VX_STORES_ROUNDED(suffix, rounding)              \
    VX_STORE_HALF(float, vstore_half##suffix, rounding)  \
    VX_STORE_HALF(double, vstore_half##suffix, rounding) \
    VX_STORES_OF_HALVES(2, 2, 2, suffix, rounding)       \
    VX_STORES_OF_HALVES(3, 3, 4, suffix, rounding)       \
    VX_STORES_OF_HALVES(4, 4, 4, suffix, rounding)       \
    VX_STORES_OF_HALVES(8, 8, 8, suffix, rounding)       \
    VX_STORES_OF_HALVES(16, 16, 16, suffix, rounding)
VX_LOAD_HALVES(vload_half, 2, 2)
VX_LOAD_HALVES(vload_half, 3, 3)
VX_LOAD_HALVES(vload_half, 4, 4)
VX_LOAD_HALVES(vload_half, 8, 8)
VX_LOAD_HALVES(vload_half, 16, 16)
VX_LOAD_HALVES(vloada_half, 2, 2)
VX_LOAD_HALVES(vloada_half, 3, 4)
VX_LOAD_HALVES(vloada_half, 4, 4)
VX_LOAD_HALVES(vloada_half, 8, 8)
VX_LOAD_HALVES(vloada_half, 16, 16)
VX_STORES_ROUNDED(, VX_DEFAULT_ROUNDING)
VX_STORES_ROUNDED(_rte, VX_NEAREST_EVEN)
VX_STORES_ROUNDED(_rtz, VX_TOWARD_ZERO)
VX_STORES_ROUNDED(_rtp, VX_TOWARD_INFINITY)
VX_STORES_ROUNDED(_rtn, VX_TOWARD_MINUS_INFINITY)

/* Copies by a whole group are made when it waits for them: who does not wait finds nothing copied. An event is a list of copies. */
#define event_t struct vx_copy *
event_t vx_copy_later(void *to, const void *from, size_t count, size_t size, size_t step, event_t event);
void vx_wait_for_copies(int count, event_t *events);
#define async_work_group_copy(to, from, count, event) async_work_group_strided_copy(to, from, count, 1, event)
/* The step is that of the side which is not in local memory. */
#define async_work_group_strided_copy(to, from, count, step, event)                                                                                                                            \
    __extension__({                                                                                                                                                                            \
        _Static_assert(__builtin_types_compatible_p(VX_ELEMENT(*(to)), VX_ELEMENT(*(from))) && sizeof(*(to)) == sizeof(*(from)), "an asynchronous copy is between pointers to the same type"); \
        vx_copy_later((void *)(to), (const void *)(from), count, sizeof(*(to)), step, event);                                                                                                  \
    })
VX_FUNCTION void wait_group_events(int count, event_t *events)
{
    vx_wait_for_copies(count, events);
}
/* A hint, without an effect on any result. */
VX_FUNCTION void prefetch(const void *place, size_t count)
{
}

/* The elements of a vector, or of two, in the order of a mask. A short result is packed if the mask is. */
#define VX_LANES_OF(value) (sizeof(value) / sizeof(VX_ELEMENT(value)))
#define VX_IS_PACKED(value) __builtin_types_compatible_p(__typeof__((value)[0]), VX_ELEMENT(value))
#define VX_NOT_PACKED(element)      \
    _Generic((element)0,            \
        char: (vx_small_char)0,     \
        uchar: (vx_small_uchar)0,   \
        short: (vx_small_short)0,   \
        ushort: (vx_small_ushort)0, \
        half: (vx_small_half)0,     \
        default: (element)0)
#define VX_SHUFFLE(name, value, chosen, mask, count)                                                                                             \
    __extension__({                                                                                                                              \
        __auto_type vx_a = (value);                                                                                                              \
        __auto_type vx_mask = (mask);                                                                                                            \
        typedef VX_ELEMENT(vx_a) vx_element_type;                                                                                                \
        typedef __typeof__(__builtin_choose_expr(VX_IS_PACKED(vx_mask), (vx_element_type)0, VX_NOT_PACKED(vx_element_type))) vx_lane_type;       \
        typedef vx_lane_type vx_result_type __attribute__((ext_vector_type(VX_LANES_OF(vx_mask))));                                              \
        _Static_assert(sizeof(vx_element_type) == sizeof(VX_ELEMENT(vx_mask)), name " needs a mask whose elements are as wide as the vector's"); \
        vx_result_type vx_result;                                                                                                                \
        for (int vx_i = 0; vx_i < VX_LANES_OF(vx_mask); vx_i++) {                                                                                \
            int vx_index = (int)vx_mask[vx_i] & (count * VX_LANES_OF(vx_a) - 1);                                                                 \
            vx_result[vx_i] = (vx_lane_type)chosen;                                                                                              \
        }                                                                                                                                        \
        vx_result;                                                                                                                               \
    })
#define shuffle(value, mask) VX_SHUFFLE("shuffle", value, vx_a[vx_index], mask, 1)
#define shuffle2(value0, value1, mask)                                                                                                 \
    __extension__({                                                                                                                    \
        __auto_type vx_b = (value1);                                                                                                   \
        VX_SHUFFLE("shuffle2", value0, (vx_index < VX_LANES_OF(vx_a) ? vx_a[vx_index] : vx_b[vx_index - VX_LANES_OF(vx_a)]), mask, 2); \
    })
