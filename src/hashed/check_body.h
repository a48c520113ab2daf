/* The invariants of a table. */
#ifndef KEYRAY_HASHED_CHECK_BODY_H
#define KEYRAY_HASHED_CHECK_BODY_H

#include "hashed/table_body.h"

enum { TABLE_CHECK_KEYS, TABLE_CHECK_ROWS, TABLE_CHECK_STEPS, TABLE_CHECK_LOST, TABLE_CHECK_SPANS, TABLE_CHECKS };

typedef struct table_check_params {
    kr_table_view table;
    uint64_t *counts; /* TABLE_CHECK_* */
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

KR_BODY void table_check_node(kr_group group, const table_check_params *p, uint64_t i, uint64_t n)
{
    const kr_table_view *t = &p->table;
    uint64_t found[TABLE_CHECKS] = {0};
    char *node = i < n ? table_node(t, (uint32_t)i) : NULL;
    const uint32_t meta = node ? *table_meta(node, t->slots) : 0;
    for (uint32_t live = meta & table_all(t); live; live &= live - 1) {
        const uint32_t j = kr_ctz32(live);
        const table_place place = table_find(t, table_keys(node)[j]);
        kr_match span = {0, 1};
        ++found[TABLE_CHECK_KEYS];
        found[TABLE_CHECK_STEPS] += place.steps;
        found[TABLE_CHECK_LOST] += !place.found || place.node != i || place.slot != j;
        if (meta & table_several(t->linked, j))
            found[TABLE_CHECK_SPANS] += !table_span_is_right(p, table_words(node, t->slots)[j], &span);
        found[TABLE_CHECK_ROWS] += span.count;
    }
    for (uint32_t k = 0; k < TABLE_CHECKS; ++k)
        kr_group_add64(group, found[k], p->counts + k);
}
KR_GROUP_PROGRAM(table_validate, table_check_params, table_check_node);

#endif
