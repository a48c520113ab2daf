/* Searches by groups of 16 threads, as in the tree of Awad et al.: each thread has a probe, and the 16 go
 * down the tree for one after the other of them. Each compares a key of a node, and all learn how many are
 * below the bound. What follows is up to the thread that has the probe.
 *
 * The two groups of a warp go down side by side, and every vote is one of the whole warp: groups that vote
 * apart, or a different number of times, run one after the other. */
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

/* How many keys of a node are below a bound; each group has its own. A thread alone compares all keys. */
KR_BODY uint32_t btree_group_rank(kr_group warp, const kr_key *node, kr_key bound)
{
    const kr_group group = btree_group_of(warp);
    if (group.size == 1)
        return kr_node_rank(node, 1u << BTREE_GROUP_BITS, bound);
    const uint32_t votes = kr_group_ballot(warp, kr_load(node + group.rank) < bound);
    return kr_popcount32(votes >> (warp.rank - group.rank) & ((1u << group.size) - 1));
}

/* btree_child, down to the leaf. `above` is one more than the upper bound; the whole warp wants it, or none.
 */
KR_BODY btree_found btree_group_descend(kr_group warp, const btree_tree *tree, kr_key bound, kr_key above,
                                        int wants_within)
{
    btree_found found = {0, 0, 0};
    for (uint32_t level = tree->n_levels; level-- > 0;) {
        const uint32_t slot = found.ordinal << tree->fan_bits;
        const uint32_t rank =
            btree_group_rank(warp, btree_separator(tree, tree->levels[level] + slot), bound);
        found.ordinal = slot + rank - (rank != 0);
    }
    const kr_key *leaf = btree_keys(tree, btree_slot(tree, BTREE_GROUP_BITS, found.ordinal));
    found.below = btree_group_rank(warp, leaf, bound);
    found.within = wants_within ? btree_group_rank(warp, leaf, above) : 0;
    return found;
}

/* One descent for each thread that wants it. Where only one group has such a thread, the other goes along. */
KR_BODY void btree_group_turns(kr_group warp, const btree_tree *tree, int wants, kr_key bound, kr_key above,
                               int wants_within, btree_found *mine)
{
    const kr_group group = btree_group_of(warp);
    const uint32_t wanted = kr_group_ballot(warp, wants);
    for (uint32_t waiting = (wanted | wanted >> group.size) & ((1u << group.size) - 1); waiting;
         waiting &= waiting - 1) {
        const uint32_t owner = warp.rank - group.rank + kr_ctz32(waiting);
        const btree_found found =
            btree_group_descend(warp, tree, (kr_key)kr_group_share(warp, bound, owner),
                                (kr_key)kr_group_share(warp, above, owner), wants_within);
        if (warp.rank == owner && wants)
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
    const int first = kr_put_wants_first(&p->put);
    btree_state s = {0, 0, 0, 0, BTREE_NO_SLOT, 0};
    btree_found found = {0, 0, 0};
    const int searches = i < n && btree_begin(p, i, &s);
    btree_group_turns(warp, tree, searches, s.lower, s.upper + 1, !first, &found);
    if (first) {
        if (searches)
            s.where = btree_first_at(tree, BTREE_GROUP_BITS, found.ordinal,
                                     btree_slot(tree, BTREE_GROUP_BITS, found.ordinal), found.below, s.upper);
    } else {
        const int again = searches && btree_group_arrive(tree, &found, &s);
        btree_group_turns(warp, tree, again, s.lower, 0, 0, &found);
        if (again)
            s.at = kr_load(tree->starts + found.ordinal) + found.below;
    }
    if (i < n)
        btree_end(p, i, &s);
}
KR_GROUP_PROGRAM(btree_find_group, btree_params, btree_group_find);

#endif
