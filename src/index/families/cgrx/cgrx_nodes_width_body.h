/* Lists of nodes: the bodies that make, index, read and check them. */
#ifndef KEYRAY_INDEX_FAMILIES_CGRX_CGRX_NODES_WIDTH_BODY_H
#define KEYRAY_INDEX_FAMILIES_CGRX_CGRX_NODES_WIDTH_BODY_H

#include "base/program/program.h"
#include "index/families/cgrx/cgrx_entries.h"
#include "index/families/cgrx/cgrx_list_runs.h"
#include "index/families/cgrx/cgrx_marks.h"

/* ---- Make ---------------------------------------------------------------------------------- */

typedef struct place_params {
    const kr_key *keys; /* sorted */
    const uint32_t *rows;
    kr_entries store;
    kr_key *ends;
    uint32_t *end_rows;
    uint32_t *sizes; /* or NULL */
    uint64_t n;
    kr_point_map map;
    uint32_t bucket, node;
    uint32_t optimized; /* 0 or 1 */
    uint32_t reserved;
} place_params;
kr_assert_size(place_params, 120);

/* Where bucket b ends, and how full its node is; a run of equal keys that continues in the next bucket is cut
 * at a row id. */
KR_BODY void cgrx_place_end(const place_params *p, uint64_t b)
{
    const uint64_t next = (b + 1) * p->bucket, last = (next < p->n ? next : p->n) - 1;
    cgrx_end end = {0, 0, 0, 0, b == 0, next >= p->n};
    end.rep = kr_load(p->keys + last);
    end.next_key = end.is_last ? 0 : kr_load(p->keys + next);
    p->ends[b] = (kr_key)cgrx_owns_to(&p->map, (int)p->optimized, &end);
    if (p->sizes)
        p->sizes[b] = (uint32_t)(last + 1 - b * p->bucket);
    p->end_rows[b] = !end.is_last && end.next_key == end.rep ? kr_load(p->rows + last) : KR_NO_ROW;
}

KR_BODY void cgrx_place_entry(const place_params *p, uint64_t i)
{
    const uint64_t b = i / p->bucket, at = i % p->bucket;
    kr_entries_put(&p->store, b * p->node + at, kr_load(p->keys + i), kr_load(p->rows + i));
    if (at == 0)
        cgrx_place_end(p, b);
}
KR_MAP_PROGRAM(cgrx_nodes_place, place_params, cgrx_place_entry);

/* ---- Starts and hints ---------------------------------------------------------------------- */

KR_BODY uint32_t cgrx_index_first(const cgrx_index_params *p, uint64_t b)
{
    const uint64_t first = p->firsts ? kr_load(p->firsts + b) : b * p->bucket;
    return (uint32_t)(first < p->n ? first : p->n);
}

/* Indexes list b, or for b = n_lists the end behind all lists. */
KR_BODY void cgrx_index_list(const cgrx_index_params *p, uint64_t b)
{
    const uint64_t first = cgrx_index_first(p, b), stride = CGRX_LISTS_STRIDE;
    const uint64_t hints = p->n / stride + 2;
    const uint64_t to = b < p->n_lists ? (cgrx_index_first(p, b + 1) + stride - 1) / stride : hints;
    p->starts[b] = (uint32_t)first;
    for (uint64_t h = (first + stride - 1) / stride; h < to; ++h)
        p->hints[h] = (uint32_t)(b < p->n_lists ? b : p->n_lists - 1);
}
KR_MAP_PROGRAM(cgrx_nodes_index, cgrx_index_params, cgrx_index_list);

/* ---- Flatten ------------------------------------------------------------------------------- */

typedef struct flatten_params {
    kr_entries store;
    cgrx_lists lists;
    kr_key *keys;
    uint32_t *rows;
} flatten_params;
kr_assert_size(flatten_params, 88);

KR_BODY void cgrx_flatten_list(kr_group group, const flatten_params *p, uint32_t b)
{
    const uint32_t first = kr_load(p->lists.starts + b);
    for (list_run run = cgrx_list_begin(group, &p->lists, b); run.n;
         cgrx_list_go_on(group, &p->lists, &run)) {
        if (group.rank < run.n) {
            const uint64_t slot = cgrx_list_run_slot(&p->lists, &run) + group.rank;
            const uint64_t to = (uint64_t)first + run.position + group.rank;
            p->keys[to] = kr_entries_key(&p->store, slot);
            p->rows[to] = kr_entries_row(&p->store, slot);
        }
    }
}

KR_BODY void cgrx_flatten_lists(kr_group group, const flatten_params *p, uint64_t i, uint64_t n)
{
    for (uint32_t todo = kr_group_ballot(group, i < n); todo; todo &= todo - 1)
        cgrx_flatten_list(group, p, (uint32_t)(i - group.rank) + kr_ctz32(todo));
}
KR_GROUP_PROGRAM(cgrx_nodes_flatten_lists, flatten_params, cgrx_flatten_lists);

/* ---- Check --------------------------------------------------------------------------------- */

/* found[...]: one more than the last faulty list (HINT: hint); the last four are sums and maxima. */
enum {
    CHECK_START,    /* starts fall, or do not go from 0 to n */
    CHECK_CHAIN,    /* too short, too long, or through nodes of other lists */
    CHECK_END,      /* ends do not ascend, or the last is not open */
    CHECK_HINT,     /* hints name another list */
    CHECK_ENTRY,    /* entries beyond an end */
    CHECK_NODES,    /* nodes in lists and spare ones */
    CHECK_DISTINCT, /* distinct ones among them */
    CHECK_LONGEST,
    CHECK_MOST, /* nodes of a list */
    CHECKS
};

typedef struct check_params {
    kr_entries store;
    cgrx_lists lists;
    const kr_key *ends;
    const uint32_t *end_rows, *spare;
    uint32_t *seen; /* one bit per node */
    uint64_t *found;
    uint64_t n, n_used, n_spare;
} check_params;
kr_assert_size(check_params, 136);

KR_BODY void cgrx_check_see(const check_params *p, uint32_t node)
{
    kr_atomic_or32(p->seen + node / 32, (uint32_t)1 << node % 32);
    kr_atomic_add64(p->found + CHECK_NODES, 1);
}

/* Without sizes a node is full, or has all that is left. */
KR_BODY int cgrx_check_chain(const check_params *p, uint32_t b, uint32_t count)
{
    uint32_t node = b, left = count, nodes = 0;
    for (;;) {
        const uint32_t fill =
            p->lists.sizes ? kr_load(p->lists.sizes + node) : cgrx_list_min(left, p->lists.node);
        const uint32_t next = kr_load(p->lists.next + node);
        cgrx_check_see(p, node);
        kr_atomic_max64(p->found + CHECK_MOST, ++nodes);
        if (fill > p->lists.node || fill > left || (count && !fill))
            return 0;
        left -= fill;
        if (!left)
            return next == CGRX_NO_NODE;
        if (next < p->lists.n || next >= p->n_used)
            return 0;
        node = next;
    }
}

KR_BODY int cgrx_check_end(const check_params *p, uint64_t b)
{
    const kr_key end = kr_load(p->ends + b);
    const uint32_t row = kr_load(p->end_rows + b);
    if (b + 1 == p->lists.n && (end != (kr_key) ~(kr_key)0 || row != KR_NO_ROW))
        return 0;
    return b == 0 || cgrx_pair_less(kr_load(p->ends + b - 1), kr_load(p->end_rows + b - 1), end, row);
}

KR_BODY void cgrx_check_list(const check_params *p, uint64_t b)
{
    const uint32_t first = kr_load(p->lists.starts + b), end = kr_load(p->lists.starts + b + 1);
    if (end < first || end > p->n || (b == 0 && first != 0) || (b + 1 == p->lists.n && end != p->n)) {
        kr_atomic_max64(p->found + CHECK_START, b + 1);
        return;
    }
    kr_atomic_max64(p->found + CHECK_LONGEST, end - first);
    if (!cgrx_check_chain(p, (uint32_t)b, end - first))
        kr_atomic_max64(p->found + CHECK_CHAIN, b + 1);
    if (!cgrx_check_end(p, b))
        kr_atomic_max64(p->found + CHECK_END, b + 1);
}
KR_MAP_PROGRAM(cgrx_nodes_check_list, check_params, cgrx_check_list);

KR_BODY void cgrx_check_spare(const check_params *p, uint64_t i)
{
    const uint32_t node = kr_load(p->spare + i);
    if (node >= p->lists.n && node < p->n_used)
        cgrx_check_see(p, node);
    else
        kr_atomic_add64(p->found + CHECK_NODES, 1); /* and no node is one more distinct one */
}
KR_MAP_PROGRAM(cgrx_nodes_check_spare, check_params, cgrx_check_spare);

/* Runs after all nodes were seen. */
KR_BODY void cgrx_check_seen(const check_params *p, uint64_t word)
{
    const uint32_t seen = kr_popcount32(kr_load(p->seen + word));
    if (seen)
        kr_atomic_add64(p->found + CHECK_DISTINCT, seen);
}
KR_MAP_PROGRAM(cgrx_nodes_check_seen, check_params, cgrx_check_seen);

KR_BODY void cgrx_check_hint(const check_params *p, uint64_t h)
{
    const uint64_t position = h * CGRX_LISTS_STRIDE;
    const uint32_t b = kr_load(p->lists.hints + h);
    const int right = b >= p->lists.n    ? 0
                      : position >= p->n ? b == p->lists.n - 1
                                         : kr_load(p->lists.starts + b) <= position &&
                                               kr_load(p->lists.starts + b + 1) > position;
    if (!right)
        kr_atomic_max64(p->found + CHECK_HINT, h + 1);
}
KR_MAP_PROGRAM(cgrx_nodes_check_hint, check_params, cgrx_check_hint);

/* Runs only if starts and chains are right. */
KR_BODY void cgrx_check_entries_of(kr_group group, const check_params *p, uint32_t b)
{
    const kr_key end = kr_load(p->ends + b), before = b ? kr_load(p->ends + b - 1) : 0;
    const uint32_t end_row = kr_load(p->end_rows + b), row_before = b ? kr_load(p->end_rows + b - 1) : 0;
    for (list_run run = cgrx_list_begin(group, &p->lists, b); run.n;
         cgrx_list_go_on(group, &p->lists, &run)) {
        if (group.rank < run.n) {
            const uint64_t slot = cgrx_list_run_slot(&p->lists, &run) + group.rank;
            const kr_key key = kr_entries_key(&p->store, slot);
            const uint32_t row = kr_entries_row(&p->store, slot);
            if (cgrx_pair_less(end, end_row, key, row) ||
                (b && !cgrx_pair_less(before, row_before, key, row)))
                kr_atomic_max64(p->found + CHECK_ENTRY, (uint64_t)b + 1);
        }
    }
}

KR_BODY void cgrx_check_entries(kr_group group, const check_params *p, uint64_t i, uint64_t n)
{
    for (uint32_t todo = kr_group_ballot(group, i < n); todo; todo &= todo - 1)
        cgrx_check_entries_of(group, p, (uint32_t)(i - group.rank) + kr_ctz32(todo));
}
KR_GROUP_PROGRAM(cgrx_nodes_check_entries, check_params, cgrx_check_entries);

#endif
