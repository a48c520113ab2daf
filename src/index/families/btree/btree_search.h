/* The searches of kind `btree`, from the topmost level down.
 *
 * Invariant of a descent for a bound: the node that is reached leads to the last leaf whose separator is
 * below the bound, or to the first leaf. So the first entry >= the bound is in the leaf that is reached, or
 * is the first of the next. A match that ends in the leaf where it begins costs one descent, any other match
 * two. */
#ifndef KEYRAY_INDEX_FAMILIES_BTREE_BTREE_SEARCH_H
#define KEYRAY_INDEX_FAMILIES_BTREE_BTREE_SEARCH_H

#include "index/families/btree/btree_nearest.h"
#include "index/lightweight/node.h"

typedef struct btree_state {
    kr_key lower, upper; /* lower: the bound being searched for */
    uint32_t at;         /* a node of its level; a leaf's ordinal; at the end the position behind the match */
    uint32_t left;       /* levels to go, then BTREE_AIM; with BTREE_LAST in the second descent */
    uint32_t where;      /* the slot of the first row, if that is all that is wanted; or as the walk has it */
    uint32_t position;   /* of the first entry >= lower */
} btree_state;

enum { BTREE_ARRIVE, BTREE_AIM, BTREE_LAST = 256 };
#define BTREE_NO_SLOT 0xFFFFFFFFu

/* The child that a bound belongs to: the last one whose first key is below it, or the first child. */
KR_BODY uint32_t btree_child(const btree_tree *tree, uint32_t fan_bits, uint32_t level, uint32_t node,
                             kr_key bound)
{
    const uint32_t slot = node << fan_bits;
    const uint32_t rank =
        kr_node_rank(btree_separator(tree, tree->levels[level] + slot), 1u << fan_bits, bound);
    return slot + rank - (rank != 0);
}

KR_BODY void btree_prefetch_node(const btree_tree *tree, uint32_t fan_bits, uint32_t level, uint32_t node)
{
    kr_node_prefetch_run(btree_separator(tree, tree->levels[level] + (node << fan_bits)),
                         (uint32_t)sizeof(kr_key) << fan_bits);
}

KR_BODY void btree_prefetch_leaf(const btree_tree *tree, uint32_t bits, uint32_t ordinal)
{
    kr_node_prefetch_run(btree_keys(tree, btree_slot(tree, bits, ordinal)), (uint32_t)sizeof(kr_key) << bits);
}

/* The slot of the first entry from a lower bound to `upper`, where `rank` keys of the bound's leaf, which
 * begins at `slot`, are below it; or BTREE_NO_SLOT. */
KR_BODY uint32_t btree_first_at(const btree_tree *tree, uint32_t bits, uint32_t ordinal, uint32_t slot,
                                uint32_t rank, kr_key upper)
{
    if (rank < 1u << bits) {
        const kr_key key = kr_load(btree_keys(tree, slot + rank));
        if (key <= upper && btree_is_entry(tree, slot + rank, key))
            return slot + rank;
    }
    if (ordinal + 1 < tree->n_leaves && kr_load(btree_separator(tree, ordinal + 1)) <= upper)
        return btree_slot(tree, bits, ordinal + 1);
    return BTREE_NO_SLOT;
}

/* The same where only the leaf is known. */
KR_BODY uint32_t btree_first(const btree_tree *tree, uint32_t bits, uint32_t ordinal, kr_key lower,
                             kr_key upper)
{
    const uint32_t slot = btree_slot(tree, bits, ordinal);
    const uint32_t rank = kr_node_rank(btree_keys(tree, slot), 1u << bits, lower);
    return btree_first_at(tree, bits, ordinal, slot, rank, upper);
}

KR_BODY int btree_begin(const btree_params *p, uint64_t i, btree_state *s)
{
    s->at = s->position = 0;
    s->where = BTREE_NO_SLOT;
    s->left = p->tree.n_levels + BTREE_AIM;
    return kr_batch_load(&p->batch, i, &s->lower, &s->upper) && p->tree.n;
}

/* Ends the match at position `at`, in or behind the leaf where it begins and whose entries end at `end`; 1:
 * it may go on in the next leaf, and a second descent is needed. */
KR_BODY int btree_close(const btree_tree *tree, uint32_t ordinal, uint32_t at, uint32_t end, btree_state *s)
{
    s->at = at;
    if (at < end || end == tree->n || kr_load(btree_separator(tree, ordinal + 1)) > s->upper)
        return 0;
    s->lower = s->upper + 1;
    s->at = 0;
    s->left = (tree->n_levels + BTREE_AIM) | BTREE_LAST;
    return 1;
}

/* Where the match begins and, if that is in the same leaf, ends; 1: a second descent is needed. */
KR_BODY int btree_arrive_first(const btree_tree *tree, uint32_t bits, btree_state *s)
{
    const uint32_t ordinal = s->at, begin = kr_load(tree->starts + ordinal),
                   end = kr_load(tree->starts + ordinal + 1);
    const kr_key *leaf = btree_keys(tree, btree_slot(tree, bits, ordinal)), above = s->upper + 1;
    const uint32_t rank = kr_node_rank(leaf, 1u << bits, s->lower);
    s->position = begin + rank;
    s->where = s->position < end ? (ordinal << bits) + rank : (ordinal + 1) << bits;
    s->at = tree->n;
    if (above == 0)
        return 0;
    return btree_close(tree, ordinal, begin + kr_node_rank(leaf, 1u << bits, above), end, s);
}

KR_BODY int btree_arrive(const btree_params *p, uint32_t bits, btree_state *s)
{
    const btree_tree *tree = &p->tree;
    if (kr_put_wants_first(&p->put)) {
        s->where = btree_first(tree, bits, s->at, s->lower, s->upper);
        if (s->where != BTREE_NO_SLOT)
            btree_row_prefetch(tree, s->where);
        return 0;
    }
    if (!(s->left & BTREE_LAST))
        return btree_arrive_first(tree, bits, s);
    s->at = kr_load(tree->starts + s->at) +
            kr_node_rank(btree_keys(tree, btree_slot(tree, bits, s->at)), 1u << bits, s->lower);
    return 0;
}

/* A node; then the leaf's place, which takes a load of its own if leaves are not in order; then the leaf. */
KR_BODY int btree_step(const btree_params *p, uint32_t bits, uint32_t fan_bits, btree_state *s)
{
    const btree_tree *tree = &p->tree;
    const uint32_t left = s->left % BTREE_LAST;
    if (left == BTREE_ARRIVE)
        return btree_arrive(p, bits, s);
    --s->left;
    if (left > BTREE_AIM) {
        s->at = btree_child(tree, fan_bits, left - 2, s->at, s->lower);
        if (left > BTREE_AIM + 1) {
            btree_prefetch_node(tree, fan_bits, left - 3, s->at);
            return 1;
        }
        if (!kr_put_wants_first(&p->put))
            kr_prefetch(tree->starts + s->at);
        if (!tree->in_order) {
            kr_prefetch(tree->order + s->at);
            return 1;
        }
        --s->left;
    }
    btree_prefetch_leaf(tree, bits, s->at);
    return 1;
}

KR_BODY void btree_end(const btree_params *p, uint64_t i, btree_state *s)
{
    const int found = s->where != BTREE_NO_SLOT;
    if (kr_put_wants_first(&p->put))
        kr_put_first(&p->put, i, found,
                     found && p->put.what == KR_PUT_ROW ? btree_row(&p->tree, s->where) : 0);
    else
        kr_put_match(&p->put, i, btree_where(&p->tree, s->where, s->position), s->at - s->position);
}

KR_BODY void btree_end_nearest(const btree_params *p, uint64_t i, btree_state *s)
{
    const kr_span span = {s->upper, s->position, s->at, s->where != BTREE_NO_SLOT};
    btree_nearest(&p->tree, &p->batch.near, &p->put, i, p->tree.n, &span);
}

/* The size of a node is a constant in each program. */
#define BTREE_FIND_ENDING(name, bits, fan_bits, end)               \
    KR_BODY int name##_step(const btree_params *p, btree_state *s) \
    {                                                              \
        return btree_step(p, bits, fan_bits, s);                   \
    }                                                              \
    KR_PROBE_PROGRAM(name, btree_params, btree_state, btree_begin, name##_step, end)
#define BTREE_FIND(name, bits) BTREE_FIND_ENDING(name, bits, bits, btree_end)
BTREE_FIND(btree_find_8, 3);
BTREE_FIND(btree_find_16, 4);
BTREE_FIND(btree_find_32, 5);
BTREE_FIND(btree_find_64, 6);
BTREE_FIND_ENDING(btree_find_half, 4, 3, btree_end); /* inner=half */
BTREE_FIND_ENDING(btree_nearest_8, 3, 3, btree_end_nearest);
BTREE_FIND_ENDING(btree_nearest_16, 4, 4, btree_end_nearest);
BTREE_FIND_ENDING(btree_nearest_32, 5, 5, btree_end_nearest);
BTREE_FIND_ENDING(btree_nearest_64, 6, 6, btree_end_nearest);
BTREE_FIND_ENDING(btree_nearest_half, 4, 3, btree_end_nearest);

#endif
