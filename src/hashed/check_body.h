/* The invariants of a table. */
#ifndef KEYRAY_HASHED_CHECK_BODY_H
#define KEYRAY_HASHED_CHECK_BODY_H

#include "hashed/table_body.h"

enum {
    TABLE_CHECK_KEYS,
    TABLE_CHECK_ROWS,
    TABLE_CHECK_STEPS,
    TABLE_CHECK_LOST,
    TABLE_CHECK_SPANS,
    TABLE_CHECKS
};

typedef struct table_check_params {
    kr_table_view table;
    uint64_t *counts; /* TABLE_CHECK_*, in stripes */
    uint64_t n_spans, n_aside;
} table_check_params;
kr_assert_size(table_check_params, 80);

/* Several rows, in ascending order; equal ones are found by the check of all row ids. */
KR_BODY int table_span_is_right(const table_check_params *p, uint32_t word, kr_match *span)
{
    const kr_match none = {0, 0};
    *span = word < p->n_spans ? p->table.spans[word] : none;
    if (span->count < 2 || (uint64_t)span->where + span->count > p->n_aside)
        return 0;
    for (uint32_t i = 1; i < span->count; ++i)
        if (p->table.aside[(uint64_t)span->where + i - 1] > p->table.aside[(uint64_t)span->where + i])
            return 0;
    return 1;
}

KR_BODY void table_check_node(const table_check_params *p, uint64_t i, uint32_t *tally)
{
    const kr_table_view *t = &p->table;
    char *node = table_node(t, (uint32_t)i);
    const uint32_t meta = *table_meta(node, t->slots);
    for (uint32_t live = meta & table_all(t); live; live &= live - 1) {
        const uint32_t j = kr_ctz32(live);
        const table_place place = table_find(t, table_keys(node)[j], 0);
        kr_match span = {0, 1};
        ++tally[TABLE_CHECK_KEYS];
        tally[TABLE_CHECK_STEPS] += place.steps;
        tally[TABLE_CHECK_LOST] += !place.found || place.node != i || place.slot != j;
        if (meta & table_several(t->linked, j))
            tally[TABLE_CHECK_SPANS] += !table_span_is_right(p, table_words(node, t->slots)[j], &span);
        tally[TABLE_CHECK_ROWS] += span.count;
    }
}
TABLE_TALLY_PROGRAM(table_validate, table_check_params, TABLE_CHECKS, table_check_node);

#endif
