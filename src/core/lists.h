/* Where the entry of a position lies: in lists of nodes where rows come and go, or in a search tree.
 *
 * An index's entries have positions 0 .. n - 1 in (key, row id) order. In a plain index position p is slot p
 * of its arrays. In Eytzinger order it is the entry of rank p. With lists, nodes of `node` slots hold them:
 * list b owns positions starts[b] .. starts[b + 1] - 1 and begins in node b, next[] leads on, and every node
 * of a list but its last is full. Slot s is entry s % node of node s / node. */
#ifndef KEYRAY_CORE_LISTS_H
#define KEYRAY_CORE_LISTS_H

#include "core/eytzinger.h"

enum { KR_LISTS_STRIDE = 16 };
#define KR_NO_NODE 0xFFFFFFFFu

typedef struct kr_lists {
    const uint32_t *starts; /* n + 1; NULL: there are no lists, `tree` says what slot a position is */
    const uint32_t *hints;  /* of every KR_LISTS_STRIDE-th position its list, and behind them list n - 1 */
    const uint32_t *next;   /* of a node, or KR_NO_NODE */
    uint32_t n;
    uint32_t node;     /* slots of one node */
    kr_eytzinger tree; /* k 0: position p is slot p */
} kr_lists;
kr_assert_size(kr_lists, 56);

/* The list of a position that is taken: the last one that starts at or before it. */
KR_BODY uint32_t kr_list_of(const kr_lists *lists, uint64_t position)
{
    uint32_t low = kr_load(lists->hints + position / KR_LISTS_STRIDE);
    uint32_t high = kr_load(lists->hints + position / KR_LISTS_STRIDE + 1);
    while (low < high) {
        const uint32_t middle = low + (high - low + 1) / 2;
        if (kr_load(lists->starts + middle) <= position)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* The slot of the entry that stands `at` places behind the first of list b. */
KR_BODY uint64_t kr_list_slot(const kr_lists *lists, uint32_t b, uint32_t at)
{
    uint32_t node = b;
    for (; at >= lists->node; at -= lists->node)
        node = kr_load(lists->next + node);
    return (uint64_t)node * lists->node + at;
}

/* The slot of a position that is taken. */
KR_BODY uint64_t kr_lists_slot(const kr_lists *lists, uint64_t position)
{
    if (!lists->starts && !lists->tree.k)
        return position;
    if (!lists->starts)
        return (uint64_t)kr_eytzinger_first(lists->tree.k) +
               kr_eytzinger_entry(&lists->tree, (uint32_t)position);
    const uint32_t b = kr_list_of(lists, position);
    return kr_list_slot(lists, b, (uint32_t)(position - kr_load(lists->starts + b)));
}

#endif
