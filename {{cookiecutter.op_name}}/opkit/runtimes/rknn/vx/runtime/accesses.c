/* Reads and writes that leave a tensor, or are not one plain run of elements. Every one that leaves it is an event. */
#include <string.h>

#include "runtime.h"

static int clamp(int value, int count)
{
    return value < 0 ? 0 : value >= count ? count - 1
                                          : value;
}

static bool inside(const struct vx_image *image, int x, int y)
{
    return x >= 0 && x < image->width && y >= 0 && y < image->height;
}

static unsigned char *place(const struct vx_image *image, int x, int y, int z)
{
    return image->data + (((long)z * image->height + y) * image->width + x) * image->element_size;
}

/* The element at a coordinate, or what the border has there. */
static void fetch(const struct vx_image *image, int x, int y, int z, void *element)
{
    size_t size = (size_t)image->element_size;

    if (inside(image, x, y)) {
        memcpy(element, place(image, x, y, z), size);
    } else if (vx_border == VX_BORDER_EDGE) {
        memcpy(element, place(image, clamp(x, image->width), clamp(y, image->height), z), size);
    } else if (vx_border == VX_BORDER_CONSTANT) {
        vx_set(element, image->type, vx_constant, VX_NEAREST_EVEN, true);
    } else {
        uint32_t pattern[2] = {vx_fill, vx_fill};
        memcpy(element, pattern, size);
    }
}

static void store(const struct vx_image *image, int x, int y, int z, const void *element)
{
    if (inside(image, x, y)) {
        memcpy(place(image, x, y, z), element, (size_t)image->element_size);
        image->written[((long)z * image->height + y) * image->width + x] = 1;
    }
}

/* The slice is clamped, as the vendor's macros do; that it had to be is an event. */
static int slice(const struct vx_image *image, int x, int y, int z, const char *kind, const void *address)
{
    int clamped = clamp(z, image->depth);
    if (z != clamped) {
        vx_event(kind, image->index, x, y, z, 1, address);
    }
    return clamped;
}

/* Counts the elements of a run that lie outside. A run that begins inside and leaves at the row's end is normal. */
static void count_outside(const struct vx_image *image, int x, int y, int z, int count, const char *outside, const char *past_end, const void *address)
{
    bool begins_inside = inside(image, x, y);
    unsigned long missing = 0;
    int first = 0;

    for (int i = count - 1; i >= 0; i--) {
        if (!inside(image, x + i, y)) {
            missing++;
            first = i;
        }
    }
    if (missing > 0) {
        vx_event(begins_inside ? past_end : outside, image->index, x + first, y, z, missing, address);
    }
}

/* The lanes that an access may use; what is wrong with it is an event. */
static int lanes_used(const struct vx_operand *operand, const struct vx_image *image, int first, int count, int x, int y, int z, const void *address)
{
    int most = VX_REGISTER_SIZE / operand->spacing;

    if (operand->element_size != image->element_size) {
        vx_event("element size", image->index, x, y, z, 1, address);
        return 0;
    }
    most = most < vx_lane_count(operand) ? most : vx_lane_count(operand);
    if (count <= 0 || first + count > most) {
        vx_event("beyond the register", image->index, x, y, z, 1, address);
    }
    return first + count > most ? most - first : count;
}

void vx_read_carefully(const struct vx_operand *destination, const struct vx_image *image, int x, int y, int z, int info);
void vx_read_carefully(const struct vx_operand *destination, const struct vx_image *image, int x, int y, int z, int info)
{
    const void *address = __builtin_return_address(0);
    int start = VX_START_BIN(info);
    int count = VX_END_BIN(info) - start + 1;

    x += VX_SOURCE_BIN(info);
    z = slice(image, x, y, z, "read of a slice outside", address);
    count = lanes_used(destination, image, start, count, x, y, z, address);
    count_outside(image, x, y, z, count, "read outside", "read past the row's end", address);
    for (int i = 0; i < count; i++) {
        fetch(image, x + i, y, z, (char *)destination->data + (start + i) * destination->element_size);
    }
}

void vx_write_carefully(const struct vx_operand *source, const struct vx_image *image, int x, int y, int z, int info);
void vx_write_carefully(const struct vx_operand *source, const struct vx_image *image, int x, int y, int z, int info)
{
    const void *address = __builtin_return_address(0);
    int lane = VX_SOURCE_BIN(info);
    int count = VX_END_BIN(info) - VX_START_BIN(info) + 1;

    x += VX_START_BIN(info);
    if (image->written == NULL) {
        vx_event("write to an input", image->index, x, y, z, 1, address);
        return;
    }
    z = slice(image, x, y, z, "write to a slice outside", address);
    count = lanes_used(source, image, lane, count, x, y, z, address);
    count_outside(image, x, y, z, count, "write outside", "write past the row's end", address);
    for (int i = 0; i < count; i++) {
        store(image, x + i, y, z, (const char *)source->data + (lane + i) * source->element_size);
    }
}

/* The slice that begins at an address which a kernel computed from the descriptor. */
int vx_slice_of(const struct vx_image *image, int address);
int vx_slice_of(const struct vx_image *image, int address)
{
    long distance = (long)(unsigned)address - image->address;
    if (distance % image->slice_stride != 0) {
        vx_event("address within a slice", image->index, 0, 0, (int)(distance / image->slice_stride), 1, __builtin_return_address(0));
    }
    return (int)(distance / image->slice_stride) - (distance < 0 && distance % image->slice_stride != 0);
}

/* Whether read_image... of a class (float, signed, unsigned) fits a tensor. */
static bool fits(int type, int wanted)
{
    switch (wanted) {
    case VX_FLOAT32:
        return type == VX_FLOAT32 || type == VX_FLOAT16;
    case VX_INT32:
        return type == VX_INT32 || type == VX_INT16 || type == VX_INT8;
    default:
        return type == VX_UINT32 || type == VX_UINT16 || type == VX_UINT8;
    }
}

#define NEIGHBOURS 4

void vx_fetch(const struct vx_image *image, int x, int y, int z, double *values, int wanted);
void vx_fetch(const struct vx_image *image, int x, int y, int z, double *values, int wanted)
{
    const void *address = __builtin_return_address(0);
    if (!fits(image->type, wanted)) {
        vx_event("read_image of another type", image->index, x, y, z, 1, address);
    }
    z = slice(image, x, y, z, "read of a slice outside", address);
    count_outside(image, x, y, z, NEIGHBOURS, "read outside", "read past the row's end", address);
    for (int i = 0; i < NEIGHBOURS; i++) {
        uint64_t element = 0;
        fetch(image, x + i, y, z, &element);
        values[i] = vx_get(&element, image->type);
    }
}

void vx_put(const struct vx_image *image, int x, int y, int z, const double *values, int wanted);
void vx_put(const struct vx_image *image, int x, int y, int z, const double *values, int wanted)
{
    const void *address = __builtin_return_address(0);
    if (image->written == NULL) {
        vx_event("write to an input", image->index, x, y, z, 1, address);
        return;
    }
    if (!fits(image->type, wanted)) {
        vx_event("write_image of another type", image->index, x, y, z, 1, address);
    }
    z = slice(image, x, y, z, "write to a slice outside", address);
    count_outside(image, x, y, z, NEIGHBOURS, "write outside", "write past the row's end", address);
    for (int i = 0; i < NEIGHBOURS; i++) {
        uint64_t element = 0;
        vx_set(&element, image->type, values[i], VX_NEAREST_EVEN, true);
        store(image, x + i, y, z, &element);
    }
}
