/*
 * The math of BitShift: integers whose bits are shifted to the left or to the right.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in bitshift_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 */
#ifndef BITSHIFT_COMPUTE_H
#define BITSHIFT_COMPUTE_H

#include "generated/bitshift.h"
#include "include/opkit/compute/elementwise.h"

/*
 * Defines the loop of one type, whose bits `bits` holds. A shift of all bits, or by a negative
 * count, leaves no bit but, to the right, copies of a sign.
 */
#define BITSHIFT_LOOP(name, type, bits)                                               \
    OPKIT_ELEMENT_LOOP void name(const type *x, const type *y, type *z, size_t count, \
                                 bool is_left)                                        \
    {                                                                                 \
        const bits last = 8 * sizeof(type) - 1;                                       \
        const bool has_sign = (type)~0 < (type)1;                                     \
                                                                                      \
        for (size_t i = 0; i < count; i++) {                                          \
            const bool is_part = (bits)y[i] <= last;                                  \
            const bits shift = (bits)y[i] & last;                                     \
            const bits left = (bits)((bits)x[i] << shift);                            \
            const type right = (type)(x[i] >> shift);                                 \
            const type signs = has_sign ? (type)(x[i] >> last) : (type)0;             \
                                                                                      \
            z[i] = is_left ? (type)(is_part ? left : 0) : (is_part ? right : signs);  \
        }                                                                             \
    }

BITSHIFT_LOOP(bitshift_int8, int8_t, uint8_t)
BITSHIFT_LOOP(bitshift_uint8, uint8_t, uint8_t)
BITSHIFT_LOOP(bitshift_int16, int16_t, uint16_t)
BITSHIFT_LOOP(bitshift_uint16, uint16_t, uint16_t)
BITSHIFT_LOOP(bitshift_int32, int32_t, uint32_t)
BITSHIFT_LOOP(bitshift_uint32, uint32_t, uint32_t)
BITSHIFT_LOOP(bitshift_int64, int64_t, uint64_t)

/* The elements of a block: of each tensor in a row, without gaps. */
struct bitshift_block {
    const void *x;
    const void *y;
    void *z;
    enum opkit_type type;
    bool is_left;
};

/* Computes a block. */
OPKIT_ELEMENT_LOOP void bitshift_compute_block(const struct bitshift_block *block, size_t count)
{
    const void *x = block->x, *y = block->y;
    void *z = block->z;
    const bool is_left = block->is_left;

    switch (block->type) {
    case OPKIT_INT8:
        bitshift_int8((const int8_t *)x, (const int8_t *)y, (int8_t *)z, count, is_left);
        break;
    case OPKIT_UINT8:
        bitshift_uint8((const uint8_t *)x, (const uint8_t *)y, (uint8_t *)z, count, is_left);
        break;
    case OPKIT_INT16:
        bitshift_int16((const int16_t *)x, (const int16_t *)y, (int16_t *)z, count, is_left);
        break;
    case OPKIT_UINT16:
        bitshift_uint16((const uint16_t *)x, (const uint16_t *)y, (uint16_t *)z, count, is_left);
        break;
    case OPKIT_INT32:
        bitshift_int32((const int32_t *)x, (const int32_t *)y, (int32_t *)z, count, is_left);
        break;
    case OPKIT_UINT32:
        bitshift_uint32((const uint32_t *)x, (const uint32_t *)y, (uint32_t *)z, count, is_left);
        break;
    default:
        bitshift_int64((const int64_t *)x, (const int64_t *)y, (int64_t *)z, count, is_left);
        break;
    }
}
OPKIT_WIDEST(bitshift_compute_block, (const struct bitshift_block *block, size_t count),
             (block, count))

/* Computes a part of the output, block by block. */
static void bitshift_compute_part(const void *context, size_t begin, size_t end)
{
    const struct opkit_loop *loop = (const struct opkit_loop *)context;
    const struct bitshift_params *params = (const struct bitshift_params *)loop->params;
    struct opkit_buffer buffers[2]; /* of x and y */
    struct bitshift_block block;

    block.type = loop->type;
    block.is_left = params->direction[0] == 'L';
    opkit_clear_buffers(buffers, 2);
    while (begin < end) {
        const size_t count = opkit_block_size(loop, begin, end);

        block.x = opkit_load_block(loop, 0, begin, count, &buffers[0]);
        block.y = opkit_load_block(loop, 1, begin, count, &buffers[1]);
        block.z = loop->data + begin * opkit_element_size(loop->type);
        bitshift_compute_block_widest(&block, count);
        begin += count;
    }
}

/*
 * Computes the outputs:
 *
 *   inputs->x            integers
 *   inputs->y            the counts of bits
 *   params->direction    LEFT or RIGHT
 *   outputs->z           the shape to which x and y broadcast
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *bitshift_compute(const struct bitshift_inputs *inputs,
                                    const struct bitshift_params *params,
                                    struct bitshift_outputs *outputs)
{
    const enum opkit_type type = inputs->x.type;
    const struct opkit_tensor *const tensors[] = {&inputs->x, &inputs->y};
    struct opkit_loop loop;

    if (type == OPKIT_FLOAT32) {
        return "x and y must be integers";
    }
    if (inputs->y.type != type || outputs->z.type != type) {
        return "x, y and z must be of one type";
    }
    if (!opkit_plan_loop(&loop, tensors, 2, &outputs->z, params)) {
        return "z must have the shape to which x and y broadcast";
    }
    opkit_parallel_for(loop.size, OPKIT_GRAIN, bitshift_compute_part, &loop);
    return NULL;
}

#endif
