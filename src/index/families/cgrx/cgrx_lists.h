/* Lists of nodes, which hold the entries of an index with updates=on.
 *
 * The entries have positions 0 .. n - 1 in (key, row id) order. List b owns positions starts[b] .. starts[b +
 * 1] - 1. It begins in node b and goes on by next[]. A node has `node` slots: slot s is entry s % node of
 * node s / node. With apply=merge all nodes of a list except the last are full; with apply=split a node has
 * its first sizes[] slots filled: none only in an empty list, which has one node. */
#ifndef KEYRAY_INDEX_FAMILIES_CGRX_CGRX_LISTS_H
#define KEYRAY_INDEX_FAMILIES_CGRX_CGRX_LISTS_H

#include "base/program/lang.h"

enum { CGRX_LISTS_STRIDE = 16 };
#define CGRX_NO_NODE 0xFFFFFFFFu

typedef struct cgrx_lists {
    const uint32_t *starts; /* n + 1; NULL: there are no lists, position p is slot p */
    const uint32_t *hints;  /* the list of every CGRX_LISTS_STRIDE-th position, then list n - 1 */
    const uint32_t *next;   /* of a node, or CGRX_NO_NODE */
    const uint32_t *sizes;  /* entries of a node; NULL: all but the last of a list are full */
    uint32_t n;
    uint32_t node; /* slots of one node */
} cgrx_lists;
kr_assert_size(cgrx_lists, 40);

/* Entries of a node; of the last of a list at least as many. */
KR_BODY uint32_t cgrx_node_fill(const cgrx_lists *lists, uint32_t node)
{
    return lists->sizes ? kr_load(lists->sizes + node) : lists->node;
}

/* The list of an existing position: the last list that starts at or before it. */
KR_BODY uint32_t cgrx_list_of(const cgrx_lists *lists, uint64_t position)
{
    uint32_t low = kr_load(lists->hints + position / CGRX_LISTS_STRIDE);
    uint32_t high = kr_load(lists->hints + position / CGRX_LISTS_STRIDE + 1);
    while (low < high) {
        const uint32_t middle = low + (high - low + 1) / 2;
        if (kr_load(lists->starts + middle) <= position)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* The slot of the entry that lies `at` places behind the first of list b. */
KR_BODY uint64_t cgrx_list_slot(const cgrx_lists *lists, uint32_t b, uint32_t at)
{
    uint32_t node = b;
    for (uint32_t fill; at >= (fill = cgrx_node_fill(lists, node)); at -= fill)
        node = kr_load(lists->next + node);
    return (uint64_t)node * lists->node + at;
}

/* The slot of an existing position. */
KR_BODY uint64_t cgrx_lists_slot(const cgrx_lists *lists, uint64_t position)
{
    if (!lists->starts)
        return position;
    const uint32_t b = cgrx_list_of(lists, position);
    return cgrx_list_slot(lists, b, (uint32_t)(position - kr_load(lists->starts + b)));
}

#endif
