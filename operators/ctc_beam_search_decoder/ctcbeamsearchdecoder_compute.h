/*
 * The math of CTCBeamSearchDecoder: the most probable labels of a sequence of scores.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in ctcbeamsearchdecoder_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements
 * in all. Floating-point tensors are arrays of float, also if the model has float16.
 *
 * Prefixes are nodes of a tree, so that equal ones are the same node. The best candidates of a
 * position are a heap with the worst one at its root: all others are compared with that alone.
 */
#ifndef CTCBEAMSEARCHDECODER_COMPUTE_H
#define CTCBEAMSEARCHDECODER_COMPUTE_H

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "generated/ctcbeamsearchdecoder.h"

#define CTCBEAMSEARCHDECODER_NONE SIZE_MAX /* no node, no place in the beam */

/* A prefix: that of its parent, and a label. */
struct ctcbeamsearchdecoder_node {
    size_t parent, label;
    size_t child, sibling; /* the newest child, and the next older one of the parent's */
    size_t place; /* in the beam */
};

/* A prefix in the beam, or a candidate for the next one. Probabilities are logarithms. */
struct ctcbeamsearchdecoder_entry {
    size_t node; /* of a new prefix, the parent */
    size_t label; /* of a new prefix; NONE: the prefix stays */
    size_t order; /* of candidates: of equal ones, the earlier is better */
    double blank, other; /* of paths that end with a blank, and of the others */
    double total;
};

/* The search of one sequence after another. */
struct ctcbeamsearchdecoder_search {
    size_t classes, blank, width;
    double *row; /* the logarithms of the classes' probabilities */
    struct ctcbeamsearchdecoder_entry *beam, *next; /* the best first; a heap */
    size_t count, candidates; /* in the beam; so far */
    size_t filled; /* entries of the heap */
    struct ctcbeamsearchdecoder_node *nodes; /* the first one is the empty prefix */
    size_t node_count;
};

/* Returns the logarithm of the sum of two probabilities. */
static double ctcbeamsearchdecoder_add(double one, double other)
{
    const double high = one > other ? one : other, low = one > other ? other : one;

    return low > -HUGE_VAL ? high + log1p(exp(low - high)) : high;
}

/* Computes the logarithms of the probabilities of a position. */
static void ctcbeamsearchdecoder_normalize(struct ctcbeamsearchdecoder_search *search,
                                           const float *x)
{
    double max = -(double)FLT_MAX, sum = 0.0;

    for (size_t i = 0; i < search->classes; i++) {
        const float low = x[i] > -FLT_MAX ? x[i] : -FLT_MAX; /* also NaN */

        search->row[i] = (double)(low < FLT_MAX ? low : FLT_MAX);
        max = search->row[i] > max ? search->row[i] : max;
    }
    for (size_t i = 0; i < search->classes; i++) {
        search->row[i] -= max;
        sum += exp(search->row[i]);
    }
    sum = log(sum);
    for (size_t i = 0; i < search->classes; i++) {
        search->row[i] -= sum;
    }
}

/* Whether a candidate is worse than another. */
static bool ctcbeamsearchdecoder_is_worse(const struct ctcbeamsearchdecoder_entry *one,
                                          const struct ctcbeamsearchdecoder_entry *other)
{
    return one->total < other->total || (one->total == other->total && one->order > other->order);
}

/* Puts an entry into the heap at the place `hole`, or below. */
static void ctcbeamsearchdecoder_sift(struct ctcbeamsearchdecoder_entry *heap, size_t count,
                                      size_t hole, const struct ctcbeamsearchdecoder_entry *entry)
{
    for (size_t child = 2 * hole + 1; child < count; child = 2 * hole + 1) {
        child += child + 1 < count && ctcbeamsearchdecoder_is_worse(&heap[child + 1], &heap[child]);
        if (!ctcbeamsearchdecoder_is_worse(&heap[child], entry)) {
            break;
        }
        heap[hole] = heap[child];
        hole = child;
    }
    heap[hole] = *entry;
}

/* Keeps a candidate if it is one of the best ones. */
static void ctcbeamsearchdecoder_offer(struct ctcbeamsearchdecoder_search *search, size_t node,
                                       size_t label, double blank, double other)
{
    struct ctcbeamsearchdecoder_entry *heap = search->next;
    const struct ctcbeamsearchdecoder_entry entry = {
        node, label, search->candidates++, blank, other, ctcbeamsearchdecoder_add(blank, other)};

    if (search->filled == search->width) {
        if (ctcbeamsearchdecoder_is_worse(heap, &entry)) {
            ctcbeamsearchdecoder_sift(heap, search->filled, 0, &entry);
        }
        return;
    }
    size_t hole = search->filled++;
    for (; hole > 0 && ctcbeamsearchdecoder_is_worse(&entry, &heap[(hole - 1) / 2]);
         hole = (hole - 1) / 2) {
        heap[hole] = heap[(hole - 1) / 2];
    }
    heap[hole] = entry;
}

/* Returns the logarithm of the probability of a prefix that a label extends. */
static double ctcbeamsearchdecoder_extend(const struct ctcbeamsearchdecoder_search *search,
                                          const struct ctcbeamsearchdecoder_entry *entry,
                                          size_t label)
{
    const bool is_last = entry->node > 0 && search->nodes[entry->node].label == label;

    return (is_last ? entry->blank : entry->total) + search->row[label];
}

/* Offers the prefixes of the beam that stay. */
static void ctcbeamsearchdecoder_stay(struct ctcbeamsearchdecoder_search *search)
{
    for (size_t i = 0; i < search->count; i++) {
        const struct ctcbeamsearchdecoder_entry *entry = &search->beam[i];
        double again = -HUGE_VAL;

        if (entry->node > 0) {
            const struct ctcbeamsearchdecoder_node *node = &search->nodes[entry->node];
            const size_t place = search->nodes[node->parent].place;

            again = entry->other + search->row[node->label];
            if (place != CTCBEAMSEARCHDECODER_NONE) {
                again = ctcbeamsearchdecoder_add(
                    again, ctcbeamsearchdecoder_extend(search, &search->beam[place], node->label));
            }
        }
        ctcbeamsearchdecoder_offer(search, entry->node, CTCBEAMSEARCHDECODER_NONE,
                                   entry->total + search->row[search->blank], again);
    }
}

/* Returns the child of a node with a label, or NONE. */
static size_t ctcbeamsearchdecoder_child(const struct ctcbeamsearchdecoder_search *search,
                                         size_t node, size_t label)
{
    size_t child = search->nodes[node].child;

    while (child != CTCBEAMSEARCHDECODER_NONE && search->nodes[child].label != label) {
        child = search->nodes[child].sibling;
    }
    return child;
}

/* Whether a prefix that a label extends is in the beam, where it stays. */
static bool ctcbeamsearchdecoder_is_there(const struct ctcbeamsearchdecoder_search *search,
                                          size_t node, size_t label)
{
    const size_t child = ctcbeamsearchdecoder_child(search, node, label);

    return child != CTCBEAMSEARCHDECODER_NONE &&
           search->nodes[child].place != CTCBEAMSEARCHDECODER_NONE;
}

/* Offers the prefixes of the beam, each extended by each label. */
static void ctcbeamsearchdecoder_grow(struct ctcbeamsearchdecoder_search *search)
{
    for (size_t i = 0; i < search->count; i++) {
        const struct ctcbeamsearchdecoder_entry *entry = &search->beam[i];

        for (size_t label = 0; label < search->classes; label++) {
            const double grown = ctcbeamsearchdecoder_extend(search, entry, label);
            const bool is_full = search->filled == search->width;

            /* Of equal candidates, the earlier one is better: that in the heap. */
            if (label != search->blank && grown > (is_full ? search->next[0].total : -HUGE_VAL) &&
                !ctcbeamsearchdecoder_is_there(search, entry->node, label)) {
                ctcbeamsearchdecoder_offer(search, entry->node, label, -HUGE_VAL, grown);
            }
        }
    }
}

/* Makes the beam of the best candidates: the best first. */
static void ctcbeamsearchdecoder_choose(struct ctcbeamsearchdecoder_search *search)
{
    for (size_t i = 0; i < search->count; i++) {
        search->nodes[search->beam[i].node].place = CTCBEAMSEARCHDECODER_NONE;
    }
    search->count = search->filled;
    while (search->filled > 0) {
        struct ctcbeamsearchdecoder_entry entry = search->next[0];

        search->filled--;
        ctcbeamsearchdecoder_sift(search->next, search->filled, 0, &search->next[search->filled]);
        if (entry.label != CTCBEAMSEARCHDECODER_NONE) {
            const size_t parent = entry.node;

            entry.node = ctcbeamsearchdecoder_child(search, parent, entry.label);
            if (entry.node == CTCBEAMSEARCHDECODER_NONE) {
                const struct ctcbeamsearchdecoder_node node = {
                    parent, entry.label, CTCBEAMSEARCHDECODER_NONE, search->nodes[parent].child,
                    CTCBEAMSEARCHDECODER_NONE};

                entry.node = search->node_count++;
                search->nodes[entry.node] = node;
                search->nodes[parent].child = entry.node;
            }
        }
        search->nodes[entry.node].place = search->filled;
        search->beam[search->filled] = entry;
    }
}

/* Searches the prefixes of a sequence. */
static void ctcbeamsearchdecoder_run(struct ctcbeamsearchdecoder_search *search, const float *data,
                                     size_t length)
{
    const struct ctcbeamsearchdecoder_node root = {
        CTCBEAMSEARCHDECODER_NONE, CTCBEAMSEARCHDECODER_NONE, CTCBEAMSEARCHDECODER_NONE,
        CTCBEAMSEARCHDECODER_NONE, 0};
    const struct ctcbeamsearchdecoder_entry start = {
        0, CTCBEAMSEARCHDECODER_NONE, 0, 0.0, -HUGE_VAL, 0.0};

    search->nodes[0] = root;
    search->node_count = 1;
    search->beam[0] = start;
    search->count = 1;
    for (size_t i = 0; i < length; i++) {
        ctcbeamsearchdecoder_normalize(search, data + i * search->classes);
        search->candidates = search->filled = 0;
        ctcbeamsearchdecoder_stay(search);
        ctcbeamsearchdecoder_grow(search);
        ctcbeamsearchdecoder_choose(search);
    }
}

/* Writes the labels of a node, and -1 behind them. Returns their number. */
static size_t ctcbeamsearchdecoder_write(const struct ctcbeamsearchdecoder_search *search,
                                         size_t node, int32_t *labels, size_t columns)
{
    size_t count = 0;

    for (size_t i = node; i > 0; i = search->nodes[i].parent) {
        count++;
    }
    for (size_t i = count; i > 0; node = search->nodes[node].parent) {
        labels[--i] = (int32_t)search->nodes[node].label;
    }
    for (size_t i = count; i < columns; i++) {
        labels[i] = -1;
    }
    return count;
}

/* Checks tensors and params. Returns NULL, or an error message. */
static const char *ctcbeamsearchdecoder_check(const struct ctcbeamsearchdecoder_inputs *inputs,
                                              const struct ctcbeamsearchdecoder_params *params,
                                              const struct ctcbeamsearchdecoder_outputs *outputs)
{
    const struct opkit_tensor *data = &inputs->data, *lengths = &inputs->sequence_length;
    const size_t paths = data->shape[0] * (size_t)params->top_paths;

    if (data->type != OPKIT_FLOAT32) {
        return "data must be float16 or float32";
    }
    if (data->rank != 3 || data->shape[2] < 1 || data->shape[2] > INT32_MAX) {
        return "data must be [N, T, classes]";
    }
    if (params->blank_index < -1 || params->blank_index >= (int64_t)data->shape[2]) {
        return "blank_index must be -1 or a class";
    }
    if (params->top_paths > params->beam_width) {
        return "top_paths must be at most beam_width";
    }
    if (lengths->type != OPKIT_INT32 || lengths->rank != 1 || lengths->size != data->shape[0]) {
        return "sequence_length must be [N]";
    }
    for (size_t i = 0; i < lengths->size; i++) {
        if (lengths->int32[i] < 0 || (size_t)lengths->int32[i] > data->shape[1]) {
            return "sequence_length must be from 0 to T";
        }
    }
    return outputs->classes_index.type == OPKIT_INT32 && outputs->count.type == OPKIT_INT32 &&
                   outputs->log_probability.type == OPKIT_FLOAT32 &&
                   outputs->classes_index.size == paths * data->shape[1] &&
                   outputs->count.size == paths && outputs->log_probability.size == paths
               ? NULL
               : "classes_index must be [N, top_paths, T], and count and log_probability "
                 "[N, top_paths]";
}

/* Searches each sequence, and writes its best prefixes. */
static void ctcbeamsearchdecoder_all(struct ctcbeamsearchdecoder_search *search,
                                     const struct ctcbeamsearchdecoder_inputs *inputs, size_t paths,
                                     struct ctcbeamsearchdecoder_outputs *outputs)
{
    const size_t columns = inputs->data.shape[1];

    for (size_t i = 0; i < inputs->data.shape[0]; i++) {
        ctcbeamsearchdecoder_run(search, inputs->data.float32 + i * columns * search->classes,
                                 (size_t)inputs->sequence_length.int32[i]);
        for (size_t j = 0; j < paths; j++) {
            const size_t path = i * paths + j;
            const bool is_there = j < search->count;
            const size_t node = is_there ? search->beam[j].node : 0;

            outputs->count.int32[path] = (int32_t)ctcbeamsearchdecoder_write(
                search, node, outputs->classes_index.int32 + path * columns, columns);
            outputs->log_probability.float32[path] =
                is_there ? (float)search->beam[j].total : -HUGE_VALF;
        }
    }
}

/*
 * Computes the outputs:
 *
 *   inputs->data                logits or log-probabilities, [N, T, classes]
 *   inputs->sequence_length     the positions of each sequence, [N]
 *   params->beam_width          the prefixes that are kept at each position
 *   params->top_paths           the results, at most beam_width
 *   params->blank_index         the class that is no label; -1: the last one
 *   outputs->classes_index      [N, top_paths, T]: the labels of each result; then -1
 *   outputs->count              [N, top_paths]: the number of labels
 *   outputs->log_probability    [N, top_paths]; -inf: no result
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *ctcbeamsearchdecoder_compute(const struct ctcbeamsearchdecoder_inputs *inputs,
                                                const struct ctcbeamsearchdecoder_params *params,
                                                struct ctcbeamsearchdecoder_outputs *outputs)
{
    struct ctcbeamsearchdecoder_search search;

    const char *problem = ctcbeamsearchdecoder_check(inputs, params, outputs);
    if (problem != NULL) {
        return problem;
    }

    search.classes = inputs->data.shape[2];
    search.blank = params->blank_index < 0 ? search.classes - 1 : (size_t)params->blank_index;
    search.width = (size_t)params->beam_width;
    const size_t nodes = search.width * inputs->data.shape[1] + 1;
    search.row = (double *)malloc(search.classes * sizeof *search.row);
    search.beam =
        (struct ctcbeamsearchdecoder_entry *)malloc(2 * search.width * sizeof *search.beam);
    search.nodes = (struct ctcbeamsearchdecoder_node *)malloc(nodes * sizeof *search.nodes);
    if (search.row != NULL && search.beam != NULL && search.nodes != NULL) {
        search.next = search.beam + search.width;
        ctcbeamsearchdecoder_all(&search, inputs, (size_t)params->top_paths, outputs);
    } else {
        problem = "out of memory";
    }
    free(search.row);
    free(search.beam);
    free(search.nodes);
    return problem;
}

#endif
