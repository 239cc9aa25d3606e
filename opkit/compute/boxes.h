/*
 * Boxes in the order of their scores, and how much they overlap, for operators that keep the best.
 *
 * Candidates are a heap, from which the best one is taken until there are enough. It is compared
 * with the selected boxes: these have an array for each coordinate, so that loops have vectors.
 *
 * Plain C11 and C++11.
 */
#ifndef OPKIT_BOXES_H
#define OPKIT_BOXES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "float_bits.h"

enum {
    OPKIT_BOXES = 16 /* selected boxes that a loop compares before it looks at the result */
};

struct opkit_box {
    float left, top, right, bottom;
    float area;
};

/* Boxes that were selected. */
struct opkit_boxes {
    size_t count;
    float *memory; /* of all arrays */
    float *left, *top, *right, *bottom, *area;
};

static inline float opkit_lower(float one, float other)
{
    return one < other ? one : other;
}

static inline float opkit_higher(float one, float other)
{
    return one > other ? one : other;
}

/* Returns the box between two opposite corners. Each statement has one operation: none is fused. */
static inline struct opkit_box opkit_box_of(float x, float y, float other_x, float other_y)
{
    struct opkit_box box;

    box.left = opkit_lower(x, other_x);
    box.right = opkit_higher(x, other_x);
    box.top = opkit_lower(y, other_y);
    box.bottom = opkit_higher(y, other_y);
    const float width = box.right - box.left;
    const float height = box.bottom - box.top;
    box.area = width * height;
    return box;
}

/* Returns the intersection over union of a box and a selected one; 0 for boxes without area. */
static inline float opkit_overlap(const struct opkit_box *box, const struct opkit_boxes *boxes,
                                  size_t i)
{
    const float width =
        opkit_lower(box->right, boxes->right[i]) - opkit_higher(box->left, boxes->left[i]);
    const float height =
        opkit_lower(box->bottom, boxes->bottom[i]) - opkit_higher(box->top, boxes->top[i]);
    const float common = width * height;
    const float sum = box->area + boxes->area[i];
    const float total = sum - common;
    const bool is_valid = (width > 0.0F) & (height > 0.0F) & (common > 0.0F) & (total > 0.0F) &
                          (box->area > 0.0F) & (boxes->area[i] > 0.0F);
    const float quotient = common / (total > 0.0F ? total : 1.0F);

    return is_valid ? quotient : 0.0F;
}

/* Allocates arrays for `count` boxes. Returns whether there was memory. */
static inline bool opkit_allocate_boxes(struct opkit_boxes *boxes, size_t count)
{
    boxes->count = 0;
    boxes->memory = (float *)malloc((5 * count + 1) * sizeof *boxes->memory);
    boxes->left = boxes->memory;
    boxes->top = boxes->left + count;
    boxes->right = boxes->top + count;
    boxes->bottom = boxes->right + count;
    boxes->area = boxes->bottom + count;
    return boxes->memory != NULL;
}

/* Adds a box to the selected ones. */
static inline void opkit_select_box(struct opkit_boxes *boxes, const struct opkit_box *box)
{
    boxes->left[boxes->count] = box->left;
    boxes->top[boxes->count] = box->top;
    boxes->right[boxes->count] = box->right;
    boxes->bottom[boxes->count] = box->bottom;
    boxes->area[boxes->count++] = box->area;
}

/* ---- Candidates: of equal scores, the first one is better ---- */

/* Returns a candidate as a number: a better one is larger. */
static inline uint64_t opkit_candidate(float score, uint32_t index)
{
    const uint32_t bits = opkit_float_bits(score + 0.0F); /* -0 + 0 is 0 */
    const uint32_t key = bits ^ ((0U - (bits >> 31)) | 0x80000000U); /* orders floats */

    return (uint64_t)key << 32 | (uint32_t)~index;
}

/* Puts an entry into the place `hole`, or below: no entry is better than the one above it. */
static inline void opkit_sift_candidate(uint64_t *heap, size_t count, size_t hole, uint64_t entry)
{
    for (size_t child = 2 * hole + 1; child < count; child = 2 * hole + 1) {
        child += child + 1 < count && heap[child + 1] > heap[child];
        if (heap[child] <= entry) {
            break;
        }
        heap[hole] = heap[child];
        hole = child;
    }
    heap[hole] = entry;
}

/* Makes a heap of candidates. */
static inline void opkit_heap_candidates(uint64_t *heap, size_t count)
{
    for (size_t i = count / 2; i-- > 0;) {
        opkit_sift_candidate(heap, count, i, heap[i]);
    }
}

/* Takes the best candidate from a heap; returns its index. */
static inline uint32_t opkit_take_candidate(uint64_t *heap, size_t *count)
{
    const uint64_t best = heap[0];

    --*count;
    opkit_sift_candidate(heap, *count, 0, heap[*count]);
    return (uint32_t)~(uint32_t)best;
}

#endif
