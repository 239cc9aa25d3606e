/*
 * Reads and writes of tensors. x is the fastest dimension, y the next, z all others.
 *
 * What lies inside a tensor is done here, so that it costs little; all else goes to the runtime, which counts and reports it.
 */

void vx_read_carefully(const struct vx_operand *destination, const struct vx_image *image, int x, int y, int z, int info);
void vx_write_carefully(const struct vx_operand *source, const struct vx_image *image, int x, int y, int z, int info);
int vx_slice_of(const struct vx_image *image, int address);
void vx_fetch(const struct vx_image *image, int x, int y, int z, double *values, int wanted);
void vx_put(const struct vx_image *image, int x, int y, int z, const double *values, int wanted);

/* Offsets are two numbers of five bits, from -16 to 15. */
#define VXC_5BITOFFSET_XY(x, y) (((x) & 31) | ((y) & 31) << 5)
VX_FUNCTION int vx_offset(int bits)
{
    return (bits & 31 ^ 16) - 16;
}

/* Whether a run of elements lies in one row of the tensor. */
VX_FUNCTION bool vx_inside(const struct vx_image *image, int x, int y, int z, int count)
{
    return count > 0 && x >= 0 && x <= image->width - count && y >= 0 && y < image->height && z >= 0 && z < image->depth;
}
VX_FUNCTION long vx_row(const struct vx_image *image, int x, int y, int z)
{
    return ((long)z * image->height + y) * image->width + x;
}

/* Lanes start..end of the register become the elements at x, x + 1, ...; no conversion, the other lanes stay. */
VX_FUNCTION void vx_read(const struct vx_operand *destination, const struct vx_image *image, int x, int y, int z, int offset, int info)
{
    int size = destination->element_size;
    int start = VX_START_BIN(info);
    int count = VX_END_BIN(info) - start + 1;
    x += vx_offset(offset);
    y += vx_offset(offset >> 5);
    if (destination->spacing == size && image->element_size == size && (start + count) * size <= VX_REGISTER_SIZE && (start + count) * size <= destination->size && VX_SOURCE_BIN(info) == 0 && vx_inside(image, x, y, z, count)) {
        __builtin_memcpy((uchar *)destination->data + start * size, image->data + vx_row(image, x, y, z) * size, count * size);
    } else {
        vx_read_carefully(destination, image, x, y, z, info);
    }
}

/* The elements at x + start, ... become the lanes source, source + 1, ... of the register. */
VX_FUNCTION void vx_write(const struct vx_operand *source, const struct vx_image *image, int x, int y, int z, int info)
{
    int size = source->element_size;
    int lane = VX_SOURCE_BIN(info);
    int start = VX_START_BIN(info);
    int count = VX_END_BIN(info) - start + 1;
    if (source->spacing == size && image->element_size == size && image->written && (lane + count) * size <= VX_REGISTER_SIZE && (lane + count) * size <= source->size && vx_inside(image, x + start, y, z, count)) {
        long element = vx_row(image, x + start, y, z);
        __builtin_memcpy(image->data + element * size, (uchar *)source->data + lane * size, count * size);
        __builtin_memset(image->written + element, 1, count);
    } else {
        vx_write_carefully(source, image, x, y, z, info);
    }
}

#define VX_READ(destination, image, coord, plane, offset, info)               \
    do {                                                                      \
        __typeof__(destination) vx_register = (destination);                  \
        struct vx_operand vx_target = VX_OPERAND(vx_register);                \
        __auto_type vx_at = (coord);                                          \
        vx_read(&vx_target, &(image), vx_at.x, vx_at.y, plane, offset, info); \
        (destination) = vx_register;                                          \
    } while (0)
#define VX_WRITE(image, coord, plane, color, info)                     \
    do {                                                               \
        __auto_type vx_register = (color);                             \
        struct vx_operand vx_source = VX_OPERAND(vx_register);         \
        __auto_type vx_at = (coord);                                   \
        vx_write(&vx_source, &(image), vx_at.x, vx_at.y, plane, info); \
    } while (0)

#define VXC_ReadImage(destination, image, coord, offset, info) VX_READ(destination, image, coord, 0, offset, info)
#define VXC_WriteImage(image, coord, color, info) VX_WRITE(image, coord, 0, color, info)
#define VXC_ReadImage2DArray(destination, image, coord, offset, info) VX_READ(destination, image, coord, vx_at.z, offset, info)
#define VXC_WriteImage2DArray(image, coord, color, info) VX_WRITE(image, coord, vx_at.z, color, info)
/* These have the address of the slice in z, as kernels compute it from the descriptor. */
#define VXC_ReadImage3D(destination, image, coord, offset, info) VX_READ(destination, image, coord, vx_slice_of(&(image), vx_at.z), offset, info)
#define VXC_WriteImage3D(image, coord, color, info) VX_WRITE(image, coord, vx_slice_of(&(image), vx_at.z), color, info)

/* Plumbing of the vendor's macros; image accesses with the address of a slice are all that kernels use it for. */
#define VX_OP4_img_load_3d VXC_ReadImage3D
#define VX_OP4_img_store_3d VXC_WriteImage3D
#define VXC_OP4(instruction, destination, source0, source1, source2, source3) VX_OP4_##instruction(destination, source0, source1, source2, source3)
#define VXC_OP4_NoDest(instruction, source0, source1, source2, source3) VX_OP4_##instruction(source0, source1, source2, source3)

/* read_image... converts four neighbours along x, and write_image... writes them. */
#define VX_IMAGE_ACCESS(suffix, vector, element, type)                                                 \
    VX_FUNCTION vector vx_load##suffix(const struct vx_image *image, int x, int y, int z)              \
    {                                                                                                  \
        double values[4];                                                                              \
        vector result;                                                                                 \
        vx_fetch(image, x, y, z, values, type);                                                        \
        for (int i = 0; i < 4; i++) {                                                                  \
            result[i] = (element)values[i];                                                            \
        }                                                                                              \
        return result;                                                                                 \
    }                                                                                                  \
    VX_FUNCTION void vx_store##suffix(const struct vx_image *image, int x, int y, int z, vector color) \
    {                                                                                                  \
        double values[4];                                                                              \
        for (int i = 0; i < 4; i++) {                                                                  \
            values[i] = color[i];                                                                      \
        }                                                                                              \
        vx_put(image, x, y, z, values, type);                                                          \
    }                                                                                                  \
    VX_FUNCTION vector read_image##suffix(struct vx_image image, int2 at)                              \
    {                                                                                                  \
        return vx_load##suffix(&image, at.x, at.y, 0);                                                 \
    }                                                                                                  \
    VX_FUNCTION vector read_image##suffix(struct vx_image image, int4 at)                              \
    {                                                                                                  \
        return vx_load##suffix(&image, at.x, at.y, at.z);                                              \
    }                                                                                                  \
    VX_FUNCTION vector read_image##suffix(struct vx_image image, int at)                               \
    {                                                                                                  \
        return vx_load##suffix(&image, at, 0, 0);                                                      \
    }                                                                                                  \
    VX_FUNCTION void write_image##suffix(struct vx_image image, int2 at, vector color)                 \
    {                                                                                                  \
        vx_store##suffix(&image, at.x, at.y, 0, color);                                                \
    }                                                                                                  \
    VX_FUNCTION void write_image##suffix(struct vx_image image, int4 at, vector color)                 \
    {                                                                                                  \
        vx_store##suffix(&image, at.x, at.y, at.z, color);                                             \
    }                                                                                                  \
    VX_FUNCTION void write_image##suffix(struct vx_image image, int at, vector color)                  \
    {                                                                                                  \
        vx_store##suffix(&image, at, 0, 0, color);                                                     \
    }
VX_IMAGE_ACCESS(f, float4, float, VX_FLOAT32)
VX_IMAGE_ACCESS(i, int4, int, VX_INT32)
VX_IMAGE_ACCESS(ui, uint4, uint, VX_UINT32)

VX_FUNCTION int get_image_width(struct vx_image image)
{
    return image.width;
}
VX_FUNCTION int get_image_height(struct vx_image image)
{
    return image.height;
}
VX_FUNCTION int get_image_depth(struct vx_image image)
{
    return image.depth;
}
VX_FUNCTION size_t get_image_array_size(struct vx_image image)
{
    return image.depth;
}
VX_FUNCTION int2 get_image_dim(struct vx_image image)
{
    return (int2)(image.width, image.height);
}
