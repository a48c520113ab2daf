/* The invariants of a table: links first, as searches follow them; then nodes, spans and the places aside.
 * Whatever a table holds, no program leaves it or goes on for ever: links are followed once all are known to
 * lead forward, and spans and places are read where they are within the arrays. */
#ifndef KEYRAY_INDEX_FAMILIES_HASH_HASH_CHECK_WIDTH_BODY_H
#define KEYRAY_INDEX_FAMILIES_HASH_HASH_CHECK_WIDTH_BODY_H

#include "index/families/hash/hash_nodes.h"

/* What the programs count. */
enum {
    TABLE_CHECK_LINKS, /* that lead nowhere or back, or where another one leads */
    TABLE_CHECK_LOST,  /* keys in slots where lookups do not find them; free slots with several rows; keys in
                        * slots that never held one */
    TABLE_CHECK_KEYS,
    TABLE_CHECK_STEPS,
    TABLE_CHECK_ONES,   /* keys with one row */
    TABLE_CHECK_HELD,   /* rows aside */
    TABLE_CHECK_SPANS,  /* keys without a span of their own; spans of no key */
    TABLE_CHECK_PLACES, /* places in two spans; those that hold rows of no span */
    TABLE_CHECKS,
    /* Rows aside that are not there or do not ascend. Links are right by then. */
    TABLE_CHECK_ORDER = TABLE_CHECK_LINKS
};

typedef struct hash_check_params {
    hash_view table;
    uint64_t *counts;                /* TABLE_CHECK_*, in stripes */
    uint32_t *linked, *owned, *used; /* bitmaps: nodes that links lead to, spans of keys, places in spans */
    uint64_t n_more, n_spans, n_aside;
} hash_check_params;
kr_assert_size(hash_check_params, 120);

/* Whether bit i was set before; it is now. */
KR_BODY int hash_check_again(uint32_t *bits, uint64_t i)
{
    const uint32_t bit = (uint32_t)1 << i % 32;
    return (kr_atomic_or32(bits + i / 32, bit) & bit) != 0;
}

KR_BODY int hash_check_is_set(const uint32_t *bits, uint64_t i)
{
    return (int)(kr_load(bits + i / 32) >> i % 32 & 1);
}

/* Kind chain: a node behind a bucket is made after those before it, so links lead to higher numbers. It
 * belongs to one bucket. */
KR_BODY void hash_check_link(const hash_check_params *p, uint64_t i, uint32_t *tally)
{
    const hash_view *t = &p->table;
    const uint32_t next = *hash_next(hash_node(t, (uint32_t)i), t->slots);
    const uint64_t own = i < t->n_heads ? 0 : i - t->n_heads + 1;
    if (next)
        tally[TABLE_CHECK_LINKS] += next <= own || next > p->n_more || hash_check_again(p->linked, next - 1);
}
TABLE_TALLY_PROGRAM(hash_check_links, hash_check_params, TABLE_CHECKS, hash_check_link);

/* A bucket with TABLE_CROWD nodes or more gets no other but by a batch, which brings as many at most. */
KR_BODY void hash_check_chain(const hash_check_params *p, uint64_t b, uint32_t *tally)
{
    const hash_view *t = &p->table;
    uint32_t nodes = 1, next = *hash_next(hash_node(t, (uint32_t)b), t->slots);
    for (; next && nodes <= 2 * TABLE_CROWD; ++nodes)
        next = *hash_next(hash_node(t, t->n_heads + next - 1), t->slots);
    tally[TABLE_CHECK_LINKS] += nodes > 2 * TABLE_CROWD;
}
TABLE_TALLY_PROGRAM(hash_check_chains, hash_check_params, TABLE_CHECKS, hash_check_chain);

/* Rows of a key with several, from a span of its own. */
KR_BODY int hash_check_own_span(const hash_check_params *p, uint32_t word)
{
    return word < p->n_spans && !hash_check_again(p->owned, word) && p->table.spans[word].count > 1;
}

KR_BODY void hash_check_node(const hash_check_params *p, uint64_t i, uint32_t *tally)
{
    const hash_view *t = &p->table;
    char *node = hash_node(t, (uint32_t)i);
    const uint32_t meta = *hash_meta(node, t->slots), live = meta & hash_all(t);
    const uint32_t several = meta >> (t->linked ? 16 : 7) & hash_all(t);
    tally[TABLE_CHECK_LOST] += kr_popcount32(several & ~live);
    if (t->plain)
        tally[TABLE_CHECK_LOST] += kr_popcount32(live & hash_never(t, meta));
    for (uint32_t left = live; left; left &= left - 1) {
        const uint32_t j = kr_ctz32(left), word = hash_words(node, t->slots)[j];
        const hash_place place = hash_find(t, hash_keys(node)[j]);
        ++tally[TABLE_CHECK_KEYS];
        tally[TABLE_CHECK_STEPS] += place.steps;
        tally[TABLE_CHECK_LOST] += !place.found || place.node != i || place.slot != j;
        if (several >> j & 1)
            tally[TABLE_CHECK_SPANS] += !hash_check_own_span(p, word);
        else
            ++tally[TABLE_CHECK_ONES];
    }
}
TABLE_TALLY_PROGRAM(hash_check_nodes, hash_check_params, TABLE_CHECKS, hash_check_node);

/* Rows there that come before the one before them. Equal ones are found by the check of all row ids. */
KR_BODY void hash_check_rows(const hash_check_params *p, kr_match span, uint32_t rank, uint32_t size,
                             uint32_t *tally)
{
    for (uint64_t i = (uint64_t)span.where + rank, end = (uint64_t)span.where + span.count; i < end;
         i += size) {
        const uint32_t row = p->table.aside[i];
        tally[TABLE_CHECK_ORDER] += row == KR_NO_ROW || (i > span.where && p->table.aside[i - 1] > row);
        tally[TABLE_CHECK_PLACES] += (uint32_t)hash_check_again(p->used, i);
    }
}

KR_BODY void hash_check_span(kr_group group, const hash_check_params *p, uint64_t i, uint64_t n)
{
    uint64_t *counts = p->counts + (i >> 5) % TABLE_STRIPES * TABLE_CHECKS;
    const kr_match none = {0, 0};
    kr_match span = i < n ? p->table.spans[i] : none;
    uint32_t tally[TABLE_CHECKS] = {0};
    if (span.count)
        tally[TABLE_CHECK_SPANS] = !hash_check_is_set(p->owned, i);
    if (span.count == 1 || (uint64_t)span.where + span.count > p->n_aside) {
        tally[TABLE_CHECK_ORDER] = 1;
        span = none;
    }
    const int alone = group.size == 1 || span.count <= TABLE_ALONE;
    if (alone)
        hash_check_rows(p, span, 0, 1, tally);
    for (uint32_t waiting = kr_group_ballot(group, !alone); waiting; waiting &= waiting - 1) {
        const uint64_t both =
            kr_group_share(group, span.where | (uint64_t)span.count << 32, kr_ctz32(waiting));
        const kr_match theirs = {(uint32_t)both, (uint32_t)(both >> 32)};
        hash_check_rows(p, theirs, group.rank, group.size, tally);
    }
    KR_UNROLL
    for (uint32_t k = 0; k < TABLE_CHECKS; ++k)
        if (kr_group_ballot(group, tally[k] != 0))
            kr_group_add64(group, tally[k], counts + k);
}
KR_GROUP_PROGRAM(hash_check_spans, hash_check_params, hash_check_span);

KR_BODY void hash_check_place(const hash_check_params *p, uint64_t i, uint32_t *tally)
{
    if (p->table.aside[i] == KR_NO_ROW)
        return;
    tally[TABLE_CHECK_PLACES] += !hash_check_is_set(p->used, i);
    ++tally[TABLE_CHECK_HELD];
}
TABLE_TALLY_PROGRAM(hash_check_places, hash_check_params, TABLE_CHECKS, hash_check_place);

#endif
