#include "joins/join.h"
#include "joins/cost.h"
#include "joins/covering.h"
#include "joins/partners.h"
#include "joins/sample.h"
#include "joins/sort_merge.h"
#include "kinds/choose.h"
#include "results/bitmap.h"
#include "results/found.h"

#include <stdio.h>
#include <string.h>

/* The state of a join under way, all on the device's own stream. */
typedef struct joining {
    const kr_join_job *job;
    kr_device *device;
    int indexes_left; /* 1: the left side is indexed, 0: the right one */
    const kr_index *index;
    kr_query query; /* over the side that is not indexed, the probing one */
    kr_stopwatch watch;
    /* Keys of the indexed side are distinct: */
    kr_buffer answers;       /* uint32_t[n]: the row of each probe, or KR_NO_ROW */
    kr_buffer names;         /* uint32_t[n]: which probe an answer is of; none: answer i is of probe i */
    const kr_column *staged; /* NULL, or the probes, in host memory: searched while they are copied */
    /* Or not, or ranges: */
    kr_matches matches; /* of ranges that are indexed: only offsets */
    uint64_t matched;   /* rows of all matches */
    kr_covering covering;
} joining;

/* The right side is ranges, and it is indexed. */
static int covers(const joining *j)
{
    return j->job->right_upper && !j->indexes_left;
}

/* Each probe has one partner at most. */
static int is_single(const joining *j)
{
    return j->index->is_unique && !kr_join_has_ranges(j->job);
}

/* The left side is indexed, and the result is some of its rows. */
static int lists_indexed(const joining *j)
{
    return j->indexes_left && !kr_join_has_pairs(j->job->type);
}

/* One answer of each probe says all that is asked. */
static int is_answered(const joining *j)
{
    return is_single(j) || (lists_indexed(j) && !kr_join_has_ranges(j->job));
}

/* n pairs (first[i], second[i]); `second` is empty where only rows of one side are wanted. */
typedef struct pair_list {
    kr_buffer first, second;
    uint64_t n;
} pair_list;

static kr_status allocate_rows(const joining *j, uint64_t n, const char *what, kr_buffer *buffer,
                               kr_error *err)
{
    return kr_join_allocate(j->device, n, what, buffer, err);
}

/* The last of n + 1 offsets. Blocks. */
static kr_status read_total(const joining *j, const kr_buffer *offsets, uint64_t n, uint64_t *total,
                            kr_error *err)
{
    kr_status status =
        kr_device_copy(j->device, total, (const uint64_t *)offsets->data + n, sizeof *total, NULL, err);
    return status == KR_OK ? kr_device_sync(j->device, NULL, err) : status;
}

static void release_list(const joining *j, pair_list *list)
{
    kr_buffer_release(j->device, &list->second, NULL);
    kr_buffer_release(j->device, &list->first, NULL);
    list->n = 0;
}

/* Probing rows whose answer is a row (wanted 1) or none (0), ascending. With rows, `answers` may be moved to
 * the list. */
static kr_status list_answers(joining *j, int wanted, int with_rows, pair_list *list, kr_error *err)
{
    const kr_found_job job = {
        .device = j->device,
        .answers = &j->answers,
        .names = j->names.data ? &j->names : NULL,
        .n = j->query.n,
        .wanted = (uint32_t)wanted,
        .with_rows = (uint32_t)with_rows,
        .help = KR_JOIN_SMALLER,
    };
    kr_found found;
    const kr_status status = kr_found_list(&job, &found, err);
    if (status == KR_OK)
        *list = (pair_list){found.probes, found.rows, found.n};
    return status;
}

/* All matches: probing rows, which ascend, unless only indexed rows are wanted; and indexed rows. */
static kr_status list_matches(joining *j, pair_list *list, kr_error *err)
{
    if (is_single(j))
        return list_answers(j, 1, 1, list, err);
    list->n = j->matched;
    if (covers(j))
        return kr_covering_list(&j->covering, &j->query, &j->matches.offsets, j->matched, !j->job->unordered,
                                &list->first, &list->second, err);
    kr_status status =
        lists_indexed(j) ? KR_OK : allocate_rows(j, j->matched, "probing rows of pairs", &list->first, err);
    if (status == KR_OK)
        status = allocate_rows(j, j->matched, "indexed rows of pairs", &list->second, err);
    const kr_matches_copy_job part = {
        .count = j->query.n,
        .capacity = j->matched,
        .out = list->second.data,
        .probes = list->first.data,
        .order = j->job->right_index && !j->job->unordered ? KR_ORDER_ROW : KR_ORDER_KEY,
    };
    return status == KR_OK ? kr_matches_copy(&j->query, &j->matches, &part, err) : status;
}

/* Rows of the indexed side with a partner (wanted 1) or without one (0); `pairs` are all matches. */
static kr_status select_indexed(joining *j, int wanted, const pair_list *pairs, pair_list *list,
                                kr_error *err)
{
    const uint64_t n = j->indexes_left ? j->job->left->count : j->job->right->count;
    kr_selection selection = {.n = n, .wanted = (uint32_t)wanted};
    kr_buffer bitmap = {0};
    kr_status status =
        kr_buffer_allocate(j->device, (n / 32 + 1) * 4, NULL, "marks of rows", NULL, &bitmap, err);
    if (status == KR_OK)
        status = kr_device_fill(j->device, bitmap.data, 0, bitmap.nbytes, NULL, err);
    if (status == KR_OK)
        status = kr_bitmap_mark(j->device, pairs->second.data, pairs->n, bitmap.data, NULL, err);
    selection.bitmap = bitmap.data;
    if (status == KR_OK)
        status = kr_selection_list(j->device, &selection, NULL, &list->first, &list->n, err);
    kr_buffer_release(j->device, &bitmap, NULL);
    return status;
}

/* The same of the probing side, by its answers or by the offsets of its matches. */
static kr_status select_probing(joining *j, int wanted, pair_list *list, kr_error *err)
{
    if (is_single(j))
        return list_answers(j, wanted, 0, list, err);
    const kr_selection selection = {
        .offsets = j->matches.offsets.data, .n = j->query.n, .wanted = (uint32_t)wanted};
    return kr_selection_list(j->device, &selection, NULL, &list->first, &list->n, err);
}

/* Adds the rows of both sides that have no partner behind the pairs (left, right). */
static kr_status append_alone(const joining *j, const pair_list *left, const pair_list *right,
                              pair_list *pairs, kr_error *err)
{
    const uint64_t n = pairs->n, nbytes = n * sizeof(uint32_t);
    pair_list all = {.n = n + left->n + right->n};
    kr_status status = allocate_rows(j, all.n, "left rows", &all.first, err);
    if (status == KR_OK)
        status = allocate_rows(j, all.n, "right rows", &all.second, err);
    uint32_t *first = all.first.data, *second = all.second.data;
    if (status == KR_OK && n)
        status = kr_device_copy(j->device, first, pairs->first.data, nbytes, NULL, err);
    if (status == KR_OK && n)
        status = kr_device_copy(j->device, second, pairs->second.data, nbytes, NULL, err);
    if (status == KR_OK)
        status = kr_join_write_alone(j->device, &left->first, left->n, first + n, second + n, err);
    if (status == KR_OK)
        status = kr_join_write_alone(j->device, &right->first, right->n, second + n + left->n,
                                     first + n + left->n, err);
    release_list(j, status == KR_OK ? pairs : &all);
    if (status == KR_OK)
        *pairs = all;
    return status;
}

/* KR_NO_ROW comes last, since the bits that are compared hold the number of left rows. Right rows ascend
 * already, because probes did and the sort is stable. */
static kr_status sort_by_left(const joining *j, pair_list *pairs, kr_error *err)
{
    return kr_join_sort(j->device, j->job->left->count, &pairs->first, &pairs->second, pairs->n, err);
}

/* ---- The types of joins --------------------------------------------------------------------- */

static kr_status list_partners(joining *j, int wanted, pair_list *result, kr_error *err)
{
    const kr_column *indexed = j->job->left;
    kr_partners partners;
    kr_status status = kr_partners_open(&partners, j->device, indexed->count, err);
    if (status == KR_OK)
        status = kr_partners_mark(&partners, j->answers.data, j->query.n, NULL, err);
    if (status == KR_OK)
        status = kr_partners_list(&partners, j->index, indexed, wanted, &result->first, &result->n, err);
    kr_partners_close(&partners);
    return status;
}

/* Of ranges among left rows, no two hold the same row: there are no more matches than rows. */
static kr_status semi_or_anti(joining *j, pair_list *result, kr_error *err)
{
    const int wanted = j->job->type == KR_JOIN_SEMI;
    pair_list pairs = {.n = 0};
    if (!j->indexes_left)
        return select_probing(j, wanted, result, err);
    if (is_answered(j))
        return list_partners(j, wanted, result, err);
    kr_status status = list_matches(j, &pairs, err);
    if (status == KR_OK)
        status = select_indexed(j, wanted, &pairs, result, err);
    release_list(j, &pairs);
    return status;
}

/* A pair for every probe, if each has one partner at most: answers are the rows of the other side already,
 * KR_NO_ROW included. */
static kr_status list_probes(joining *j, pair_list *result, kr_error *err)
{
    result->n = j->query.n;
    result->second = j->answers;
    j->answers = (kr_buffer){0};
    if (j->names.data) {
        result->first = j->names;
        j->names = (kr_buffer){0};
        return KR_OK;
    }
    const kr_status status = allocate_rows(j, result->n, "probing rows", &result->first, err);
    return status == KR_OK ? kr_number(j->device, result->first.data, result->n, NULL, err) : status;
}

/* Pairs (probing row, indexed row), and the rows of each side that have no partner, if they are wanted. */
static kr_status list_sides(joining *j, pair_list *result, pair_list *probing, pair_list *indexed,
                            kr_error *err)
{
    const kr_join_type type = j->job->type;
    const int lefts = type == KR_JOIN_LEFT || type == KR_JOIN_FULL;
    const int rights = type == KR_JOIN_RIGHT || type == KR_JOIN_FULL;
    const int all_probing = j->indexes_left ? rights : lefts, all_indexed = j->indexes_left ? lefts : rights;
    if (is_single(j) && all_probing && !all_indexed)
        return list_probes(j, result, err);
    kr_status status = all_probing ? select_probing(j, 0, probing, err) : KR_OK;
    if (status == KR_OK)
        status = list_matches(j, result, err);
    if (status == KR_OK && all_indexed)
        status = select_indexed(j, 0, result, indexed, err);
    return status;
}

static kr_status list_pairs(joining *j, pair_list *result, kr_error *err)
{
    pair_list alone[2] = {{.n = 0}, {.n = 0}}; /* of the probing and the indexed side */
    const pair_list *left = &alone[j->indexes_left], *right = &alone[!j->indexes_left];
    kr_status status = list_sides(j, result, &alone[0], &alone[1], err);
    if (j->indexes_left) {
        const kr_buffer rights = result->first;
        result->first = result->second;
        result->second = rights;
    }
    if (status == KR_OK && (left->n || right->n))
        status = append_alone(j, left, right, result, err);
    if (status == KR_OK && !j->job->unordered && (j->indexes_left || left->n))
        status = sort_by_left(j, result, err);
    release_list(j, &alone[1]);
    release_list(j, &alone[0]);
    return status;
}

/* Pairs in any order may stay in that of the search. */
static kr_status find_answers(joining *j, kr_error *err)
{
    const int pairs = kr_join_has_pairs(j->job->type);
    const uint64_t n = j->query.n;
    kr_status status = allocate_rows(j, n, "rows of partners", &j->answers, err);
    if (status != KR_OK || !n)
        return status;
    if (j->staged) {
        const kr_sink sink = {.result = KR_RESULT_ROW, .out = j->answers.data};
        status = kr_staged_answer(&j->query, j->staged, NULL, &sink, NULL, err);
        kr_stopwatch_lap(&j->watch, "copy+search");
        return status;
    }
    if (!j->job->unordered || !pairs || !kr_query_can_stay(&j->query))
        return kr_query_locate(&j->query, KR_PUT_ROW, j->answers.data, err);
    status = allocate_rows(j, n, "probing rows", &j->names, err);
    return status == KR_OK ? kr_query_locate_rows(&j->query, j->answers.data, j->names.data, err) : status;
}

static kr_status find_partners(joining *j, kr_error *err)
{
    if (is_answered(j))
        return find_answers(j, err);
    const int first = !kr_join_has_pairs(j->job->type);
    const kr_status status = covers(j)
                                 ? kr_covering_find(&j->covering, &j->query, first, &j->matches.offsets, err)
                                 : kr_matches_find(&j->query, &j->matches, err);
    return status == KR_OK ? read_total(j, &j->matches.offsets, j->query.n, &j->matched, err) : status;
}

static kr_status find_pairs(joining *j, kr_join *join, kr_error *err)
{
    pair_list result = {.n = 0};
    kr_status status = find_partners(j, err);
    if (status == KR_OK)
        status =
            kr_join_has_pairs(j->job->type) ? list_pairs(j, &result, err) : semi_or_anti(j, &result, err);
    if (status == KR_OK)
        status = kr_device_sync(j->device, NULL, err);
    kr_matches_release(&j->query, &j->matches);
    kr_buffer_release(j->device, &j->names, NULL);
    kr_buffer_release(j->device, &j->answers, NULL);
    if (status != KR_OK) {
        release_list(j, &result);
        return status;
    }
    join->left = result.first;
    join->right = result.second;
    join->info.pairs = result.n;
    return KR_OK;
}

/* `upper` NULL: points. */
static kr_status make_query(joining *j, const kr_column *lower, const kr_column *upper, kr_error *err)
{
    return covers(j) ? kr_covering_query(&j->covering, lower, &j->watch, &j->query, err)
                     : kr_query_make(j->index, lower, upper, NULL, &j->watch, &j->query, err);
}

static kr_status probe(joining *j, const kr_column *lower, const kr_column *upper, kr_join *join,
                       kr_error *err)
{
    kr_resident low = {.column = *lower}, high = {0};
    kr_status status = KR_OK;
    if (is_answered(j) && !kr_column_is_reached(j->device, lower))
        j->staged = lower;
    else
        status = kr_resident_make(j->device, lower, "a copy of the probes", NULL, &low, err);
    if (status == KR_OK && upper)
        status = kr_resident_make(j->device, upper, "a copy of the upper bounds", NULL, &high, err);
    kr_stopwatch_lap(&j->watch, "copy");
    if (status == KR_OK && upper && lists_indexed(j))
        status = kr_ranges_part(j->device, &j->index->spec, NULL, &low, &high, err);
    if (status == KR_OK)
        status = make_query(j, &low.column, upper ? &high.column : NULL, err);
    if (status == KR_OK) {
        status = find_pairs(j, join, err);
        kr_stopwatch_lap(&j->watch, "pairs");
    }
    kr_resident_release(j->device, &high, NULL);
    kr_resident_release(j->device, &low, NULL);
    return status;
}

/* Each left row has a partner, as foreign keys do, unless a sample tells. Pairs are dearer where ranges are
 * indexed: if that does not pay without any, their number does not matter. */
static kr_status find_costs(const kr_join_job *job, const kr_spec *spec, kr_join_costs *costs, kr_error *err)
{
    kr_join_shape shape = {.device = job->device,
                           .kind = spec->kind,
                           .left = job->left->count,
                           .right = job->right->count,
                           .in_order = !job->unordered && kr_join_has_pairs(job->type),
                           .is_range = (uint32_t)kr_join_has_ranges(job),
                           .is_pairs = (uint32_t)kr_join_has_pairs(job->type)};
    kr_status status = KR_OK;
    const kr_join_costs without = kr_join_cost(&shape);
    shape.pairs = (double)job->left->count;
    if (job->right_upper && job->left->data && shape.is_pairs && job->index_side == KR_INVERSE_AUTO &&
        without.right < without.left)
        status = kr_join_sample(job, &shape.pairs, err);
    *costs = kr_join_cost(&shape);
    return status;
}

kr_status kr_join_decide(const kr_join_job *job, kr_spec *spec, int *indexes_left, kr_join_info *info,
                         kr_error *err)
{
    kr_status status = kr_choose(job->device, job->spec, spec, NULL, err);
    if (status == KR_OK) /* before any time is spent on a build */
        status = kr_query_check(spec->kind, kr_join_has_ranges(job), err);
    if (status == KR_OK)
        status = kr_spec_format(spec, info->spec, sizeof info->spec, err);
    if (status != KR_OK)
        return status;
    kr_join_costs costs;
    status = find_costs(job, spec, &costs, err);
    if (status != KR_OK)
        return status;
    info->cost_left = costs.left;
    info->cost_right = costs.right;
    const int may_choose = job->index_side == KR_INVERSE_AUTO;
    *indexes_left = may_choose ? costs.left < costs.right : job->index_side == KR_INVERSE_ON;
    if (job->right_upper && !*indexes_left) { /* ranges are found by the nearest lower bound */
        status = kr_kind_check(spec->kind, KR_CAN_NEAREST, may_choose ? NULL : err);
        *indexes_left = status != KR_OK;
        if (status != KR_OK && !may_choose)
            return status;
    }
    snprintf(info->device, sizeof info->device, "%s", job->device->name);
    snprintf(info->indexed, sizeof info->indexed, "%s", *indexes_left ? "left" : "right");
    return KR_OK;
}

kr_status kr_join_build(const kr_join_job *job, const kr_spec *spec, const kr_column *indexed,
                        kr_index **index, kr_error *err)
{
    kr_shape shape;
    const kr_status status = kr_shape_make(job->device, spec, indexed, NULL, &shape, err);
    if (status != KR_OK)
        return status;
    return job->used_bits ? kr_index_make_narrow(job->device, spec, indexed, job->used_bits, index, err)
                          : kr_index_make(job->device, spec, indexed, NULL, NULL, index, err);
}

/* The index of the right ranges. */
static kr_status build_covering(joining *j, const kr_spec *spec, kr_error *err)
{
    kr_resident low = {0}, high = {0};
    j->covering.device = j->device;
    kr_status status = kr_resident_make(j->device, j->job->right, "a copy of the ranges", NULL, &low, err);
    if (status == KR_OK)
        status = kr_resident_make(j->device, j->job->right_upper, "a copy of the ranges", NULL, &high, err);
    if (status == KR_OK)
        status = kr_covering_build(&j->covering, spec, &low.column, &high.column, &j->watch, err);
    kr_resident_release(j->device, &high, NULL);
    kr_resident_release(j->device, &low, NULL);
    j->index = j->covering.index;
    return status;
}

static kr_status build(joining *j, const kr_spec *spec, kr_index **made, kr_error *err)
{
    if (covers(j))
        return build_covering(j, spec, err);
    const kr_status status =
        kr_join_build(j->job, spec, j->indexes_left ? j->job->left : j->job->right, made, err);
    j->index = *made;
    return status;
}

static void fill_info(const joining *j, kr_join *join)
{
    kr_join_info *info = &join->info;
    memcpy(info->tracer, j->index->info.tracer, sizeof info->tracer);
    info->footprint_nbytes = j->index->info.footprint_nbytes;
    kr_phases_add(&join->phases, &j->watch.phases);
}

static kr_status run_with_index(joining *j, kr_join *join, kr_error *err)
{
    const kr_join_job *job = j->job;
    const kr_index *index = job->right_index;
    kr_join_info *info = &join->info;
    j->index = index;
    memcpy(info->spec, index->info.spec, sizeof info->spec);
    snprintf(info->device, sizeof info->device, "%s", job->device->name);
    snprintf(info->indexed, sizeof info->indexed, "right");
    kr_status status = kr_join_check_rows(job->left, NULL, "join parts of it", err);
    if (status == KR_OK)
        status = kr_index_await(index, NULL, err);
    kr_stopwatch_start(&j->watch, job->device, NULL);
    if (status == KR_OK)
        status = probe(j, job->left, job->left_upper, join, err);
    kr_stopwatch_stop(&j->watch);
    fill_info(j, join);
    return status;
}

/* Builds and probes. */
static kr_status run_indexed(joining *j, const kr_spec *spec, kr_join *join, kr_error *err)
{
    const kr_join_job *job = j->job;
    const kr_column *probes = j->indexes_left ? job->right : job->left;
    kr_index *made = NULL;
    kr_status status = kr_join_check_rows(probes, NULL, "join parts of it", err);
    if (status == KR_OK)
        status = build(j, spec, &made, err);
    kr_stopwatch_lap(&j->watch, "build");
    if (status == KR_OK)
        status = probe(j, probes, j->indexes_left ? job->right_upper : NULL, join, err);
    kr_stopwatch_stop(&j->watch);
    if (status == KR_OK)
        fill_info(j, join);
    kr_covering_release(&j->covering);
    kr_index_destroy(made);
    return status;
}

static kr_status run(const kr_join_job *job, kr_join *join, kr_error *err)
{
    joining j = {.job = job, .device = job->device};
    kr_spec spec;
    int merged = 0;
    if (job->right_index)
        return run_with_index(&j, join, err);
    kr_status status = kr_join_decide(job, &spec, &j.indexes_left, &join->info, err);
    if (status != KR_OK)
        return status;
    kr_stopwatch_start(&j.watch, job->device, NULL);
    status = kr_join_sort_merge(job, !j.indexes_left, &j.watch, join, &merged, err);
    if (status == KR_OK && !merged)
        return run_indexed(&j, &spec, join, err);
    kr_stopwatch_stop(&j.watch);
    kr_phases_add(&join->phases, &j.watch.phases);
    return status;
}

kr_status kr_join_run(const kr_join_job *job, kr_join *join, kr_error *err)
{
    kr_peak peak;
    kr_peak_begin(&peak, job->device);
    const kr_status status = run(job, join, err);
    join->info.peak_nbytes = kr_peak_end(&peak);
    return status;
}
