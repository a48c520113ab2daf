#include "join/sort_merge.h"
#include "index/sorted/sorted.h"

#include <stdio.h>
#include <string.h>

/* Rows of a column that are looked at before any column is read whole. */
enum { FIRST_LOOK = 1 << 16 };
enum { PIECES = 256, PIECE_LEAST = 64, PIECE_MOST = 1 << 18 };

/* A merge under way. */
typedef struct merging {
    kr_work *work;
    const kr_join_job *job;
    join_merge_params params;
    uint64_t pieces;
    int is_wide;                /* codes of 64 bits */
    int (*may_sort)(void *ctx); /* whether a right side in no order is sorted; NULL: it is not */
    void *ctx;
    int distinct;
    kr_sorted sorted;       /* the right side, if it had to be sorted */
    uint32_t *left, *right; /* the result */
    uint64_t n;             /* of it */
} merging;

static const kr_program *program_of(const merging *m, const kr_program *narrow, const kr_program *wide)
{
    return m->is_wide ? wide : narrow;
}

/* ---- Order ------------------------------------------------------------------------------------ */

int kr_join_ascends(kr_work *w, const kr_column *column, uint64_t n, int *distinct)
{
    const kr_program *program = kr_type_key_bits(column->type) == 64 ? &join_order_u64 : &join_order_u32;
    uint64_t *counters = kr_work_counters(w, 2), seen[2] = {0};
    const join_order_params params = {.data = column->data,
                                      .falls = counters,
                                      .repeats = KR_PLACE_IN(counters, 1),
                                      .n = n,
                                      .type = column->type};
    kr_work_run(w, program, &params, n);
    kr_work_read(w, seen, counters, sizeof seen);
    kr_work_give(w, counters);
    if (distinct)
        *distinct = !seen[1];
    return kr_work_goes_on(w) && !seen[0];
}

/* The first rows of all n columns, then all rows, so that a column in no order is seldom found out late.
 * Returns how many columns ascend, if a merge is worth it, else 0. */
static uint32_t check_order(merging *m, const kr_column columns[3], uint32_t n)
{
    const uint32_t all = n;
    for (int whole = 0; whole < 2; ++whole)
        for (uint32_t i = 0; i < n; ++i) {
            const uint64_t rows = whole || columns[i].count < FIRST_LOOK ? columns[i].count : FIRST_LOOK;
            if (columns[i].validity || !kr_join_ascends(m->work, &columns[i], rows, &m->distinct))
                n = i == 0 || !m->may_sort ? 0 : i;
        }
    return n && n < all && !m->may_sort(m->ctx) ? 0 : n;
}

/* Instead of the index of a right side in no order: its keys in order, which cost no search to merge. */
static void sort_right(merging *m, const kr_column *right)
{
    kr_spec spec = {0};
    uint32_t is_unique = 0;
    const kr_build build = {
        .spec = &spec, .keys = *right, .is_unique = &is_unique, .used_bits = m->job->used_bits};
    m->sorted = kr_sorted_build(m->work, &build);
    m->distinct = is_unique != 0;
    kr_work_lap(m->work, "sort");
}

/* ---- Results ---------------------------------------------------------------------------------- */

/* Room for n results. */
static void take_result(merging *m, uint64_t n)
{
    m->left = kr_join_take(m->work, n, "left rows");
    m->right = kr_join_has_pairs(m->job->type) ? kr_join_take(m->work, n, "right rows") : NULL;
}

/* What each piece wrote at the place of its first row goes behind what the pieces before it wrote. */
typedef struct pack_params {
    const uint32_t *from;
    uint32_t *to;
    const uint64_t *counts;
    uint64_t each;
} pack_params;
kr_assert_size(pack_params, 32);

KR_BODY void pack_pieces(const pack_params *p, uint64_t first, uint64_t end)
{
    for (uint64_t piece = first; piece < end; ++piece)
        kr_copy_bytes(p->to + p->counts[piece], p->from + piece * p->each,
                      (p->counts[piece + 1] - p->counts[piece]) * sizeof *p->to);
}
KR_CPU_PIECE_PROGRAM(join_merge_pack, pack_params, pack_pieces);

static void pack(const merging *m, const uint32_t *from, uint32_t *to)
{
    const pack_params params = {from, to, m->params.counts, m->params.each};
    if (to) /* no rows are no memory, and semi and anti joins have one column */
        kr_work_run(m->work, &join_merge_pack, &params, m->pieces);
}

/* counts[i] := the results of all pieces before i. */
static void sum_counts(merging *m)
{
    kr_work_sum(m->work, m->params.counts, m->pieces + 1);
    kr_work_read(m->work, &m->n, KR_PLACE_IN(m->params.counts, m->pieces), sizeof m->n);
}

/* At most one result of each left row: one pass, and a copy if there were fewer. */
static void merge_once(merging *m, const kr_program *program)
{
    const uint64_t most = m->params.n_left;
    take_result(m, most);
    m->params.left_rows = m->left;
    m->params.right_rows = m->right;
    kr_work_run(m->work, program, &m->params, m->pieces);
    sum_counts(m);
    if (!kr_work_goes_on(m->work) || m->n == most)
        return;
    take_result(m, m->n);
    pack(m, m->params.left_rows, m->left);
    pack(m, m->params.right_rows, m->right);
    kr_work_give(m->work, m->params.right_rows);
    kr_work_give(m->work, m->params.left_rows);
}

/* Any number of results of a left row: they are counted first. */
static void merge_twice(merging *m)
{
    kr_work_run(m->work, program_of(m, &join_merge_count_u32, &join_merge_count_u64), &m->params, m->pieces);
    sum_counts(m);
    take_result(m, m->n);
    m->params.left_rows = m->left;
    m->params.right_rows = m->right;
    kr_work_run(m->work, program_of(m, &join_merge_pairs_u32, &join_merge_pairs_u64), &m->params, m->pieces);
}

static void merge_sides(merging *m)
{
    const int with_pairs = kr_join_has_pairs(m->job->type);
    const uint64_t each = (m->params.n_left / PIECES + 63) / 64 * 64;
    m->params.each = each < PIECE_LEAST ? PIECE_LEAST : each < PIECE_MOST ? each : PIECE_MOST;
    m->params.single = !m->job->right_upper && (!with_pairs || m->distinct);
    m->params.outer = (uint32_t)kr_join_keeps_left(m->job->type);
    m->params.without = m->job->type == KR_JOIN_ANTI;
    m->pieces = (m->params.n_left + m->params.each - 1) / m->params.each;
    m->params.counts = kr_work_counters(m->work, (uint32_t)m->pieces + 1);
    if (!with_pairs)
        merge_once(m, program_of(m, &join_merge_rows_u32, &join_merge_rows_u64));
    else if (m->params.single)
        merge_once(m, program_of(m, &join_merge_single_u32, &join_merge_single_u64));
    else
        merge_twice(m);
}

/* Right rows are places in the sorted side so far. */
typedef struct name_params {
    const uint32_t *rows;
    uint32_t *named;
} name_params;
kr_assert_size(name_params, 16);

KR_BODY void name_rows(const name_params *p, uint64_t first, uint64_t end)
{
    for (uint64_t i = first; i < end; ++i)
        if (p->named[i] != KR_NO_ROW)
            p->named[i] = p->rows[p->named[i]];
}
KR_CPU_PROGRAM(join_merge_name, name_params, name_rows);

static void name_right(const merging *m)
{
    const name_params params = {m->sorted.rows.data, m->right};
    if (params.rows && params.named)
        kr_work_run(m->work, &join_merge_name, &params, m->n);
}

/* ---- The whole join ---------------------------------------------------------------------------- */

static int can_merge(const kr_device *device, const kr_join_job *job)
{
    return device->ops->is_host && job->may_merge && !kr_join_keeps_right(job->type) &&
           !job->left->validity && !(job->right_upper && job->right->validity) &&
           !(job->right_upper && job->right_upper->validity) && job->left->count < KR_NO_ROW &&
           job->right->count < KR_NO_ROW;
}

/* 1 if it was done. */
static int run(merging *m, const kr_column columns[3])
{
    const uint32_t all = m->job->right_upper ? 3 : 2, ascend = check_order(m, columns, all);
    const int sorts = ascend < all;
    kr_work_lap(m->work, "order");
    if (!ascend)
        return 0;
    if (sorts)
        sort_right(m, &columns[1]);
    m->params.left = columns[0].data;
    m->params.lower = sorts ? m->sorted.keys.data : columns[1].data;
    m->params.upper = m->job->right_upper ? columns[2].data : m->params.lower;
    m->params.n_left = columns[0].count;
    m->params.n_right = sorts ? m->sorted.n : columns[1].count;
    m->params.type = columns[0].type;
    m->params.right_type = !sorts ? columns[0].type : m->is_wide ? KR_U64 : KR_U32;
    merge_sides(m);
    name_right(m);
    kr_work_lap(m->work, "merge");
    return kr_work_goes_on(m->work);
}

int kr_join_sort_merge(kr_work *w, const kr_join_job *job, int (*may_sort)(void *ctx), void *ctx,
                       kr_join *join)
{
    const kr_column *const given[3] = {job->left, job->right, job->right_upper};
    kr_column columns[3] = {{.count = 0}};
    merging m = {.work = w,
                 .job = job,
                 .is_wide = kr_type_key_bits(job->left->type) == 64,
                 .may_sort = job->right_upper ? NULL : may_sort,
                 .ctx = ctx};
    if (!can_merge(w->device, job))
        return 0;
    for (int i = 0; i < 3 && given[i]; ++i)
        columns[i] = kr_column_bring(w, given[i], "a copy of a side");
    if (!run(&m, columns))
        return 0;
    kr_join_keep(w, join, m.left, m.right, m.n);
    snprintf(join->info.tracer, sizeof join->info.tracer, "none");
    snprintf(join->info.indexed, sizeof join->info.indexed, "none");
    return 1;
}
