#include "joins/sort_merge.h"
#include "sorted/sorted.h"

#include <stdio.h>
#include <string.h>

/* Rows of a column that are looked at before any column is read whole. */
enum { FIRST_LOOK = 1 << 16 };
enum { PIECES = 256, PIECE_LEAST = 64, PIECE_MOST = 1 << 18 };

/* A merge under way. */
typedef struct merging {
    const kr_join_job *job;
    kr_device *device;
    join_merge_params params;
    uint64_t pieces;
    int is_wide;  /* codes of 64 bits */
    int may_sort; /* 1: a right side in no order may be sorted */
    int distinct;
    kr_sorted sorted; /* the right side, if it had to be sorted */
    kr_buffer left, right, counts;
} merging;

static const kr_program *program_of(const merging *m, const kr_program *narrow, const kr_program *wide)
{
    return m->is_wide ? wide : narrow;
}

/* ---- Order ------------------------------------------------------------------------------------ */

kr_status kr_join_ascends(kr_device *device, const kr_column *column, uint64_t n, int *ascends, int *distinct,
                          kr_error *err)
{
    const kr_program *program = kr_type_key_bits(column->type) == 64 ? &join_order_u64 : &join_order_u32;
    kr_buffer counters = {0};
    uint64_t seen[2] = {0};
    kr_status status = kr_counters_make(device, NULL, 2, &counters, err);
    const join_order_params params = {.data = column->data,
                                      .falls = counters.data,
                                      .repeats = (uint64_t *)counters.data + 1,
                                      .n = n,
                                      .type = column->type};
    if (status == KR_OK)
        status = kr_device_run(device, program, &params, n, NULL, err);
    if (status == KR_OK)
        status = kr_counters_read(device, NULL, &counters, seen, 2, err);
    kr_buffer_release(device, &counters, NULL);
    *ascends = !seen[0];
    *distinct = !seen[1];
    return status;
}

/* The first rows of all columns, then all rows, so that a column in no order is seldom found out late. What
 * is left of `n` afterwards are the columns that ascend, if a merge is worth it. */
static kr_status check_order(merging *m, const kr_column *const columns[3], uint32_t *n, kr_error *err)
{
    kr_status status = KR_OK;
    for (int whole = 0; whole < 2; ++whole)
        for (uint32_t i = 0; i < *n && status == KR_OK; ++i) {
            const uint64_t rows = whole || columns[i]->count < FIRST_LOOK ? columns[i]->count : FIRST_LOOK;
            int ascends = !columns[i]->validity;
            if (ascends)
                status = kr_join_ascends(m->device, columns[i], rows, &ascends, &m->distinct, err);
            *n = ascends ? *n : m->may_sort ? i : 0;
        }
    return status;
}

/* Instead of the index of a right side in no order: its keys in order, which cost no search to merge. */
static kr_status sort_right(merging *m, const kr_column *right, kr_error *err)
{
    kr_spec spec = {0};
    uint32_t is_unique = 0;
    const kr_build build = {.device = m->device,
                            .spec = &spec,
                            .keys = *right,
                            .is_unique = &is_unique,
                            .used_bits = m->job->used_bits};
    kr_work w = kr_work_on(m->device, NULL, err);
    m->sorted = kr_sorted_build(&w, &build);
    kr_sorted_keep(&w, &m->sorted);
    m->distinct = is_unique != 0;
    return kr_work_end(&w);
}

/* ---- Results ---------------------------------------------------------------------------------- */

static kr_status allocate(const merging *m, uint64_t n, kr_buffer *left, kr_buffer *right, kr_error *err)
{
    kr_status status = kr_join_allocate(m->device, n, "left rows", left, err);
    if (status == KR_OK && kr_join_has_pairs(m->job->type))
        status = kr_join_allocate(m->device, n, "right rows", right, err);
    return status;
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

static kr_status pack(const merging *m, const kr_buffer *from, kr_buffer *to, kr_error *err)
{
    const pack_params params = {from->data, to->data, m->counts.data, m->params.each};
    /* No rows are no memory, and semi and anti joins have one column. */
    return to->data ? kr_device_run(m->device, &join_merge_pack, &params, m->pieces, NULL, err) : KR_OK;
}

/* counts[i] := the results of all pieces before i. */
static kr_status sum_counts(const merging *m, uint64_t *total, kr_error *err)
{
    uint64_t *counts = m->counts.data;
    kr_status status = kr_device_exclusive_sum(m->device, counts, m->pieces + 1, NULL, err);
    if (status == KR_OK)
        status = kr_device_copy(m->device, total, counts + m->pieces, sizeof *total, NULL, err);
    return status == KR_OK ? kr_device_sync(m->device, NULL, err) : status;
}

/* At most one result of each left row: one pass, and a copy if there were fewer. */
static kr_status merge_once(merging *m, const kr_program *program, uint64_t *total, kr_error *err)
{
    kr_buffer left = {0}, right = {0};
    const uint64_t most = m->params.n_left;
    kr_status status = allocate(m, most, &m->left, &m->right, err);
    m->params.left_rows = m->left.data;
    m->params.right_rows = m->right.data;
    if (status == KR_OK)
        status = kr_device_run(m->device, program, &m->params, m->pieces, NULL, err);
    if (status == KR_OK)
        status = sum_counts(m, total, err);
    if (status != KR_OK || *total == most)
        return status;
    status = allocate(m, *total, &left, &right, err);
    if (status == KR_OK)
        status = pack(m, &m->left, &left, err);
    if (status == KR_OK)
        status = pack(m, &m->right, &right, err);
    kr_buffer_release(m->device, &m->right, NULL);
    kr_buffer_release(m->device, &m->left, NULL);
    m->left = left;
    m->right = right;
    return status;
}

/* Any number of results of a left row: they are counted first. */
static kr_status merge_twice(merging *m, uint64_t *total, kr_error *err)
{
    const kr_program *count = program_of(m, &join_merge_count_u32, &join_merge_count_u64);
    const kr_program *write = program_of(m, &join_merge_pairs_u32, &join_merge_pairs_u64);
    kr_status status = kr_device_run(m->device, count, &m->params, m->pieces, NULL, err);
    if (status == KR_OK)
        status = sum_counts(m, total, err);
    if (status == KR_OK)
        status = allocate(m, *total, &m->left, &m->right, err);
    m->params.left_rows = m->left.data;
    m->params.right_rows = m->right.data;
    return status == KR_OK ? kr_device_run(m->device, write, &m->params, m->pieces, NULL, err) : status;
}

static kr_status merge_sides(merging *m, uint64_t *total, kr_error *err)
{
    const int with_pairs = kr_join_has_pairs(m->job->type);
    const uint64_t each = (m->params.n_left / PIECES + 63) / 64 * 64;
    m->params.each = each < PIECE_LEAST ? PIECE_LEAST : each < PIECE_MOST ? each : PIECE_MOST;
    m->params.single = !m->job->right_upper && (!with_pairs || m->distinct);
    m->params.outer = m->job->type == KR_JOIN_LEFT;
    m->params.without = m->job->type == KR_JOIN_ANTI;
    m->pieces = (m->params.n_left + m->params.each - 1) / m->params.each;
    const kr_status status = kr_counters_make(m->device, NULL, (uint32_t)m->pieces + 1, &m->counts, err);
    if (status != KR_OK)
        return status;
    m->params.counts = m->counts.data;
    if (!with_pairs)
        return merge_once(m, program_of(m, &join_merge_rows_u32, &join_merge_rows_u64), total, err);
    if (m->params.single)
        return merge_once(m, program_of(m, &join_merge_single_u32, &join_merge_single_u64), total, err);
    return merge_twice(m, total, err);
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

static kr_status name_right(const merging *m, uint64_t total, kr_error *err)
{
    const name_params params = {m->sorted.rows.data, m->right.data};
    return m->sorted.rows.data && m->right.data
               ? kr_device_run(m->device, &join_merge_name, &params, total, NULL, err)
               : KR_OK;
}

/* ---- The whole join ---------------------------------------------------------------------------- */

static int can_merge(const kr_join_job *job)
{
    return job->device->ops->is_host && job->may_merge && job->type != KR_JOIN_RIGHT &&
           job->type != KR_JOIN_FULL && !job->left->validity && !(job->right_upper && job->right->validity) &&
           !(job->right_upper && job->right_upper->validity) && job->left->count < KR_NO_ROW &&
           job->right->count < KR_NO_ROW;
}

static kr_status run(merging *m, const kr_column *const columns[3], kr_stopwatch *watch, uint64_t *total,
                     int *done, kr_error *err)
{
    const uint32_t all = m->job->right_upper ? 3 : 2;
    uint32_t ascend = all;
    kr_status status = check_order(m, columns, &ascend, err);
    kr_stopwatch_lap(watch, "order");
    if (status != KR_OK || !ascend)
        return status;
    if (ascend < all) {
        status = sort_right(m, columns[1], err);
        kr_stopwatch_lap(watch, "sort");
    }
    if (status != KR_OK)
        return status;
    const int sorted = ascend < all;
    m->params.left = columns[0]->data;
    m->params.lower = sorted ? m->sorted.keys.data : columns[1]->data;
    m->params.upper = m->job->right_upper ? columns[2]->data : m->params.lower;
    m->params.n_left = columns[0]->count;
    m->params.n_right = sorted ? m->sorted.n : columns[1]->count;
    m->params.type = columns[0]->type;
    m->params.right_type = !sorted ? columns[0]->type : m->is_wide ? KR_U64 : KR_U32;
    status = merge_sides(m, total, err);
    if (status == KR_OK)
        status = name_right(m, *total, err);
    kr_stopwatch_lap(watch, "merge");
    *done = status == KR_OK;
    return status;
}

kr_status kr_join_sort_merge(const kr_join_job *job, int may_sort, kr_stopwatch *watch, kr_join *join,
                             int *done, kr_error *err)
{
    const kr_column *const given[3] = {job->left, job->right, job->right_upper}, *columns[3] = {NULL};
    kr_resident here[3] = {0};
    merging m = {.job = job,
                 .device = job->device,
                 .is_wide = kr_type_key_bits(job->left->type) == 64,
                 .may_sort = may_sort && !job->right_upper};
    kr_status status = KR_OK;
    uint64_t total = 0;
    if (!can_merge(job))
        return KR_OK;
    for (int i = 0; i < 3 && given[i] && status == KR_OK; ++i) {
        status = kr_resident_make(job->device, given[i], "a copy of a side", NULL, &here[i], err);
        columns[i] = &here[i].column;
    }
    if (status == KR_OK)
        status = run(&m, columns, watch, &total, done, err);
    kr_buffer_release(job->device, &m.counts, NULL);
    kr_sorted_release(job->device, &m.sorted, NULL);
    for (int i = 0; i < 3; ++i)
        kr_resident_release(job->device, &here[i], NULL);
    if (!*done) {
        kr_buffer_release(job->device, &m.right, NULL);
        kr_buffer_release(job->device, &m.left, NULL);
        return status;
    }
    join->left = m.left;
    join->right = m.right;
    kr_join_info *info = &join->info;
    info->pairs = total;
    snprintf(info->tracer, sizeof info->tracer, "none");
    snprintf(info->indexed, sizeof info->indexed, "none");
    return KR_OK;
}
