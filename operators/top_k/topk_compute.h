/*
 * The math of TopK: the largest or smallest elements along an axis.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in topk_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16; integer tensors are
 * not converted.
 *
 * A few best elements are a sorted list, into which better ones are inserted. For more of them, the
 * first passes over a long row find a key that at least k elements reach, and not many more: these
 * are sorted. If they are too many, a heap of the k best of them so far has the worst at its root.
 * Most elements are worse than the worst of list or heap, which is found for a block of them at
 * once. The heap is in the memory of `indices`: no allocation.
 */
#ifndef TOPK_COMPUTE_H
#define TOPK_COMPUTE_H

#include "generated/topk.h"
#include "include/opkit/compute/float_bits.h"

enum {
    TOPK_GROUPS = 8, /* of a block: enough for vectors */
    TOPK_BLOCK = 8 * TOPK_GROUPS, /* elements whose keys are computed at once */
    TOPK_LIST = 32, /* best elements in a sorted list */
    TOPK_SAMPLE = 16, /* blocks of a row for the range of its keys, at least */
    TOPK_LONG = 512, /* elements of a row that is worth more passes */
    TOPK_BUCKETS = 2048, /* ranges of keys */
    TOPK_CANDIDATES = 2048 /* sorted without a heap */
};

/* The elements of x along the axis, at one place of the other dimensions. */
struct topk_row {
    const struct opkit_tensor *x;
    size_t first; /* the offset of the first element */
    size_t length;
    size_t pitch; /* from one element to the next in memory; the same in the outputs */
    bool is_smallest;
};

/*
 * Heaps have entries that order elements: a better element has a larger entry. An entry of 64 bits
 * is a key, the element's value in 32 bits, and the complement of its index: of equal elements, the
 * first is better. Elements of int64 do not fit: their entries are indices, which are compared by
 * their elements.
 */
struct topk_heap {
    uint64_t *entries; /* `row->pitch` apart */
    size_t size;
    const struct topk_row *row;
};

/* Returns a key that orders floats: NaN, of either sign, is above infinity; 0 equals -0. */
static inline uint32_t topk_float_key(float x)
{
    const uint32_t bits = opkit_float_bits(x + 0.0F); /* -0 + 0 is 0 */
    const uint32_t negative = 0U - (bits >> 31); /* all bits, or none */

    return x != x ? UINT32_MAX : bits ^ (negative | 0x80000000U);
}

/* Computes the keys of elements, from `start` on. */
static void topk_compute_keys(const struct topk_row *row, size_t start, size_t count,
                              uint32_t *keys)
{
    const size_t first = row->first + start * row->pitch;
    const uint32_t flipped = row->is_smallest ? UINT32_MAX : 0;

    if (row->x->type == OPKIT_INT32) {
        const int32_t *x = row->x->int32 + first;
        for (size_t i = 0; i < count; i++) {
            keys[i] = (uint32_t)x[i * row->pitch] ^ 0x80000000U ^ flipped;
        }
    } else if (row->pitch == 1) {
        const float *x = row->x->float32 + first;
        for (size_t i = 0; i < count; i++) {
            keys[i] = topk_float_key(x[i]) ^ flipped;
        }
    } else {
        const float *x = row->x->float32 + first;
        for (size_t i = 0; i < count; i++) {
            keys[i] = topk_float_key(x[i * row->pitch]) ^ flipped;
        }
    }
}

static inline uint64_t topk_entry(uint32_t key, size_t index)
{
    return (uint64_t)key << 32 | (uint32_t)~(uint32_t)index;
}

/* Whether an entry is worse than another one. */
static inline bool topk_is_worse(const struct topk_row *row, uint64_t one, uint64_t other)
{
    if (row->x->type != OPKIT_INT64) {
        return one < other;
    }
    const int64_t *x = row->x->int64 + row->first;
    const int64_t left = x[one * row->pitch];
    const int64_t right = x[other * row->pitch];
    if (left == right) {
        return one > other;
    }
    return row->is_smallest ? left > right : left < right;
}

/* Puts an entry into the place `hole`, or below: no entry is worse than the one above it. */
static inline void topk_sift(const struct topk_heap *heap, size_t hole, uint64_t entry)
{
    const size_t pitch = heap->row->pitch;

    for (size_t child = 2 * hole + 1; child < heap->size; child = 2 * hole + 1) {
        uint64_t worst = heap->entries[child * pitch];
        if (child + 1 < heap->size) {
            const uint64_t sibling = heap->entries[(child + 1) * pitch];
            const bool is_right = topk_is_worse(heap->row, sibling, worst);
            child += is_right;
            worst = is_right ? sibling : worst;
        }
        if (!topk_is_worse(heap->row, worst, entry)) {
            break;
        }
        heap->entries[hole * pitch] = worst;
        hole = child;
    }
    heap->entries[hole * pitch] = entry;
}

/* Makes a heap of its entries in any order. */
static void topk_order(const struct topk_heap *heap)
{
    for (size_t i = heap->size / 2; i-- > 0;) {
        topk_sift(heap, i, heap->entries[i * heap->row->pitch]);
    }
}

/* Fills a heap with the best elements, by their keys; at least its size of them reach `floor`. */
static void topk_scan_keys(const struct topk_heap *heap, uint32_t floor)
{
    const struct topk_row *row = heap->row;
    uint32_t keys[TOPK_BLOCK];
    size_t found = 0;

    for (size_t start = 0; start < row->length; start += TOPK_BLOCK) {
        const size_t rest = row->length - start;
        const size_t count = rest < TOPK_BLOCK ? rest : (size_t)TOPK_BLOCK;
        uint32_t best = 0;

        topk_compute_keys(row, start, count, keys);
        for (size_t i = 0; i < count; i++) {
            best = keys[i] > best ? keys[i] : best;
        }
        if (found == heap->size && best <= heap->entries[0] >> 32) {
            continue; /* of equal ones, the root is the first */
        }
        for (size_t i = 0; i < count; i++) {
            if (found < heap->size && keys[i] >= floor) {
                heap->entries[found++ * row->pitch] = topk_entry(keys[i], start + i);
                if (found == heap->size) {
                    topk_order(heap);
                }
            } else if (found == heap->size && keys[i] > heap->entries[0] >> 32) {
                topk_sift(heap, 0, topk_entry(keys[i], start + i));
            }
        }
    }
}

/* The same for elements of int64. */
static void topk_scan_int64(const struct topk_heap *heap)
{
    for (size_t i = 0; i < heap->size; i++) {
        heap->entries[i * heap->row->pitch] = i;
    }
    topk_order(heap);
    for (size_t i = heap->size; i < heap->row->length; i++) {
        if (topk_is_worse(heap->row, heap->entries[0], i)) {
            topk_sift(heap, 0, i);
        }
    }
}

/* Sorts the entries, the best first. */
static void topk_sort(struct topk_heap heap)
{
    const size_t pitch = heap.row->pitch;

    while (heap.size > 1) {
        const uint64_t worst = heap.entries[0];

        heap.size--;
        topk_sift(&heap, 0, heap.entries[heap.size * pitch]);
        heap.entries[heap.size * pitch] = worst;
    }
}

/* Inserts an entry, better than the last one, into a list of entries, the best first. */
static inline void topk_insert(uint64_t *list, size_t size, uint64_t entry)
{
    size_t place = size - 1;

    for (; place > 0 && list[place - 1] < entry; place--) {
        list[place] = list[place - 1];
    }
    list[place] = entry;
}

/* Finds a few best elements by a list of their entries. */
static void topk_scan_list(const struct topk_heap *heap)
{
    const struct topk_row *row = heap->row;
    const size_t size = heap->size, last = size - 1;
    uint64_t list[TOPK_LIST];
    uint32_t keys[TOPK_BLOCK];

    for (size_t start = 0; start < row->length; start += TOPK_BLOCK) {
        const size_t rest = row->length - start;
        const size_t count = rest < TOPK_BLOCK ? rest : (size_t)TOPK_BLOCK;
        uint32_t best = UINT32_MAX;
        size_t i = 0;

        topk_compute_keys(row, start, count, keys);
        if (start == 0) {
            for (; i < size; i++) {
                topk_insert(list, i + 1, topk_entry(keys[i], i));
            }
        }
        if (start > 0 || size == 1) {
            best = 0;
            for (size_t j = 0; j < count; j++) {
                best = keys[j] > best ? keys[j] : best;
            }
        }
        uint32_t worst = (uint32_t)(list[last] >> 32);
        if (best <= worst) {
            continue;
        }
        if (size == 1) { /* without branches that are hard to predict */
            int32_t place = TOPK_BLOCK;
            for (int32_t j = 0; j < (int32_t)count; j++) {
                const int32_t at = keys[j] == best ? j : TOPK_BLOCK;
                place = at < place ? at : place;
            }
            list[0] = topk_entry(best, start + (size_t)place);
            continue;
        }
        for (; i < count; i++) {
            if (keys[i] > worst) { /* of equal ones, the first is better */
                topk_insert(list, size, topk_entry(keys[i], start + i));
                worst = (uint32_t)(list[last] >> 32);
            }
        }
    }
    for (size_t i = 0; i < size; i++) {
        heap->entries[i * row->pitch] = list[i];
    }
}

/* Moves the larger of keys that are `count` apart to the first half. */
static inline void topk_fold(uint32_t *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        keys[i] = keys[i + count] > keys[i] ? keys[i + count] : keys[i];
    }
}

/* Computes the best keys of `groups` groups of a block's elements, 8 or all. */
static void topk_compute_groups(const struct topk_row *row, size_t start, size_t groups,
                                uint32_t *keys)
{
    topk_compute_keys(row, start, TOPK_BLOCK, keys);
    if (groups == TOPK_GROUPS) {
        topk_fold(keys, 4 * TOPK_GROUPS);
        topk_fold(keys, 2 * TOPK_GROUPS);
        topk_fold(keys, TOPK_GROUPS);
    }
}

/*
 * Returns a key that at least `count` elements of a row reach, and, in most rows, not many more: 0
 * if there is no better one. A block is TOPK_GROUPS groups of elements if there are enough of them,
 * else each element is a group. The key is the highest start of a bucket that the best elements of
 * `count` groups reach. The buckets share the range of these elements in some of the blocks; the
 * first and the last one are also for keys outside of it.
 */
static uint32_t topk_find_floor(const struct topk_row *row, size_t count)
{
    const size_t blocks = row->length / TOPK_BLOCK;
    const size_t groups =
        blocks * TOPK_GROUPS >= 2 * count ? (size_t)TOPK_GROUPS : (size_t)TOPK_BLOCK;
    uint32_t buckets[TOPK_BUCKETS] = {0}; /* groups, by the upper bits of their best keys */
    uint32_t keys[TOPK_BLOCK], low = UINT32_MAX, high = 0;
    size_t bucket = TOPK_BUCKETS, found = 0;
    unsigned shift = 0;

    if (blocks * groups < count) {
        return 0;
    }
    for (size_t block = 0; block < blocks; block += 1 + blocks / TOPK_SAMPLE) {
        topk_compute_groups(row, block * TOPK_BLOCK, groups, keys);
        for (size_t i = 0; i < groups; i++) {
            low = keys[i] < low ? keys[i] : low;
            high = keys[i] > high ? keys[i] : high;
        }
    }
    while ((high - low) >> shift >= TOPK_BUCKETS) {
        shift++;
    }
    for (size_t block = 0; block < blocks; block++) {
        topk_compute_groups(row, block * TOPK_BLOCK, groups, keys);
        for (size_t i = 0; i < groups; i++) {
            const uint32_t place = keys[i] < low ? 0 : (keys[i] - low) >> shift;
            buckets[place < TOPK_BUCKETS ? place : TOPK_BUCKETS - 1]++;
        }
    }
    while (found < count) {
        found += buckets[--bucket];
    }
    return bucket > 0 ? low + ((uint32_t)bucket << shift) : 0;
}

/* Sorts entries by their keys, the best first, and equal ones in their order: a radix sort. */
static void topk_sort_by_keys(uint64_t *entries, uint64_t *other, size_t count)
{
    for (unsigned shift = 32; shift < 64; shift += 8) { /* 4 times: the result is in `entries` */
        size_t places[256] = {0}, place = 0;
        uint64_t *const sorted = other;

        for (size_t i = 0; i < count; i++) {
            places[(entries[i] >> shift) & 255]++;
        }
        for (size_t digit = 256; digit-- > 0;) {
            const size_t digits = places[digit];
            places[digit] = place;
            place += digits;
        }
        for (size_t i = 0; i < count; i++) {
            sorted[places[(entries[i] >> shift) & 255]++] = entries[i];
        }
        other = entries;
        entries = sorted;
    }
}

/*
 * Finds and sorts the best elements of a row, of which few reach the floor, without a heap. Returns
 * false if there are too many candidates.
 */
static bool topk_select(const struct topk_heap *heap, uint32_t floor)
{
    const struct topk_row *row = heap->row;
    uint64_t entries[TOPK_CANDIDATES + TOPK_BLOCK], other[TOPK_CANDIDATES];
    uint32_t keys[TOPK_BLOCK];
    size_t found = 0;

    if (floor == 0 && (row->length > TOPK_CANDIDATES || row->length > 8 * heap->size)) {
        return false;
    }
    if (heap->size > TOPK_CANDIDATES / 2 && row->length > TOPK_CANDIDATES) {
        return false;
    }
    for (size_t start = 0; start < row->length; start += TOPK_BLOCK) {
        const size_t rest = row->length - start;
        const size_t count = rest < TOPK_BLOCK ? rest : (size_t)TOPK_BLOCK;

        topk_compute_keys(row, start, count, keys);
        for (size_t i = 0; i < count; i++) {
            if (keys[i] >= floor) {
                entries[found++] = topk_entry(keys[i], start + i);
            }
        }
        if (found > TOPK_CANDIDATES) {
            return false;
        }
    }
    topk_sort_by_keys(entries, other, found);
    for (size_t i = 0; i < heap->size; i++) {
        heap->entries[i * row->pitch] = entries[i];
    }
    return true;
}

/* Finds and sorts the best elements of a row by their keys. */
static void topk_run_keys(const struct topk_heap *heap)
{
    const bool is_long = heap->row->length >= TOPK_LONG;
    const uint32_t floor = is_long ? topk_find_floor(heap->row, heap->size) : 0;

    if (!topk_select(heap, floor)) {
        topk_scan_keys(heap, floor);
        topk_sort(*heap);
    }
}

/* Writes elements and indices instead of the entries, from the offset `first` on. */
static void topk_write(const struct topk_heap *heap, struct topk_outputs *outputs, size_t first)
{
    const struct topk_row *row = heap->row;

    for (size_t i = 0; i < heap->size; i++) {
        const uint64_t entry = heap->entries[i * row->pitch];
        const bool is_index = row->x->type == OPKIT_INT64;
        const size_t index = is_index ? (size_t)entry : (uint32_t)~(uint32_t)entry;
        const size_t from = row->first + index * row->pitch;
        const size_t to = first + i * row->pitch;

        outputs->indices.int64[to] = (int64_t)index;
        if (row->x->type == OPKIT_FLOAT32) {
            outputs->values.float32[to] = row->x->float32[from];
        } else if (row->x->type == OPKIT_INT32) {
            outputs->values.int32[to] = row->x->int32[from];
        } else {
            outputs->values.int64[to] = row->x->int64[from];
        }
    }
}

/* Checks params and types; computes the axis. Returns NULL, or an error message. */
static const char *topk_check(const struct opkit_tensor *x, const struct topk_params *params,
                              const struct topk_outputs *outputs, size_t *axis)
{
    const int64_t rank = (int64_t)x->rank;

    if (x->type != OPKIT_FLOAT32 && x->type != OPKIT_INT32 && x->type != OPKIT_INT64) {
        return "x must be float16, float32, int32 or int64";
    }
    if (outputs->values.type != x->type || outputs->indices.type != OPKIT_INT64) {
        return "values must be of the type of x, and indices int64";
    }
    if (params->axis < -rank || params->axis >= rank) {
        return "axis must be a dimension of x: from -rank to rank - 1";
    }
    *axis = (size_t)(params->axis < 0 ? params->axis + rank : params->axis);
    if (params->k < 1 || (uint64_t)params->k > x->shape[*axis]) {
        return "k must be 1 or more, and at most the length of the axis";
    }
    if (x->shape[*axis] > UINT32_MAX) {
        return "the axis must have less than 2^32 elements";
    }
    if (params->largest != 0 && params->largest != 1) {
        return "largest must be 0 or 1";
    }
    return params->sorted == 0 || params->sorted == 1 ? NULL : "sorted must be 0 or 1";
}

/*
 * Computes the outputs:
 *
 *   inputs->x           any shape
 *   params->k           the number of elements
 *   params->axis        the axis; negative: counted from the last one
 *   params->largest     1: the largest elements; 0: the smallest
 *   params->sorted      1: the best first; 0: in any order, here also the best first
 *   outputs->values     the elements: the shape of x, with k along the axis
 *   outputs->indices    their indices along the axis
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *topk_compute(const struct topk_inputs *inputs, const struct topk_params *params,
                                struct topk_outputs *outputs)
{
    const struct opkit_tensor *x = &inputs->x;
    size_t axis;

    const char *problem = topk_check(x, params, outputs, &axis);
    if (problem != NULL) {
        return problem;
    }

    const size_t k = (size_t)params->k;
    struct topk_row row;
    row.x = x;
    row.length = x->shape[axis];
    row.pitch = 1;
    row.is_smallest = params->largest == 0;
    for (size_t i = axis + 1; i < x->rank; i++) {
        row.pitch *= x->shape[i];
    }
    const size_t blocks = x->size / (row.length * row.pitch);
    if (outputs->values.size != blocks * k * row.pitch ||
        outputs->indices.size != outputs->values.size) {
        return "values and indices must have the shape of x, with k along the axis";
    }
    for (size_t block = 0; block < blocks; block++) {
        for (size_t column = 0; column < row.pitch; column++) {
            const size_t first = block * k * row.pitch + column;
            const struct topk_heap heap = {(uint64_t *)outputs->indices.data + first, k, &row};

            row.first = block * row.length * row.pitch + column;
            if (x->type != OPKIT_INT64 && k <= TOPK_LIST) {
                topk_scan_list(&heap);
            } else if (x->type == OPKIT_INT64) {
                topk_scan_int64(&heap);
                topk_sort(heap);
            } else {
                topk_run_keys(&heap);
            }
            topk_write(&heap, outputs, first);
        }
    }
    return NULL;
}

#endif
