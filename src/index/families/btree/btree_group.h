/* Searches by groups of 16 threads, as in the tree of Awad et al.: each thread has a probe, and the 16 go
 * down the tree for one after the other of them. Each compares a key of a node, and all learn how many are
 * below the bound. What follows is up to the thread that has the probe. */
#ifndef KEYRAY_INDEX_FAMILIES_BTREE_BTREE_GROUP_H
#define KEYRAY_INDEX_FAMILIES_BTREE_BTREE_GROUP_H

#include "index/families/btree/btree_search.h"

enum { BTREE_GROUP_BITS = 4 }; /* threads of a group, slots of a node */

/* What a descent for a bound leads to. */
typedef struct btree_found {
    uint32_t ordinal;
    uint32_t below, within; /* keys of the leaf: below the bound, and those up to the upper one */
} btree_found;

/* Of the two in a warp: that of this thread. A CPU's group is one thread. */
KR_BODY kr_group btree_group_of(kr_group warp)
{
    const uint32_t size = warp.size >> BTREE_GROUP_BITS ? 1u << BTREE_GROUP_BITS : warp.size;
    const kr_group group = {warp.rank % size, size};
    return group;
}

/* A thread alone compares all keys. */
KR_BODY uint32_t btree_group_rank(kr_group group, const kr_key *node, kr_key bound)
{
    return group.size == 1 ? kr_node_rank(node, 1u << BTREE_GROUP_BITS, bound)
                           : kr_popcount32(kr_group_ballot(group, kr_load(node + group.rank) < bound));
}

/* btree_child, down to the leaf. `above` is one more than the upper bound, or 0 if it is not wanted. */
KR_BODY btree_found btree_group_descend(kr_group group, const btree_tree *tree, kr_key bound, kr_key above)
{
    btree_found found = {0, 0, 0};
    for (uint32_t level = tree->n_levels; level-- > 0;) {
        const uint32_t slot = found.ordinal << tree->fan_bits;
        const uint32_t rank =
            btree_group_rank(group, btree_separator(tree, tree->levels[level] + slot), bound);
        found.ordinal = slot + rank - (rank != 0);
    }
    const kr_key *leaf = btree_keys(tree, btree_slot(tree, BTREE_GROUP_BITS, found.ordinal));
    found.below = btree_group_rank(group, leaf, bound);
    found.within = above ? btree_group_rank(group, leaf, above) : 0;
    return found;
}

/* One descent for each thread that wants it. */
KR_BODY void btree_group_turns(kr_group group, const btree_tree *tree, int wants, kr_key bound, kr_key above,
                               btree_found *mine)
{
    for (uint32_t waiting = kr_group_ballot(group, wants); waiting; waiting &= waiting - 1) {
        const uint32_t owner = kr_ctz32(waiting);
        const btree_found found =
            btree_group_descend(group, tree, (kr_key)kr_group_share(group, bound, owner),
                                (kr_key)kr_group_share(group, above, owner));
        if (group.rank == owner)
            *mine = found;
    }
}

/* btree_arrive_first, with what the group has counted. */
KR_BODY int btree_group_arrive(const btree_tree *tree, const btree_found *found, btree_state *s)
{
    const uint32_t ordinal = found->ordinal, begin = kr_load(tree->starts + ordinal),
                   end = kr_load(tree->starts + ordinal + 1);
    s->position = begin + found->below;
    s->where =
        s->position < end ? (ordinal << BTREE_GROUP_BITS) + found->below : (ordinal + 1) << BTREE_GROUP_BITS;
    s->at = tree->n;
    return s->upper != BTREE_LARGEST && btree_close(tree, ordinal, begin + found->within, end, s);
}

KR_BODY void btree_group_find(kr_group warp, const btree_params *p, uint64_t i, uint64_t n)
{
    const btree_tree *tree = &p->tree;
    const kr_group group = btree_group_of(warp);
    const int first = kr_put_wants_first(&p->put);
    btree_state s = {0, 0, 0, 0, BTREE_NO_SLOT, 0};
    btree_found found = {0, 0, 0};
    const int searches = i < n && btree_begin(p, i, &s);
    btree_group_turns(group, tree, searches, s.lower, first ? 0 : s.upper + 1, &found);
    if (first) {
        if (searches)
            s.where = btree_first_at(tree, BTREE_GROUP_BITS, found.ordinal,
                                     btree_slot(tree, BTREE_GROUP_BITS, found.ordinal), found.below, s.upper);
    } else {
        const int again = searches && btree_group_arrive(tree, &found, &s);
        btree_group_turns(group, tree, again, s.lower, 0, &found);
        if (again)
            s.at = kr_load(tree->starts + found.ordinal) + found.below;
    }
    if (i < n)
        btree_end(p, i, &s);
}
KR_GROUP_PROGRAM(btree_find_group, btree_params, btree_group_find);

#endif
