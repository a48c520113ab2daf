/* The searches of kind `eytzinger`: from the root down, a node of k - 1 keys per step (Henneberg and
 * Schuhknecht, "Is Binary Search Really All You Need?", 3.2 and 3.4; eytzinger_tree.h defines the layout).
 *
 * Invariant of a descent for `lower`: the first entry with a code of at least lower is the candidate `at`, or
 * lies under `node`. A second descent, for the code after `upper`, finds a match's end.
 *
 * A search goes on below a code equal to lower, since an equal one may lie further left. Where `stops`, no
 * two entries have the same code and probes are points: the search then ends at that code, as in the paper.
 */
#ifndef KEYRAY_INDEX_FAMILIES_EYTZINGER_EYTZINGER_SEARCH_H
#define KEYRAY_INDEX_FAMILIES_EYTZINGER_EYTZINGER_SEARCH_H

#include "index/families/eytzinger/eytzinger_params.h"
#include "index/lightweight/node.h"

typedef struct eytzinger_state {
    kr_key lower, upper;
    uint32_t node;
    uint32_t at;    /* the candidate, an entry; once a match is known, its end, a rank */
    uint32_t first; /* of the match, a rank */
    uint32_t phase; /* EYTZINGER_* */
} eytzinger_state;

enum { EYTZINGER_FIRST, EYTZINGER_LAST, EYTZINGER_NOTHING };
#define EYTZINGER_NONE 0xFFFFFFFFu

KR_BODY uint64_t eytzinger_slot(const eytzinger_params *p, uint64_t entry)
{
    return entry + eytzinger_first(p->tree.k);
}

KR_BODY kr_key eytzinger_key(const eytzinger_params *p, uint64_t entry)
{
    return kr_entry_key(&p->entries, (int)p->entries.layout, eytzinger_slot(p, entry));
}

KR_BODY kr_key eytzinger_pinned(const eytzinger_params *p, uint32_t j)
{
    return eytzinger_key(p, j);
}

KR_BODY void eytzinger_descend(eytzinger_state *s, kr_key bound, uint32_t phase)
{
    s->lower = bound;
    s->node = 0;
    s->at = EYTZINGER_NONE;
    s->phase = phase;
}

KR_BODY int eytzinger_begin(const eytzinger_params *p, uint64_t i, kr_key lower, eytzinger_state *s)
{
    const int any = kr_batch_load_upper(&p->batch, i, &lower, &s->upper) && p->entries.n;
    eytzinger_descend(s, lower, any ? EYTZINGER_FIRST : EYTZINGER_NOTHING);
    s->first = p->entries.n;
    return any;
}

KR_BODY int eytzinger_found(const eytzinger_params *p, const eytzinger_state *s)
{
    return s->at != EYTZINGER_NONE && eytzinger_key(p, s->at) <= s->upper;
}

/* Ends a descent; 1: another one is needed. */
KR_BODY int eytzinger_arrive(const eytzinger_params *p, uint32_t k, eytzinger_state *s)
{
    const uint32_t what = p->put.what;
    if (what == KR_PUT_ROW || what == KR_PUT_FLAG)
        return 0;
    const uint32_t rank = s->at == EYTZINGER_NONE ? p->entries.n : eytzinger_rank(&p->tree, k, s->at);
    const int is_empty = s->phase == EYTZINGER_FIRST && !eytzinger_found(p, s);
    if (s->phase == EYTZINGER_FIRST)
        s->first = rank;
    if (s->phase == EYTZINGER_FIRST && !is_empty && s->upper != (kr_key) ~(kr_key)0) {
        eytzinger_descend(s, s->upper + 1, EYTZINGER_LAST);
        return 1;
    }
    s->at = is_empty || s->phase == EYTZINGER_LAST ? rank : p->entries.n;
    return 0;
}

/* Goes to child c of the current node, whose first entry is `from`; all its keys before c are < lower. This
 * uses a mask: with few keys per node, a branch would be mispredicted half of the time. */
KR_BODY int eytzinger_go(const eytzinger_params *p, uint32_t k, uint64_t from, uint32_t c, eytzinger_state *s)
{
    const uint64_t n = p->entries.n, child = (uint64_t)s->node * k + 1 + c, next = child * (k - 1);
    const uint32_t is_candidate = (c < k - 1) & (from + c < n);
    s->at ^= (s->at ^ (uint32_t)(from + c)) & (0u - is_candidate);
    if (next >= n)
        return eytzinger_arrive(p, k, s);
    s->node = (uint32_t)child;
    kr_node_prefetch_entries(&p->entries, (int)p->entries.layout, eytzinger_slot(p, next), k - 1);
    return 1;
}

/* How many of a node's n keys are < key. Full nodes begin at multiples of their size. */
KR_BODY uint32_t eytzinger_node_rank(const eytzinger_params *p, kr_pin pin, uint64_t from, uint32_t n,
                                     kr_key key)
{
    const uint64_t slot = eytzinger_slot(p, from);
    if (from + n <= pin.n)
        return kr_node_pinned_rank((const kr_key *)pin.words + from, n, key);
    return p->entries.layout ? kr_node_entries_rank(&p->entries, 1, slot, n, key)
                             : kr_node_rank((const kr_key *)p->entries.keys + slot, n, key);
}

/* The same for the last node, which may be cut off after n keys, by halves: few searches end in it, and other
 * searches should not pay for its registers. */
KR_BODY uint32_t eytzinger_cut_rank(const eytzinger_params *p, uint64_t from, uint64_t n, kr_key key)
{
    uint32_t rank = 0;
    for (uint32_t step = 32; step; step >>= 1)
        if (rank + step <= n && eytzinger_key(p, from + rank + step - 1) < key)
            rank += step;
    return rank;
}

/* Ends a search that stops at an entry with the code. */
KR_BODY int eytzinger_stop(const eytzinger_params *p, uint32_t k, uint64_t entry, eytzinger_state *s)
{
    s->at = (uint32_t)entry;
    if (!kr_put_wants_first(&p->put)) {
        s->first = eytzinger_rank(&p->tree, k, s->at);
        s->at = s->first + 1;
    }
    return 0;
}

KR_BODY kr_key eytzinger_compared(const eytzinger_params *p, kr_pin pin, uint64_t entry)
{
    return entry < pin.n ? ((const kr_key *)pin.words)[entry] : eytzinger_key(p, entry);
}

/* One node by one thread. k_or_any is a constant k, or 0: any. `stops` is a constant, too. */
KR_BODY int eytzinger_step(const eytzinger_params *p, kr_pin pin, uint32_t k_or_any, int stops,
                           eytzinger_state *s)
{
    const uint32_t k = k_or_any ? k_or_any : p->tree.k;
    const uint64_t from = (uint64_t)s->node * (k - 1), left = p->entries.n - from;
    const uint32_t c = left >= k - 1 ? eytzinger_node_rank(p, pin, from, k - 1, s->lower)
                                     : eytzinger_cut_rank(p, from, left, s->lower);
    if (stops && c < k - 1 && c < left && eytzinger_compared(p, pin, from + c) == s->lower)
        return eytzinger_stop(p, k, from + c, s);
    return eytzinger_go(p, k, from, c, s);
}

/* A group compares one node, one key per thread. */
KR_BODY int eytzinger_step_group(const eytzinger_params *p, kr_pin pin, kr_group group, uint32_t k, int stops,
                                 eytzinger_state *s)
{
    const uint64_t from = (uint64_t)s->node * (k - 1), n = p->entries.n;
    uint32_t c = 0, equal = 0;
    for (uint32_t j = group.rank; j < k - 1; j += group.size) {
        const uint64_t entry = from + j;
        const kr_key key = entry < n ? eytzinger_compared(p, pin, entry) : (kr_key) ~(kr_key)0;
        c += kr_popcount32(kr_group_ballot(group, key < s->lower));
        if (stops)
            equal |= kr_group_ballot(group, entry < n && key == s->lower);
    }
    if (equal)
        return eytzinger_stop(p, k, from + c, s);
    return eytzinger_go(p, k, from, c, s);
}

KR_BODY void eytzinger_end(const eytzinger_params *p, const kr_put *put, uint64_t i, eytzinger_state *s)
{
    if (put->what == KR_PUT_COUNT || put->what == KR_PUT_MATCH) {
        kr_put_match(put, i, s->first, s->phase == EYTZINGER_NOTHING ? 0 : s->at - s->first);
        return;
    }
    const int found = eytzinger_found(p, s), wants_row = found && put->what == KR_PUT_ROW;
    const uint64_t slot = eytzinger_slot(p, s->at);
    kr_put_first(put, i, found, wants_row ? kr_entry_row(&p->entries, (int)p->entries.layout, slot) : 0);
}

/* The programs: by one thread, where k is a constant for the most common k and 0 takes any. */
#define EYTZINGER_PROGRAM(name, k, stops, end)                                                         \
    KR_BODY int name##_step(const eytzinger_params *p, kr_pin pin, kr_group group, eytzinger_state *s) \
    {                                                                                                  \
        (void)group;                                                                                   \
        return eytzinger_step(p, pin, k, stops, s);                                                    \
    }                                                                                                  \
    KR_LOOKUP_PROGRAM(name, eytzinger_params, eytzinger_state, eytzinger_pinned, eytzinger_begin,      \
                      name##_step, end, 1u)

/* By k - 1 threads. */
#define EYTZINGER_GROUP_PROGRAM(name, k, stops)                                                        \
    KR_BODY int name##_step(const eytzinger_params *p, kr_pin pin, kr_group group, eytzinger_state *s) \
    {                                                                                                  \
        return eytzinger_step_group(p, pin, group, k, stops, s);                                       \
    }                                                                                                  \
    KR_LOOKUP_PROGRAM(name, eytzinger_params, eytzinger_state, eytzinger_pinned, eytzinger_begin,      \
                      name##_step, eytzinger_end, k - 1)

/* Those of all k: names end in the k. */
#define EYTZINGER_PROGRAMS(name, stops)                     \
    EYTZINGER_PROGRAM(name##_any, 0, stops, eytzinger_end); \
    EYTZINGER_PROGRAM(name##_2, 2, stops, eytzinger_end);   \
    EYTZINGER_PROGRAM(name##_3, 3, stops, eytzinger_end);   \
    EYTZINGER_PROGRAM(name##_5, 5, stops, eytzinger_end);   \
    EYTZINGER_PROGRAM(name##_9, 9, stops, eytzinger_end);   \
    EYTZINGER_PROGRAM(name##_17, 17, stops, eytzinger_end); \
    EYTZINGER_PROGRAM(name##_33, 33, stops, eytzinger_end); \
    EYTZINGER_GROUP_PROGRAM(name##_group_3, 3, stops);      \
    EYTZINGER_GROUP_PROGRAM(name##_group_5, 5, stops);      \
    EYTZINGER_GROUP_PROGRAM(name##_group_9, 9, stops);      \
    EYTZINGER_GROUP_PROGRAM(name##_group_17, 17, stops);    \
    EYTZINGER_GROUP_PROGRAM(name##_group_33, 33, stops)

#endif
