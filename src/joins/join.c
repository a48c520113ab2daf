#include "joins/join.h"
#include "joins/join_body.h"

#include <stdio.h>
#include <string.h>

/* The state of a join under way, all on the device's own stream. */
typedef struct joining {
    const kr_join_job *job;
    kr_device *device;
    kr_index *index;
    kr_query query;
    kr_matches matches; /* of the probing side's rows */
    kr_buffer partners; /* uint32_t[matched]: indexed rows, probe by probe */
    uint64_t matched;   /* in all */
    kr_stopwatch watch;
} joining;

/* Pairs of n rows with matches, in row order. */
typedef struct pair_list {
    kr_buffer offsets, rows, partners;
    uint64_t n;
} pair_list;

static kr_status allocate(const joining *j, uint64_t nbytes, const char *what, kr_buffer *buffer,
                          kr_error *err)
{
    return kr_buffer_allocate(j->device, nbytes, NULL, what, "a smaller side, or semi and anti joins", buffer,
                              err);
}

/* The last of n + 1 offsets. Blocks. */
static kr_status read_total(const joining *j, const kr_buffer *offsets, uint64_t n, uint64_t *total,
                            kr_error *err)
{
    kr_status status =
        kr_device_copy(j->device, total, (const uint64_t *)offsets->data + n, sizeof *total, NULL, err);
    return status == KR_OK ? kr_sync(j->device, NULL, err) : status;
}

static void release_list(const joining *j, pair_list *list)
{
    kr_buffer_release(j->device, &list->partners, NULL);
    kr_buffer_release(j->device, &list->rows, NULL);
    kr_buffer_release(j->device, &list->offsets, NULL);
}

/* Writes the pairs of `n` rows whose matches have these offsets; partners NULL: rows only. */
static kr_status write_pairs(const joining *j, kr_join_type type, uint64_t n, const kr_buffer *matched,
                             const uint32_t *partners, pair_list *list, kr_error *err)
{
    pairs_params params = {.matched = matched->data, .partners = partners, .join = type};
    kr_status status = allocate(j, (n + 1) * sizeof(uint64_t), "offsets of pairs", &list->offsets, err);
    params.offsets = list->offsets.data;
    if (status == KR_OK)
        status = kr_device_fill(j->device, list->offsets.data, 0, list->offsets.nbytes, NULL, err);
    if (status == KR_OK)
        status = kr_device_run(j->device, &join_pairs_count, &params, n, NULL, err);
    if (status == KR_OK)
        status = kr_device_exclusive_sum(j->device, list->offsets.data, n + 1, NULL, err);
    if (status == KR_OK)
        status = read_total(j, &list->offsets, n, &list->n, err);
    if (status == KR_OK)
        status = allocate(j, list->n * sizeof(uint32_t), "rows of pairs", &list->rows, err);
    if (status == KR_OK && (type == KR_JOIN_INNER || type == KR_JOIN_LEFT))
        status = allocate(j, list->n * sizeof(uint32_t), "partners of pairs", &list->partners, err);
    params.probe_rows = list->rows.data;
    params.partner_rows = list->partners.data;
    if (status == KR_OK && list->n)
        status = kr_device_run(j->device, &join_pairs_write, &params, n, NULL, err);
    return status;
}

/* ---- The right side indexed: the probes are the left rows ----------------------------------- */

static kr_status join_forward(joining *j, kr_join *join, kr_error *err)
{
    pair_list list = {.n = 0};
    kr_status status =
        write_pairs(j, j->job->type, j->query.n, &j->matches.offsets, j->partners.data, &list, err);
    if (status == KR_OK) {
        join->info.pairs = list.n;
        join->left = list.rows;
        join->right = list.partners;
        list.rows = list.partners = (kr_buffer){0};
    }
    release_list(j, &list);
    return status;
}

/* ---- The left side indexed: the probes are the right rows ----------------------------------- */

/* Offsets of 0 or 1 match per left row. */
static kr_status mark_left(const joining *j, kr_buffer *counts, kr_error *err)
{
    const uint64_t n = j->job->left->count;
    kr_buffer marks = {0};
    kr_status status = allocate(j, n, "marks of left rows", &marks, err);
    if (status == KR_OK)
        status = allocate(j, (n + 1) * sizeof(uint64_t), "offsets of left rows", counts, err);
    if (status == KR_OK)
        status = kr_device_fill(j->device, marks.data, 0, marks.nbytes, NULL, err);
    if (status == KR_OK)
        status = kr_device_fill(j->device, counts->data, 0, counts->nbytes, NULL, err);
    const marks_params params = {j->partners.data, marks.data, counts->data};
    if (status == KR_OK)
        status = kr_device_run(j->device, &join_marks_set, &params, j->matched, NULL, err);
    if (status == KR_OK)
        status = kr_device_run(j->device, &join_marks_count, &params, n, NULL, err);
    if (status == KR_OK)
        status = kr_device_exclusive_sum(j->device, counts->data, n + 1, NULL, err);
    kr_buffer_release(j->device, &marks, NULL);
    return status;
}

/* Semi and anti: the left rows that were found, or were not. */
static kr_status select_left(joining *j, kr_join_type type, pair_list *list, kr_error *err)
{
    kr_buffer counts = {0};
    kr_status status = mark_left(j, &counts, err);
    if (status == KR_OK)
        status = write_pairs(j, type, j->job->left->count, &counts, NULL, list, err);
    kr_buffer_release(j->device, &counts, NULL);
    return status;
}

/* The found pairs with sides exchanged, then `alone` left rows without a partner. */
static kr_status exchange(joining *j, const pair_list *found, const pair_list *alone, kr_join *join,
                          kr_error *err)
{
    const uint64_t n = found->n + alone->n, found_nbytes = found->n * sizeof(uint32_t);
    kr_status status = allocate(j, n * sizeof(uint32_t), "left rows", &join->left, err);
    if (status == KR_OK)
        status = allocate(j, n * sizeof(uint32_t), "right rows", &join->right, err);
    if (status == KR_OK)
        status = kr_device_fill(j->device, join->right.data, 0xFF, join->right.nbytes, NULL, err);
    if (status == KR_OK)
        status = kr_device_copy(j->device, join->left.data, found->partners.data, found_nbytes, NULL, err);
    if (status == KR_OK)
        status = kr_device_copy(j->device, join->right.data, found->rows.data, found_nbytes, NULL, err);
    if (status == KR_OK && alone->n)
        status = kr_device_copy(j->device, (uint32_t *)join->left.data + found->n, alone->rows.data,
                                alone->n * sizeof(uint32_t), NULL, err);
    join->info.pairs = n;
    return status;
}

/* Sorted by left row; right rows ascend already, because probes did and the sort is stable. */
static kr_status sort_by_left(joining *j, kr_join *join, kr_error *err)
{
    kr_buffer left = {0}, right = {0};
    kr_status status = allocate(j, join->left.nbytes, "sorted left rows", &left, err);
    if (status == KR_OK)
        status = allocate(j, join->right.nbytes, "sorted right rows", &right, err);
    const kr_sort sort = {.key_bits = 32,
                          .end_bit = 32 - kr_clz32((uint32_t)j->job->left->count),
                          .n = join->info.pairs,
                          .keys_in = join->left.data,
                          .keys_out = left.data,
                          .rows_in = join->right.data,
                          .rows_out = right.data};
    if (status == KR_OK)
        status = kr_device_sort(j->device, &sort, NULL, err);
    if (status == KR_OK) {
        const kr_buffer old_left = join->left, old_right = join->right;
        join->left = left;
        join->right = right;
        left = old_left;
        right = old_right;
    }
    kr_buffer_release(j->device, &right, NULL);
    kr_buffer_release(j->device, &left, NULL);
    return status;
}

static kr_status join_inverse(joining *j, kr_join *join, kr_error *err)
{
    const kr_join_type type = j->job->type;
    pair_list found = {.n = 0}, alone = {.n = 0};
    kr_status status = KR_OK;
    if (type == KR_JOIN_SEMI || type == KR_JOIN_ANTI) {
        status = select_left(j, type, &found, err);
        if (status == KR_OK) {
            join->info.pairs = found.n;
            join->left = found.rows;
            found.rows = (kr_buffer){0};
        }
    } else {
        status =
            write_pairs(j, KR_JOIN_INNER, j->query.n, &j->matches.offsets, j->partners.data, &found, err);
        if (status == KR_OK && type == KR_JOIN_LEFT)
            status = select_left(j, KR_JOIN_ANTI, &alone, err);
        if (status == KR_OK)
            status = exchange(j, &found, &alone, join, err);
        if (status == KR_OK && !j->job->unordered)
            status = sort_by_left(j, join, err);
    }
    release_list(j, &alone);
    release_list(j, &found);
    return status;
}

/* ---- Both -------------------------------------------------------------------------------------- */

/* Finds the matches of every probe, and their rows unless only the left probes matter. */
static kr_status find_partners(joining *j, kr_error *err)
{
    kr_status status = kr_matches_find(&j->query, &j->matches, err);
    if (status == KR_OK)
        status = read_total(j, &j->matches.offsets, j->query.n, &j->matched, err);
    const int probes_only =
        !j->job->inverse && (j->job->type == KR_JOIN_SEMI || j->job->type == KR_JOIN_ANTI);
    if (status != KR_OK || probes_only)
        return status;
    status = allocate(j, j->matched * sizeof(uint32_t), "matching rows", &j->partners, err);
    const kr_matches_part part = {
        .count = j->query.n, .capacity = j->matched, .out = j->partners.data, .order = KR_ORDER_KEY};
    return status == KR_OK ? kr_matches_copy(&j->query, &j->matches, &part, err) : status;
}

static kr_status probe(joining *j, const kr_column *lower, const kr_column *upper, kr_join *join,
                       kr_error *err)
{
    kr_resident low = {0}, high = {0};
    kr_status status = kr_resident_make(j->device, lower, "a copy of the probes", NULL, &low, err);
    if (status == KR_OK && upper)
        status = kr_resident_make(j->device, upper, "a copy of the upper bounds", NULL, &high, err);
    kr_stopwatch_lap(&j->watch, "copy");
    if (status == KR_OK) {
        j->query = kr_query_make(j->index, &low.column, upper ? &high.column : NULL, NULL, &j->watch);
        status = find_partners(j, err);
        if (status == KR_OK)
            status = j->job->inverse ? join_inverse(j, join, err) : join_forward(j, join, err);
        if (status == KR_OK)
            status = kr_sync(j->device, NULL, err);
        kr_buffer_release(j->device, &j->partners, NULL);
        kr_matches_release(&j->query, &j->matches);
        kr_stopwatch_lap(&j->watch, "pairs");
    }
    kr_resident_release(j->device, &high, NULL);
    kr_resident_release(j->device, &low, NULL);
    return status;
}

static kr_status build_index(joining *j, const kr_column *indexed, kr_error *err)
{
    kr_spec spec;
    kr_shape shape;
    kr_status status = kr_choose(j->job->spec, KR_OP_JOIN, &spec, NULL, err);
    if (status == KR_OK)
        status = kr_shape_make(j->device, &spec, indexed, 0, &shape, err);
    return status == KR_OK ? kr_index_make(j->device, &spec, indexed, NULL, NULL, &j->index, err) : status;
}

kr_status kr_join_run(const kr_join_job *job, kr_join *join, kr_error *err)
{
    joining j = {.job = job, .device = job->device};
    const kr_column *indexed = job->inverse ? job->left : job->right;
    const kr_column *probes = job->inverse ? job->right : job->left;
    const uint64_t before = kr_device_peak_begin(job->device);
    if (probes->count >= KR_NO_ROW)
        return kr_fail(err, KR_ERR_LIMIT, "%llu rows: a side of a join has at most 4294967294",
                       (unsigned long long)probes->count);
    kr_stopwatch_start(&j.watch, job->device, NULL);
    kr_status status = build_index(&j, indexed, err);
    kr_stopwatch_lap(&j.watch, "build");
    const uint64_t built = kr_device_peak_end(job->device);
    (void)kr_device_peak_begin(job->device);
    if (status == KR_OK)
        status = probe(&j, probes, job->upper, join, err);
    const uint64_t probed = kr_device_peak_end(job->device), most = built > probed ? built : probed;
    if (status == KR_OK) {
        kr_join_info *info = &join->info;
        memcpy(info->spec, j.index->info.spec, sizeof info->spec);
        snprintf(info->device, sizeof info->device, "%s", job->device->name);
        snprintf(info->indexed, sizeof info->indexed, "%s", job->inverse ? "left" : "right");
        info->footprint_nbytes = j.index->info.footprint_nbytes;
        info->peak_nbytes = most > before ? most - before : 0;
        info->n_phases = j.watch.n_phases;
        memcpy(info->phases, j.watch.phases, sizeof info->phases);
    }
    kr_index_destroy(j.index);
    return status;
}
