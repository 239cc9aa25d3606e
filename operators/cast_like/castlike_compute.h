/*
 * The math of CastLike: the elements of a tensor in the type of another one.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in castlike_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16; booleans are 0 or 1.
 */
#ifndef CASTLIKE_COMPUTE_H
#define CASTLIKE_COMPUTE_H

#include <string.h>

#include "generated/castlike.h"
#include "include/opkit/compute/parallel.h"

enum {
    CASTLIKE_BLOCK = 512, /* elements that are converted at a time */
    CASTLIKE_GRAIN = 16384 /* elements worth a thread */
};

struct castlike_task {
    const struct opkit_tensor *x, *y;
};

/* Returns a float without its fraction, within limits; NaN is 0. */
static inline int64_t castlike_whole(float x, int64_t low, int64_t high)
{
    if (x != x) {
        return 0;
    }
    if (x <= (float)low) {
        return low;
    }
    return x >= (float)high ? high : (int64_t)x;
}

/* Reads elements as integers. */
static void castlike_load(const struct castlike_task *task, size_t first, size_t count,
                          int64_t *numbers)
{
    const struct opkit_tensor *x = task->x;
    const bool is_wide = task->y->type == OPKIT_INT64;
    const int64_t low = is_wide ? INT64_MIN : INT32_MIN, high = is_wide ? INT64_MAX : INT32_MAX;

    switch (x->type) {
    case OPKIT_INT8:
        for (size_t i = 0; i < count; i++) {
            numbers[i] = x->int8[first + i];
        }
        break;
    case OPKIT_UINT8:
        for (size_t i = 0; i < count; i++) {
            numbers[i] = x->uint8[first + i];
        }
        break;
    case OPKIT_INT16:
        for (size_t i = 0; i < count; i++) {
            numbers[i] = x->int16[first + i];
        }
        break;
    case OPKIT_UINT16:
        for (size_t i = 0; i < count; i++) {
            numbers[i] = x->uint16[first + i];
        }
        break;
    case OPKIT_INT32:
        for (size_t i = 0; i < count; i++) {
            numbers[i] = x->int32[first + i];
        }
        break;
    case OPKIT_UINT32:
        for (size_t i = 0; i < count; i++) {
            numbers[i] = x->uint32[first + i];
        }
        break;
    case OPKIT_INT64:
        for (size_t i = 0; i < count; i++) {
            numbers[i] = x->int64[first + i];
        }
        break;
    default:
        for (size_t i = 0; i < count; i++) {
            numbers[i] = castlike_whole(x->float32[first + i], low, high);
        }
        break;
    }
}

/* Writes integers; those of int32 lose their upper bits. */
static void castlike_store(const struct castlike_task *task, size_t first, size_t count,
                           const int64_t *numbers)
{
    const struct opkit_tensor *y = task->y;

    if (y->type == OPKIT_FLOAT32) {
        float *floats = y->float32 + first;

        for (size_t i = 0; i < count; i++) {
            floats[i] = (float)numbers[i];
        }
    } else if (y->type == OPKIT_INT32) {
        int32_t *whole = y->int32 + first;

        for (size_t i = 0; i < count; i++) {
            whole[i] = (int32_t)(uint32_t)numbers[i];
        }
    } else {
        memcpy(y->int64 + first, numbers, count * sizeof *numbers);
    }
}

/* Converts the most frequent integers, in vectors: those of int64 as floats are not. */
static inline void castlike_floats(const int32_t *x, size_t count, float *y)
{
    for (size_t i = 0; i < count; i++) {
        y[i] = (float)x[i];
    }
}

/* Converts some elements. */
static void castlike_part(const void *context, size_t begin, size_t end)
{
    const struct castlike_task *task = (const struct castlike_task *)context;
    int64_t numbers[CASTLIKE_BLOCK];

    if (task->x->type == OPKIT_INT32 && task->y->type == OPKIT_FLOAT32) {
        castlike_floats(task->x->int32 + begin, end - begin, task->y->float32 + begin);
        return;
    }
    for (size_t count; begin < end; begin += count) {
        count = end - begin < CASTLIKE_BLOCK ? end - begin : (size_t)CASTLIKE_BLOCK;
        castlike_load(task, begin, count, numbers);
        castlike_store(task, begin, count, numbers);
    }
}

/*
 * Computes the outputs:
 *
 *   inputs->input          any shape
 *   inputs->target_type    a tensor of the type of output; it is not read
 *   outputs->output        the shape of input
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *castlike_compute(const struct castlike_inputs *inputs,
                                    const struct castlike_params *params,
                                    struct castlike_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->input, *y = &outputs->output;
    const struct castlike_task task = {x, y};

    (void)params->saturate; /* of types that runtimes lack */
    (void)params->round_mode;
    if (y->type != OPKIT_FLOAT32 && y->type != OPKIT_INT32 && y->type != OPKIT_INT64) {
        return "target_type must be float16, float32, int32 or int64";
    }
    if (y->size != x->size) {
        return "output must have the shape of input";
    }
    if (x->type == y->type) {
        memcpy(y->data, x->data, x->size * opkit_element_size(x->type));
        return NULL;
    }
    opkit_parallel_for(x->size, CASTLIKE_GRAIN, castlike_part, &task);
    return NULL;
}

#endif
