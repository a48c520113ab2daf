/* The invariants of a table: links first, as searches follow them; then nodes, spans and the places aside. */
#ifndef KEYRAY_INDEX_FAMILIES_HASH_HASH_CHECK_WIDTH_BODY_H
#define KEYRAY_INDEX_FAMILIES_HASH_HASH_CHECK_WIDTH_BODY_H

#include "index/families/hash/hash_nodes.h"

/* What the programs count: few things, as validation may take little memory. The last two are sums of hashes,
 * in which what is there once on both sides cancels out modulo 2^32. */
enum {
    TABLE_CHECK_LINKS, /* that lead nowhere or back */
    TABLE_CHECK_LOST,  /* keys in slots where lookups do not find them; free slots with several rows; keys in
                        * slots that never held one */
    TABLE_CHECK_KEYS,
    TABLE_CHECK_STEPS,
    TABLE_CHECK_ONES,   /* keys with one row */
    TABLE_CHECK_HELD,   /* rows aside */
    TABLE_CHECK_SPANS,  /* spans there are, less those that keys have */
    TABLE_CHECK_PLACES, /* places in spans, less those that hold rows */
    TABLE_CHECKS,
    /* Rows aside that are not there or do not ascend. Links are right by then. */
    TABLE_CHECK_ORDER = TABLE_CHECK_LINKS
};

typedef struct hash_check_params {
    hash_view table;
    uint64_t *counts; /* TABLE_CHECK_*, in stripes */
    uint64_t n_more, n_spans, n_aside;
} hash_check_params;
kr_assert_size(hash_check_params, 96);

/* Kind chain: a node behind a bucket is made after those before it, so links lead to higher numbers. */
KR_BODY void hash_check_link(const hash_check_params *p, uint64_t i, uint32_t *tally)
{
    const hash_view *t = &p->table;
    const uint32_t next = *hash_next(hash_node(t, (uint32_t)i), t->slots);
    const uint64_t own = i < t->n_heads ? 0 : i - t->n_heads + 1;
    tally[TABLE_CHECK_LINKS] += next != 0 && (next <= own || next > p->n_more);
}
TABLE_TALLY_PROGRAM(hash_check_links, hash_check_params, TABLE_CHECKS, hash_check_link);

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
            tally[TABLE_CHECK_SPANS] -= kr_mix32(word, 1);
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
        tally[TABLE_CHECK_PLACES] += kr_mix32((uint32_t)i, 1);
    }
}

KR_BODY void hash_check_span(kr_group group, const hash_check_params *p, uint64_t i, uint64_t n)
{
    uint64_t *counts = p->counts + (i >> 5) % TABLE_STRIPES * TABLE_CHECKS;
    const kr_match none = {0, 0};
    kr_match span = i < n ? p->table.spans[i] : none;
    uint32_t tally[TABLE_CHECKS] = {0};
    if (span.count)
        tally[TABLE_CHECK_SPANS] = kr_mix32((uint32_t)i, 1);
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
    tally[TABLE_CHECK_PLACES] -= kr_mix32((uint32_t)i, 1);
    ++tally[TABLE_CHECK_HELD];
}
TABLE_TALLY_PROGRAM(hash_check_places, hash_check_params, TABLE_CHECKS, hash_check_place);

#endif
