/*
 * Reads and writes of tensors. x is the fastest dimension, y the next, z all others.
 *
 * What lies inside a tensor is done here, so that it costs little; all else goes to the runtime,
 * which counts and reports it.
 */

/* Offsets are two numbers of five bits, from -16 to 15. */
#define VXC_5BITOFFSET_XY(x, y) (((x) & 31) | ((y) & 31) << 5)
__OPKIT_FUNCTION int __opkit_offset(int bits)
{
    return (bits & 31 ^ 16) - 16;
}

typedef const __OPKIT_UNCHECKED_SPACE struct __opkit_image __opkit_unchecked_image;

/* Whether a run of elements lies in one row of the tensor. */
__OPKIT_FUNCTION bool __opkit_inside(__opkit_unchecked_image *image, int x, int y, int z, int count)
{
    return count > 0 && x >= 0 && x <= image->width - count && y >= 0 && y < image->height &&
           z >= 0 && z < image->depth;
}
__OPKIT_FUNCTION long __opkit_row(__opkit_unchecked_image *image, int x, int y, int z)
{
    return ((long)z * image->height + y) * image->width + x;
}

/* Copies bytes; those of a whole register as a value, for which nothing is called. */
struct __opkit_bytes {
    uchar16 value;
} __attribute__((packed, may_alias));
#define __OPKIT_COPY(to_space, from_space)                                                       \
    __OPKIT_FUNCTION void __opkit_copy(to_space void *to, const from_space void *from, int size) \
    {                                                                                            \
        if (size == sizeof(struct __opkit_bytes)) {                                              \
            ((to_space struct __opkit_bytes *)to)->value =                                       \
                ((const from_space struct __opkit_bytes *)from)->value;                          \
        } else {                                                                                 \
            __builtin_memcpy(to, from, size);                                                    \
        }                                                                                        \
    }
__OPKIT_COPY(, __OPKIT_UNCHECKED_SPACE)
__OPKIT_COPY(__OPKIT_UNCHECKED_SPACE, )

/*
 * Lanes start..end of the register become the elements at x, x + 1, ...; no conversion, the other
 * lanes stay.
 */
__OPKIT_FUNCTION void __opkit_read(const struct __opkit_operand *destination,
                                   __opkit_unchecked_image *image, int x, int y, int z, int offset,
                                   int info)
{
    int size = destination->element_size;
    int start = __OPKIT_START_BIN(info);
    int count = __OPKIT_END_BIN(info) - start + 1;
    x += __opkit_offset(offset);
    y += __opkit_offset(offset >> 5);
    if (destination->spacing == size && image->element_size == size &&
        (start + count) * size <= __OPKIT_REGISTER_SIZE &&
        (start + count) * size <= destination->size && __OPKIT_SOURCE_BIN(info) == 0 &&
        __opkit_inside(image, x, y, z, count)) {
        __opkit_copy((uchar *)destination->data + start * size,
                     __OPKIT_UNCHECKED(uchar, image->data) + __opkit_row(image, x, y, z) * size,
                     count * size);
    } else {
        __opkit_read_checked(destination, (const struct __opkit_image *)(uintptr_t)image, x, y, z,
                             info);
    }
}

/*
 * Lanes start..end of the register become the elements at x, x + 1, ...: all published writes with
 * a start bin mean this. That the source bin moves the lanes is inferred.
 */
__OPKIT_FUNCTION void __opkit_write(const struct __opkit_operand *source,
                                    __opkit_unchecked_image *image, int x, int y, int z, int info)
{
    int size = source->element_size;
    int lane = __OPKIT_START_BIN(info) + __OPKIT_SOURCE_BIN(info);
    int count = __OPKIT_END_BIN(info) - __OPKIT_START_BIN(info) + 1;
    if (source->spacing == size && image->element_size == size && image->written &&
        (lane + count) * size <= __OPKIT_REGISTER_SIZE && (lane + count) * size <= source->size &&
        __opkit_inside(image, x, y, z, count)) {
        long element = __opkit_row(image, x, y, z);
        __opkit_copy(__OPKIT_UNCHECKED(uchar, image->data) + element * size,
                     (uchar *)source->data + lane * size, count * size);
        __builtin_memset(__OPKIT_UNCHECKED(uchar, image->written) + element, 1, count);
    } else {
        __opkit_write_checked(source, (const struct __opkit_image *)(uintptr_t)image, x, y, z,
                              info);
    }
}

#define __OPKIT_READ(destination, image, coord, plane, offset, info)                           \
    do {                                                                                       \
        __auto_type __opkit_register = (destination);                                          \
        struct __opkit_operand __opkit_target = __OPKIT_OPERAND(__opkit_register);             \
        __auto_type __opkit_at = (coord);                                                      \
        __opkit_read(&__opkit_target, __OPKIT_UNCHECKED(const struct __opkit_image, &(image)), \
                     __opkit_at.x, __opkit_at.y, plane, offset, info);                         \
        (destination) = __opkit_register;                                                      \
    } while (0)
#define __OPKIT_WRITE(image, coord, plane, color, info)                                         \
    do {                                                                                        \
        __auto_type __opkit_register = (color);                                                 \
        struct __opkit_operand __opkit_source = __OPKIT_OPERAND(__opkit_register);              \
        __auto_type __opkit_at = (coord);                                                       \
        __opkit_write(&__opkit_source, __OPKIT_UNCHECKED(const struct __opkit_image, &(image)), \
                      __opkit_at.x, __opkit_at.y, plane, info);                                 \
    } while (0)

#define VXC_ReadImage(destination, image, coord, offset, info) \
    __OPKIT_READ(destination, image, coord, 0, offset, info)
#define VXC_WriteImage(image, coord, color, info) __OPKIT_WRITE(image, coord, 0, color, info)
#define VXC_ReadImage2DArray(destination, image, coord, offset, info) \
    __OPKIT_READ(destination, image, coord, __opkit_at.z, offset, info)
#define VXC_WriteImage2DArray(image, coord, color, info) \
    __OPKIT_WRITE(image, coord, __opkit_at.z, color, info)
/* These have the address of the slice in z, as kernels compute it from the descriptor. */
#define VXC_ReadImage3D(destination, image, coord, offset, info) \
    __OPKIT_READ(destination, image, coord, __opkit_slice_of(&(image), __opkit_at.z), offset, info)
#define VXC_WriteImage3D(image, coord, color, info) \
    __OPKIT_WRITE(image, coord, __opkit_slice_of(&(image), __opkit_at.z), color, info)

/* read_image... converts four neighbors along x, and write_image... writes them. */
#define __OPKIT_IMAGE_ACCESS(suffix, vector, element, type)                                      \
    __OPKIT_FUNCTION vector __opkit_load_image##suffix(const struct __opkit_image *image, int x, \
                                                       int y, int z)                             \
    {                                                                                            \
        double values[4];                                                                        \
        vector result;                                                                           \
        __opkit_load_image(image, x, y, z, values, type);                                        \
        for (int i = 0; i < 4; i++) {                                                            \
            result[i] = (element)values[i];                                                      \
        }                                                                                        \
        return result;                                                                           \
    }                                                                                            \
    __OPKIT_FUNCTION void __opkit_store_image##suffix(const struct __opkit_image *image, int x,  \
                                                      int y, int z, vector color)                \
    {                                                                                            \
        double values[4];                                                                        \
        for (int i = 0; i < 4; i++) {                                                            \
            values[i] = color[i];                                                                \
        }                                                                                        \
        __opkit_store_image(image, x, y, z, values, type);                                       \
    }                                                                                            \
    __OPKIT_FUNCTION vector read_image##suffix(struct __opkit_image image, int2 at)              \
    {                                                                                            \
        return __opkit_load_image##suffix(&image, at.x, at.y, 0);                                \
    }                                                                                            \
    __OPKIT_FUNCTION vector read_image##suffix(struct __opkit_image image, int4 at)              \
    {                                                                                            \
        return __opkit_load_image##suffix(&image, at.x, at.y, at.z);                             \
    }                                                                                            \
    __OPKIT_FUNCTION vector read_image##suffix(struct __opkit_image image, int at)               \
    {                                                                                            \
        return __opkit_load_image##suffix(&image, at, 0, 0);                                     \
    }                                                                                            \
    __OPKIT_FUNCTION void write_image##suffix(struct __opkit_image image, int2 at, vector color) \
    {                                                                                            \
        __opkit_store_image##suffix(&image, at.x, at.y, 0, color);                               \
    }                                                                                            \
    __OPKIT_FUNCTION void write_image##suffix(struct __opkit_image image, int4 at, vector color) \
    {                                                                                            \
        __opkit_store_image##suffix(&image, at.x, at.y, at.z, color);                            \
    }                                                                                            \
    __OPKIT_FUNCTION void write_image##suffix(struct __opkit_image image, int at, vector color)  \
    {                                                                                            \
        __opkit_store_image##suffix(&image, at, 0, 0, color);                                    \
    }
__OPKIT_IMAGE_ACCESS(f, float4, float, __OPKIT_FLOAT32)
__OPKIT_IMAGE_ACCESS(i, int4, int, __OPKIT_INT32)
__OPKIT_IMAGE_ACCESS(ui, uint4, uint, __OPKIT_UINT32)

__OPKIT_FUNCTION int get_image_width(struct __opkit_image image)
{
    return image.width;
}
__OPKIT_FUNCTION int get_image_height(struct __opkit_image image)
{
    return image.height;
}
__OPKIT_FUNCTION int get_image_depth(struct __opkit_image image)
{
    return image.depth;
}
__OPKIT_FUNCTION size_t get_image_array_size(struct __opkit_image image)
{
    return image.depth;
}
__OPKIT_FUNCTION int2 get_image_dim(struct __opkit_image image)
{
    return (int2)(image.width, image.height);
}
