/*
 * Loops over tensors, element by element, for generated code.
 *
 * The inputs are broadcast as in numpy: shapes are aligned at their last dimension; along a
 * dimension of length 1, or a missing one, the elements of an input repeat. The output is computed
 * in blocks. For each block, the elements of every input are in a row in memory: where they are in
 * the tensor, or, if they repeat or are halves, in a buffer that stays in the first cache.
 *
 * Plain C11 and C++11.
 */
#ifndef OPKIT_ELEMENTWISE_H
#define OPKIT_ELEMENTWISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "half.h"
#include "parallel.h"
#include "processor.h"
#include "tensor.h"

#define OPKIT_MAX_INPUTS 8 /* of a loop */
#define OPKIT_BLOCK 1024 /* floats of a block, at most; as many bytes of other types */
#define OPKIT_GRAIN (16 * OPKIT_BLOCK) /* elements worth a thread */
#define OPKIT_SHORT_ROW 64 /* elements; blocks contain several rows that are shorter */

/*
 * Before a loop: asks clang to vectorize it for 32-bit ARM, too, whose vectors (NEON) flush
 * subnormal floats to zero. A loop that cannot be vectorized is right as it is.
 */
#if defined(OPKIT_VECTORIZE)
/* By a flag. */
#elif defined(__clang__) && defined(__arm__)
#pragma clang diagnostic ignored "-Wpass-failed"
#define OPKIT_VECTORIZE _Pragma("clang loop vectorize(enable)")
#else
#define OPKIT_VECTORIZE
#endif

/* An input of a loop, with the step to the next element along each dimension of the output. */
struct opkit_loop_input {
    const char *data;
    enum opkit_type type;
    size_t steps[OPKIT_MAX_RANK]; /* in elements; 0: the elements repeat */
    bool is_dense; /* has the shape of the output */
    bool repeats_rows; /* all rows are the same */
};

/* A loop over the elements of an output. */
struct opkit_loop {
    const void *params; /* the operator's */
    char *data; /* of the output */
    enum opkit_type type;
    size_t size;
    size_t block; /* elements of a block, at most */
    size_t rank;
    size_t shape[OPKIT_MAX_RANK]; /* of the output; neighboring dimensions may be merged */
    struct opkit_loop_input inputs[OPKIT_MAX_INPUTS];
};

/* Memory for a block of any type. */
struct opkit_buffer {
    union {
        float float32[OPKIT_BLOCK];
        int64_t int64[OPKIT_BLOCK / 2]; /* for their alignment */
    } elements;
    uint16_t halves[OPKIT_BLOCK];
    const void *source; /* the element that the copies here begin with; NULL: unknown */
    size_t count; /* of copies */
};

/* Returns whether a tensor has the type; OPKIT_FLOAT32 stands for halves, too. */
static inline bool opkit_holds(const struct opkit_tensor *tensor, enum opkit_type type)
{
    return tensor->type == type || (tensor->type == OPKIT_FLOAT16 && type == OPKIT_FLOAT32);
}

/*
 * Sets rank and shape of an output to those to which the inputs broadcast. Returns false if they do
 * not. Tensors need no data; a dimension may be 0.
 */
OPKIT_SMALL bool opkit_broadcast_shapes(const struct opkit_tensor *const *inputs, size_t count,
                                        struct opkit_tensor *output)
{
    output->rank = 0;
    for (size_t i = 0; i < count; i++) {
        output->rank = inputs[i]->rank > output->rank ? inputs[i]->rank : output->rank;
    }
    for (size_t axis = 1; axis <= output->rank; axis++) { /* from the last one */
        size_t length = 1;
        for (size_t i = 0; i < count; i++) {
            const size_t rank = inputs[i]->rank;
            const size_t own = axis <= rank ? inputs[i]->shape[rank - axis] : 1;
            if (own != length && own != 1 && length != 1) {
                return false;
            }
            length = length == 1 ? own : length;
        }
        output->shape[output->rank - axis] = length;
    }
    return true;
}

/* Sets the steps of an input. Returns false if its shape does not broadcast to the output's. */
OPKIT_SMALL bool opkit_set_steps(struct opkit_loop_input *input, const struct opkit_tensor *tensor,
                                 const struct opkit_tensor *output)
{
    size_t step = 1;

    if (tensor->rank > output->rank) {
        return false;
    }
    const size_t missing = output->rank - tensor->rank;
    for (size_t axis = output->rank; axis-- > 0;) {
        const size_t length = axis < missing ? 1 : tensor->shape[axis - missing];
        if (length != 1 && length != output->shape[axis]) {
            return false;
        }
        input->steps[axis] = length == 1 ? 0 : step;
        step *= length;
    }
    input->data = (const char *)tensor->data;
    input->type = tensor->type;
    input->is_dense = tensor->size == output->size;
    return true;
}

/* Returns whether all inputs continue from the dimension `last` to the `next`, of this length. */
static inline bool opkit_continue(const struct opkit_loop *loop, size_t count, size_t last,
                                  size_t next, size_t length)
{
    bool all = true;

    for (size_t i = 0; i < count; i++) {
        const size_t *steps = loop->inputs[i].steps;
        all = all && steps[last] == length * steps[next];
    }
    return all;
}

/* Notes whether all rows of an input are the same. */
static inline void opkit_note_rows(const struct opkit_loop *loop, struct opkit_loop_input *input)
{
    input->repeats_rows = true;
    for (size_t axis = 0; axis < loop->rank - 1; axis++) {
        input->repeats_rows = input->repeats_rows && input->steps[axis] == 0;
    }
}

/* Prepares buffers, which have no copies yet. */
static inline void opkit_clear_buffers(struct opkit_buffer *buffers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buffers[i].source = NULL;
    }
}

/* Returns how many elements of a type are in a block at most: halves become floats. */
static inline size_t opkit_block_limit(enum opkit_type type)
{
    const enum opkit_type computed = type == OPKIT_FLOAT16 ? OPKIT_FLOAT32 : type;
    return OPKIT_BLOCK * sizeof(float) / opkit_element_size(computed);
}

/*
 * Plans the loop over the elements of an output. Merges dimensions along which all inputs are
 * contiguous, or all repeat: tensors of one shape become rows. Returns false if the output does not
 * have the shape to which the inputs broadcast.
 */
OPKIT_SMALL bool opkit_plan_loop(struct opkit_loop *loop, const struct opkit_tensor *const *inputs,
                                 size_t count, const struct opkit_tensor *output,
                                 const void *params)
{
    loop->block = opkit_block_limit(output->type);
    for (size_t i = 0; i < count; i++) {
        const size_t limit = opkit_block_limit(inputs[i]->type);

        if (!opkit_set_steps(&loop->inputs[i], inputs[i], output)) {
            return false;
        }
        loop->block = limit < loop->block ? limit : loop->block;
    }
    loop->params = params;
    loop->data = (char *)output->data;
    loop->type = output->type;
    loop->size = output->size;
    loop->rank = 0;
    for (size_t axis = 0; axis < output->rank; axis++) {
        const size_t length = output->shape[axis];
        size_t repeating = 0;

        for (size_t i = 0; i < count; i++) {
            repeating += loop->inputs[i].steps[axis] == 0;
        }
        if (length == 1) {
            continue;
        }
        if (repeating == count) {
            return false; /* all inputs are shorter */
        }
        if (loop->rank > 0 && opkit_continue(loop, count, loop->rank - 1, axis, length)) {
            loop->shape[loop->rank - 1] *= length;
        } else {
            loop->shape[loop->rank++] = length;
        }
        for (size_t i = 0; i < count; i++) {
            loop->inputs[i].steps[loop->rank - 1] = loop->inputs[i].steps[axis];
        }
    }
    if (loop->rank == 0) { /* one element */
        loop->rank = 1;
        loop->shape[0] = 1;
    }
    for (size_t i = 0; i < count; i++) {
        opkit_note_rows(loop, &loop->inputs[i]);
    }
    return true;
}

/*
 * Returns the number of elements in the block from `begin`. A block ends at the end of a row, so
 * that rows of inputs need no buffer, or, if rows are short, contains as many as fit.
 */
static inline size_t opkit_block_size(const struct opkit_loop *loop, size_t begin, size_t end)
{
    const size_t row = loop->shape[loop->rank - 1];
    const size_t left = end - begin;
    size_t size = loop->block;

    if (loop->rank > 1) {
        const size_t rest = row - begin % row; /* of the first row */
        if (row >= OPKIT_SHORT_ROW) {
            size = size < rest ? size : rest;
        } else {
            size = rest + (loop->block - rest) / row * row;
        }
    }
    return size < left ? size : left;
}

/* Copies `count` elements of `size` bytes; `step` is the distance to the next one, in elements. */
static inline void opkit_copy_row(char *to, const char *from, size_t count, size_t step,
                                  size_t size)
{
    if (step == 0) {
        char value[sizeof(int64_t)];
        memcpy(value, from, size);
        for (size_t i = 0; i < count; i++) {
            memcpy(to + i * size, value, size);
        }
    } else if (step == 1 && count >= OPKIT_SHORT_ROW) {
        memcpy(to, from, count * size);
    } else {
        for (size_t i = 0; i < count; i++) {
            memcpy(to + i * size, from + i * step * size, size);
        }
    }
}

/* Copies the elements of an input for the block into a buffer, row by row. */
static inline void opkit_copy_rows(const struct opkit_loop *loop,
                                   const struct opkit_loop_input *input, size_t begin, size_t count,
                                   char *to, size_t size)
{
    const size_t last = loop->rank - 1, row = loop->shape[last], step = input->steps[last];
    size_t index[OPKIT_MAX_RANK], offset = 0, rest = begin / row, column = begin % row;

    for (size_t axis = last; axis-- > 0; rest /= loop->shape[axis]) {
        index[axis] = rest % loop->shape[axis];
        offset += index[axis] * input->steps[axis];
    }
    while (count > 0) {
        const size_t length = row - column < count ? row - column : count;

        opkit_copy_row(to, input->data + (offset + column * step) * size, length, step, size);
        to += length * size;
        count -= length;
        column = 0;
        for (size_t axis = last; axis-- > 0;) { /* to the next row */
            offset += input->steps[axis];
            if (++index[axis] < loop->shape[axis]) {
                break;
            }
            offset -= loop->shape[axis] * input->steps[axis];
            index[axis] = 0;
        }
    }
}

/* The same, with a size that the compiler knows. */
OPKIT_LOOP void opkit_copy_elements(const struct opkit_loop *loop,
                                    const struct opkit_loop_input *input, size_t begin,
                                    size_t count, void *to)
{
    switch (opkit_element_size(input->type)) {
    case 1:
        opkit_copy_rows(loop, input, begin, count, (char *)to, 1);
        break;
    case 2:
        opkit_copy_rows(loop, input, begin, count, (char *)to, 2);
        break;
    case 4:
        opkit_copy_rows(loop, input, begin, count, (char *)to, 4);
        break;
    default:
        opkit_copy_rows(loop, input, begin, count, (char *)to, 8);
        break;
    }
}

/*
 * Returns the place of the element of an input at `begin`. Sets `is_row` if the elements of the
 * block follow it in the tensor, and `repeats` if each block that begins there has the same
 * elements.
 */
static inline const char *opkit_find_block(const struct opkit_loop *loop,
                                           const struct opkit_loop_input *input, size_t begin,
                                           size_t count, bool *is_row, bool *repeats)
{
    const size_t size = opkit_element_size(input->type);
    const size_t last = loop->rank - 1, row = loop->shape[last];

    if (input->is_dense) {
        *is_row = true;
        return input->data + begin * size;
    }
    if (last == 0) {
        *repeats = true; /* one element, and no division to find it */
        return input->data;
    }
    const size_t column = begin % row;
    size_t offset = column * input->steps[last], rest = begin / row;
    for (size_t axis = last; axis-- > 0; rest /= loop->shape[axis]) {
        offset += rest % loop->shape[axis] * input->steps[axis];
    }
    const bool is_one_row = column + count <= row;
    *is_row = is_one_row && input->steps[last] == 1;
    *repeats = is_one_row || input->repeats_rows;
    return input->data + offset * size;
}

/*
 * Returns the elements of an input for a block of the output, in a row; halves as floats. They are
 * in the tensor or in the buffer, which keeps elements that the next block repeats.
 */
OPKIT_LOOP const void *opkit_load_block(const struct opkit_loop *loop, size_t index, size_t begin,
                                        size_t count, struct opkit_buffer *buffer)
{
    const struct opkit_loop_input *input = &loop->inputs[index];
    const bool is_half = input->type == OPKIT_FLOAT16;
    bool is_row = false, repeats = false;
    const void *elements = opkit_find_block(loop, input, begin, count, &is_row, &repeats);

    if (!is_row) {
        void *copy = is_half ? (void *)buffer->halves : (void *)&buffer->elements;
        if (repeats && buffer->source == elements && buffer->count >= count) {
            return &buffer->elements;
        }
        buffer->source = repeats ? elements : NULL;
        buffer->count = count;
        opkit_copy_elements(loop, input, begin, count, copy);
        elements = copy;
    }
    if (!is_half) {
        return elements;
    }
    opkit_halves_to_floats((const uint16_t *)elements, buffer->elements.float32, count);
    return buffer->elements.float32;
}

/* Returns the memory for a block of the output: in the tensor, or, for halves, in the buffer. */
static inline void *opkit_output_block(const struct opkit_loop *loop, size_t begin,
                                       struct opkit_buffer *buffer)
{
    if (loop->type == OPKIT_FLOAT16) {
        return buffer->elements.float32;
    }
    return loop->data + begin * opkit_element_size(loop->type);
}

/* Stores a computed block: floats become halves in a tensor of halves. */
static inline void opkit_store_block(const struct opkit_loop *loop, size_t begin, size_t count,
                                     const struct opkit_buffer *buffer)
{
    if (loop->type == OPKIT_FLOAT16) {
        uint16_t *halves = (uint16_t *)(void *)loop->data;
        opkit_floats_to_halves(buffer->elements.float32, halves + begin, count);
    }
}

#endif
