/*
 * Reads and writes that leave a tensor, or are not one run of elements in a row. Each one that
 * leaves it is logged as an event.
 */
#include <string.h>

#include "vx.h"

enum __opkit_border __opkit_border;
uint32_t __opkit_fill;
double __opkit_constant;

enum {
    PADDING = 4
};

static int clamp(int value, int count)
{
    return value < 0 ? 0 : value >= count ? count - 1 : value;
}

static bool inside(const struct __opkit_image *image, int x, int y)
{
    return x >= 0 && x < image->width && y >= 0 && y < image->height;
}

static unsigned char *element_address(const struct __opkit_image *image, int x, int y, int z)
{
    return image->data + (((long)z * image->height + y) * image->width + x) * image->element_size;
}

/* The element at a coordinate, or what the border has there. */
static void load_element(const struct __opkit_image *image, int x, int y, int z, void *element)
{
    size_t size = (size_t)image->element_size;

    if (inside(image, x, y)) {
        memcpy(element, element_address(image, x, y, z), size);
    } else if (__opkit_border == __OPKIT_BORDER_EDGE) {
        memcpy(element, element_address(image, clamp(x, image->width), clamp(y, image->height), z),
               size);
    } else if (__opkit_border == __OPKIT_BORDER_CONSTANT) {
        __opkit_store(element, image->type, __opkit_constant, __OPKIT_NEAREST_EVEN, true);
    } else {
        uint32_t pattern[2] = {__opkit_fill, __opkit_fill};
        memcpy(element, pattern, size);
    }
}

static void store_element(const struct __opkit_image *image, int x, int y, int z,
                          const void *element)
{
    if (inside(image, x, y)) {
        memcpy(element_address(image, x, y, z), element, (size_t)image->element_size);
        image->written[((long)z * image->height + y) * image->width + x] = 1;
    }
}

/* The slice is clamped, as the vendor's macros do (certain); that it had to be is an event. */
static int clamp_slice(const struct __opkit_image *image, int x, int y, int z, const char *kind,
                       const void *address)
{
    int clamped = clamp(z, image->depth);
    if (z != clamped) {
        __opkit_event(kind, image->name, x, y, z, 1, address);
    }
    return clamped;
}

/*
 * Logs an event with the number of elements of a run that lie outside. A run that begins inside and
 * leaves at the row's end is normal.
 */
static void report_outside(const struct __opkit_image *image, int x, int y, int z, int count,
                           const char *outside, const char *past_end, const void *address)
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
        __opkit_event(begins_inside ? past_end : outside, image->name, x + first, y, z, missing,
                      address);
    }
}

/* Returns the number of lanes that an access may use, and logs an event if it names more. */
static int lanes_used(const struct __opkit_operand *operand, const struct __opkit_image *image,
                      int first, int count, int x, int y, int z, const void *address)
{
    int max = __OPKIT_REGISTER_SIZE / operand->spacing;

    if (operand->element_size != image->element_size) {
        __opkit_event("element size", image->name, x, y, z, 1, address);
        return 0;
    }
    max = max < __opkit_lane_count(operand) ? max : __opkit_lane_count(operand);
    if (count <= 0 || first + count > max) {
        __opkit_event("beyond the register", image->name, x, y, z, 1, address);
    }
    return first + count > max ? max - first : count;
}

/*
 * Whether the work item is there only because this dimension of its launch is rounded up: to whole
 * groups, or, of the first, to a multiple of 4, as most published launches are. Likely: the
 * hardware drops what such an item writes.
 */
static bool is_padding_item(int dimension)
{
    unsigned long local = __opkit_item.local_size[dimension];
    unsigned long multiple = local > 1 ? local : dimension == 0 ? PADDING : 1;
    unsigned long index =
        __opkit_item.group_id[dimension] * local + __opkit_item.local_id[dimension];
    unsigned long size = __opkit_item.global_size[dimension];

    return size % multiple == 0 && index + multiple > size;
}

static void report_write_outside(const struct __opkit_image *image, int x, int y, int z, int count,
                                 const void *address)
{
    bool is_padding =
        (x >= image->width && is_padding_item(0)) || (y >= image->height && is_padding_item(1));

    report_outside(image, x, y, z, count,
                   is_padding ? "write outside by a padding work item" : "write outside",
                   "write past the row's end", address);
}

void __opkit_read_checked(const struct __opkit_operand *destination,
                          const struct __opkit_image *image, int x, int y, int z, int info)
{
    const void *address = __builtin_return_address(0);
    int start = __OPKIT_START_BIN(info);
    int count = __OPKIT_END_BIN(info) - start + 1;

    x += __OPKIT_SOURCE_BIN(info);
    z = clamp_slice(image, x, y, z, "read of a slice outside", address);
    count = lanes_used(destination, image, start, count, x, y, z, address);
    report_outside(image, x, y, z, count, "read outside", "read past the row's end", address);
    for (int i = 0; i < count; i++) {
        load_element(image, x + i, y, z,
                     (char *)destination->data + (start + i) * destination->element_size);
    }
}

void __opkit_write_checked(const struct __opkit_operand *source, const struct __opkit_image *image,
                           int x, int y, int z, int info)
{
    const void *address = __builtin_return_address(0);
    int lane = __OPKIT_START_BIN(info) + __OPKIT_SOURCE_BIN(info);
    int count = __OPKIT_END_BIN(info) - __OPKIT_START_BIN(info) + 1;

    if (image->written == NULL) {
        __opkit_event("write to an input", image->name, x, y, z, 1, address);
        return;
    }
    z = clamp_slice(image, x, y, z, "write to a slice outside", address);
    count = lanes_used(source, image, lane, count, x, y, z, address);
    report_write_outside(image, x, y, z, count, address);
    for (int i = 0; i < count; i++) {
        store_element(image, x + i, y, z,
                      (const char *)source->data + (lane + i) * source->element_size);
    }
}

/* The slice that begins at an address which a kernel computed from the descriptor. */
int __opkit_slice_of(const struct __opkit_image *image, int address)
{
    const void *caller = __builtin_return_address(0);
    long distance = (long)(unsigned)address - image->address;
    int slice = (int)(distance / image->slice_stride) -
                (distance < 0 && distance % image->slice_stride != 0);

    if (distance % image->slice_stride != 0) {
        __opkit_event("address within a slice", image->name, 0, 0, slice, 1, caller);
    }
    if (slice != clamp(slice, image->depth)) {
        __opkit_event("address outside of the tensor", image->name, 0, 0, slice, 1, caller);
    }
    return slice;
}

/* Whether read_image... of a class (float, signed, unsigned) fits a tensor. */
static bool fits(int type, int wanted)
{
    switch (wanted) {
    case __OPKIT_FLOAT32:
        return type == __OPKIT_FLOAT32 || type == __OPKIT_FLOAT16;
    case __OPKIT_INT32:
        return type == __OPKIT_INT32 || type == __OPKIT_INT16 || type == __OPKIT_INT8;
    default:
        return type == __OPKIT_UINT32 || type == __OPKIT_UINT16 || type == __OPKIT_UINT8;
    }
}

#define NEIGHBORS 4

void __opkit_load_image(const struct __opkit_image *image, int x, int y, int z, double *values,
                        int wanted)
{
    const void *address = __builtin_return_address(0);
    if (!fits(image->type, wanted)) {
        __opkit_event("read_image of another type", image->name, x, y, z, 1, address);
    }
    z = clamp_slice(image, x, y, z, "read of a slice outside", address);
    report_outside(image, x, y, z, NEIGHBORS, "read outside", "read past the row's end", address);
    for (int i = 0; i < NEIGHBORS; i++) {
        uint64_t element = 0;
        load_element(image, x + i, y, z, &element);
        values[i] = __opkit_load(&element, image->type);
    }
}

void __opkit_store_image(const struct __opkit_image *image, int x, int y, int z,
                         const double *values, int wanted)
{
    const void *address = __builtin_return_address(0);
    if (image->written == NULL) {
        __opkit_event("write to an input", image->name, x, y, z, 1, address);
        return;
    }
    if (!fits(image->type, wanted)) {
        __opkit_event("write_image of another type", image->name, x, y, z, 1, address);
    }
    z = clamp_slice(image, x, y, z, "write to a slice outside", address);
    report_write_outside(image, x, y, z, NEIGHBORS, address);
    for (int i = 0; i < NEIGHBORS; i++) {
        uint64_t element = 0;
        __opkit_store(&element, image->type, values[i], __OPKIT_NEAREST_EVEN, true);
        store_element(image, x + i, y, z, &element);
    }
}
