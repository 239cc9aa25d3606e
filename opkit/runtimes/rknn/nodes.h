/*
 * Memory that each node of a CPU kernel keeps between its calls.
 *
 * The nodes are in a list of this library, because OpenVX's own place for data of a node,
 * VX_NODE_LOCAL_DATA_PTR, is free for the hooks: the driver frees whatever it refers to. The list
 * has a lock, because nodes of several graphs may run at the same time. It is empty after the last
 * node is released.
 */
#ifndef OPKIT_NODES_H
#define OPKIT_NODES_H

#include <stdbool.h>
#include <stdlib.h>

#include <VX/vx.h>

#include "../../compute/half.h"
#include "../../compute/half_table.h"
#include "../../compute/scratch.h"

/* A node, between its initializer and its deinitializer. OpenVX runs it once at a time. */
struct opkit_node {
    struct opkit_node *next;
    vx_node handle;
    struct opkit_scratch tensors; /* the elements of all tensors */
    struct opkit_half_table table; /* the results of an elementwise function */
};

static struct {
    bool is_locked;
    struct opkit_node *first;
} opkit_nodes;

static inline void opkit_lock_nodes(void)
{
    while (__atomic_test_and_set(&opkit_nodes.is_locked, __ATOMIC_ACQUIRE)) {
    }
}

static inline void opkit_unlock_nodes(void)
{
    __atomic_clear(&opkit_nodes.is_locked, __ATOMIC_RELEASE);
}

/* Returns the address of the link to a node; the link is NULL if not found. Requires the lock. */
static inline struct opkit_node **opkit_find_link(vx_node handle)
{
    struct opkit_node **link = &opkit_nodes.first;

    while (*link != NULL && (*link)->handle != handle) {
        link = &(*link)->next;
    }
    return link;
}

/* Returns a node, or NULL if its kernel did not add it. */
OPKIT_SMALL struct opkit_node *opkit_find_node(vx_node handle)
{
    opkit_lock_nodes();
    struct opkit_node *node = *opkit_find_link(handle);
    opkit_unlock_nodes();
    return node;
}

/* Returns the table of a node, or NULL if its kernel did not add the node. */
static inline struct opkit_half_table *opkit_find_table(vx_node handle)
{
    struct opkit_node *node = opkit_find_node(handle);

    return node != NULL ? &node->table : NULL;
}

/*
 * Adds a node, unless it is in the list: after a verification that failed, the driver initializes a
 * node again. Out of memory it adds nothing, and each call of the kernel allocates.
 */
OPKIT_SMALL void opkit_add_node(vx_node handle)
{
    struct opkit_node *node = (struct opkit_node *)calloc(1, sizeof *node);

    if (node == NULL) {
        return;
    }
    node->handle = handle;
    opkit_lock_nodes();
    struct opkit_node **link = opkit_find_link(handle);
    const bool is_new = *link == NULL;
    if (is_new) {
        *link = node;
    }
    opkit_unlock_nodes();
    if (!is_new) {
        free(node);
    }
}

/* Removes a node, if it is in the list, and frees its memory. */
OPKIT_SMALL void opkit_remove_node(vx_node handle)
{
    opkit_lock_nodes();
    struct opkit_node **link = opkit_find_link(handle);
    struct opkit_node *node = *link;
    if (node != NULL) {
        *link = node->next;
    }
    opkit_unlock_nodes();
    if (node != NULL) {
        opkit_release_scratch(&node->tensors);
        opkit_release_half_table(&node->table);
        free(node);
    }
}

#endif
