#include "join/join.h"
#include "index/results/bitmap.h"
#include "index/results/found.h"
#include "join/bits.h"
#include "join/covering.h"
#include "join/partners.h"
#include "join/side.h"
#include "join/sort_merge.h"

#include <stdio.h>
#include <string.h>

/* The state of a join under way, all on the device's own stream. */
typedef struct joining {
    kr_work *work;
    const kr_join_job *job;
    kr_join_side side;
    int is_looked;    /* 1: the side was decided by the columns */
    int indexes_left; /* 1: the left side is indexed, 0: the right one */
    const kr_index *index;
    kr_query query; /* over the side that is not indexed, the probing one */
    /* If one answer of each probe is enough: */
    uint32_t *answers;       /* n: the row of each probe, or KR_NO_ROW */
    uint32_t *names;         /* n: which probe an answer is of; NULL: answer i is of probe i */
    const kr_column *staged; /* NULL, or the probes, in host memory: searched while they are copied */
    /* Else: */
    kr_matches matches; /* unless ranges are indexed */
    kr_covering covering;
    const uint64_t *offsets; /* n + 1: of the rows of each match */
    uint64_t matched;        /* rows of all matches */
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

/* n pairs (first[i], second[i]); `second` is NULL where only rows of one side are wanted. */
typedef struct pair_list {
    uint32_t *first, *second;
    uint64_t n;
} pair_list;

/* Probing rows whose answer is a row (wanted 1) or none (0), ascending. With rows, `answers` may become part
 * of the list. */
static pair_list list_answers(joining *j, int wanted, int with_rows)
{
    const kr_found_job job = {
        .answers = j->answers,
        .names = j->names,
        .n = j->query.n,
        .wanted = (uint32_t)wanted,
        .with_rows = (uint32_t)with_rows,
        .help = KR_JOIN_SMALLER,
    };
    const kr_found found = kr_found_list(j->work, &job);
    return (pair_list){found.probes, found.rows, found.n};
}

/* All matches: probing rows, which ascend, unless only indexed rows are wanted; and indexed rows. */
static pair_list list_matches(joining *j)
{
    kr_work *w = j->work;
    pair_list list = {.n = j->matched};
    if (is_single(j))
        return list_answers(j, 1, 1);
    if (covers(j)) {
        kr_covering_list(w, &j->covering, list.n, !j->job->unordered, &list.first, &list.second);
        return list;
    }
    list.first = lists_indexed(j) ? NULL : kr_join_take(w, list.n, "probing rows of pairs");
    list.second = kr_join_take(w, list.n, "indexed rows of pairs");
    const kr_matches_copy_job part = {
        .count = j->query.n,
        .capacity = list.n,
        .out = list.second,
        .probes = list.first,
        .order = j->job->right_index && !j->job->unordered ? KR_ORDER_ROW : KR_ORDER_KEY,
    };
    kr_matches_copy(w, &j->query, &j->matches, &part);
    return list;
}

/* Rows that a selection lists. */
static pair_list select_rows(joining *j, const kr_selection *selection)
{
    pair_list list = {.n = 0};
    list.first = kr_select_list(j->work, selection, &list.n);
    return list;
}

/* Rows of the indexed side with a partner (wanted 1) or without one (0); `pairs` are all matches. */
static pair_list select_indexed(joining *j, int wanted, const pair_list *pairs)
{
    kr_work *w = j->work;
    const uint64_t n = j->indexes_left ? j->job->left->count : j->job->right->count;
    const uint64_t nbytes = (n / 32 + 1) * sizeof(uint32_t);
    uint32_t *marks = kr_work_take(w, nbytes, "marks of rows");
    const kr_selection selection = {.bitmap = marks, .n = n, .wanted = (uint32_t)wanted};
    kr_work_fill(w, marks, 0, nbytes);
    kr_bitmap_mark(w, pairs->second, pairs->n, marks);
    const pair_list list = select_rows(j, &selection);
    kr_work_give(w, marks);
    return list;
}

/* The same of the probing side, by its answers or by the offsets of its matches. */
static pair_list select_probing(joining *j, int wanted)
{
    const kr_selection selection = {.offsets = j->offsets, .n = j->query.n, .wanted = (uint32_t)wanted};
    return is_single(j) ? list_answers(j, wanted, 0) : select_rows(j, &selection);
}

/* Adds the rows of both sides that have no partner behind the pairs (left, right). */
static void append_alone(const joining *j, const pair_list *left, const pair_list *right, pair_list *pairs)
{
    kr_work *w = j->work;
    const uint64_t n = pairs->n, nbytes = n * sizeof(uint32_t), all = n + left->n + right->n;
    uint32_t *first = kr_join_take(w, all, "left rows"), *second = kr_join_take(w, all, "right rows");
    if (n) {
        kr_work_copy(w, first, pairs->first, nbytes);
        kr_work_copy(w, second, pairs->second, nbytes);
    }
    kr_join_write_alone(w, left->first, left->n, first + n, second + n);
    kr_join_write_alone(w, right->first, right->n, second + n + left->n, first + n + left->n);
    kr_work_give(w, pairs->second);
    kr_work_give(w, pairs->first);
    *pairs = (pair_list){first, second, all};
}

/* ---- The types of joins --------------------------------------------------------------------- */

static pair_list list_partners(joining *j, int wanted)
{
    const kr_column *indexed = j->job->left;
    const kr_partners partners = kr_partners_make(j->work, indexed->count);
    const kr_partners_part all = {.rows = *indexed, .wanted = wanted};
    pair_list list = {.n = 0};
    kr_partners_mark(j->work, &partners, j->answers, j->query.n);
    list.first = kr_partners_list(j->work, &partners, j->index, &all, &list.n);
    return list;
}

/* Of ranges among left rows, no two hold the same row: there are no more matches than rows. */
static pair_list semi_or_anti(joining *j)
{
    const int wanted = kr_join_wants_partner(j->job->type);
    if (!j->indexes_left)
        return select_probing(j, wanted);
    if (is_answered(j))
        return list_partners(j, wanted);
    const pair_list pairs = list_matches(j);
    return select_indexed(j, wanted, &pairs);
}

/* A pair for every probe, if each has one partner at most: answers are the rows of the other side already,
 * KR_NO_ROW included. */
static pair_list list_probes(joining *j)
{
    pair_list list = {j->names, j->answers, j->query.n};
    if (!list.first) {
        list.first = kr_join_take(j->work, list.n, "probing rows");
        kr_found_number(j->work, list.first, list.n);
    }
    return list;
}

/* Pairs (probing row, indexed row), and the rows of each side that have no partner, if they are wanted. */
static pair_list list_sides(joining *j, pair_list *probing, pair_list *indexed)
{
    const int lefts = kr_join_keeps_left(j->job->type), rights = kr_join_keeps_right(j->job->type);
    const int all_probing = j->indexes_left ? rights : lefts, all_indexed = j->indexes_left ? lefts : rights;
    if (is_single(j) && all_probing && !all_indexed)
        return list_probes(j);
    if (all_probing)
        *probing = select_probing(j, 0);
    const pair_list pairs = list_matches(j);
    if (all_indexed)
        *indexed = select_indexed(j, 0, &pairs);
    return pairs;
}

static pair_list list_pairs(joining *j)
{
    pair_list alone[2] = {{.n = 0}, {.n = 0}}; /* of the probing and the indexed side */
    const pair_list *left = &alone[j->indexes_left], *right = &alone[!j->indexes_left];
    pair_list pairs = list_sides(j, &alone[0], &alone[1]);
    if (j->indexes_left)
        pairs = (pair_list){pairs.second, pairs.first, pairs.n};
    if (left->n || right->n)
        append_alone(j, left, right, &pairs);
    /* KR_NO_ROW comes last, since the bits that are compared hold the number of left rows. Right rows ascend
     * already, because probes did and the sort is stable. */
    if (!j->job->unordered && (j->indexes_left || left->n))
        kr_join_sort(j->work, j->job->left->count, &pairs.first, &pairs.second, pairs.n);
    return pairs;
}

/* ---- The search ------------------------------------------------------------------------------- */

/* Pairs in any order may stay in that of the search. */
static void find_answers(joining *j)
{
    kr_work *w = j->work;
    const uint64_t n = j->query.n;
    j->answers = kr_join_take(w, n, "rows of partners");
    if (!n)
        return;
    if (j->staged) {
        const kr_sink sink = {.result = KR_RESULT_ROW, .out = j->answers};
        kr_staged_answer(w, &j->query, j->staged, NULL, &sink, NULL);
        kr_work_lap(w, "copy+search");
    } else if (j->job->unordered && kr_join_has_pairs(j->job->type) && kr_query_can_stay(&j->query)) {
        j->names = kr_join_take(w, n, "probing rows");
        kr_query_locate_rows(w, &j->query, j->answers, j->names);
    } else
        kr_query_locate(w, &j->query, KR_PUT_ROW, j->answers);
}

static void find_partners(joining *j)
{
    kr_work *w = j->work;
    if (is_answered(j))
        find_answers(j);
    else if (covers(j)) {
        j->matched = kr_covering_find(w, &j->covering, &j->query, !kr_join_has_pairs(j->job->type));
        j->offsets = j->covering.offsets;
    } else {
        j->matches = kr_matches_find(w, &j->query);
        j->offsets = j->matches.offsets;
        kr_work_read(w, &j->matched, KR_PLACE_IN(j->offsets, j->query.n), sizeof j->matched);
    }
}

static void find_pairs(joining *j, kr_join *join)
{
    find_partners(j);
    const pair_list result = kr_join_has_pairs(j->job->type) ? list_pairs(j) : semi_or_anti(j);
    kr_join_keep(j->work, join, result.first, result.second, result.n);
    kr_matches_give(j->work, &j->matches);
    kr_work_lap(j->work, "pairs");
}

/* `upper` NULL: points. */
static void make_query(joining *j, const kr_column *lower, const kr_column *upper)
{
    kr_work *w = j->work;
    if (covers(j))
        kr_covering_query(w, &j->covering, lower, &j->query);
    else
        kr_query_make(w, j->index, lower, upper, &j->query);
}

/* The index is there. */
static void probe(joining *j, const kr_column *lower, const kr_column *upper, kr_join *join)
{
    kr_work *w = j->work;
    kr_column low = *lower, high = {.count = 0};
    if (is_answered(j) && !kr_column_is_reached(w->device, lower))
        j->staged = lower;
    else
        low = kr_column_bring(w, lower, "a copy of the probes");
    if (upper)
        high = kr_column_bring(w, upper, "a copy of the upper bounds");
    kr_work_lap(w, "copy");
    if (upper && lists_indexed(j))
        kr_covering_ranges_part(w, &j->index->spec, &low, &high);
    make_query(j, &low, upper ? &high : NULL);
    if (kr_work_goes_on(w))
        find_pairs(j, join);
}

/* ---- The whole join ---------------------------------------------------------------------------- */

/* The index of the right ranges. */
static kr_index *build_covering(joining *j)
{
    kr_work *w = j->work;
    const kr_column low = kr_column_bring(w, j->job->right, "a copy of the ranges");
    const kr_column high = kr_column_bring(w, j->job->right_upper, "a copy of the ranges");
    kr_covering_build(w, &j->side.spec, &low, &high, &j->covering);
    kr_join_give_column(w, &high);
    kr_join_give_column(w, &low);
    return j->covering.index;
}

static void fill_info(const joining *j, kr_join_info *info)
{
    memcpy(info->tracer, j->index->info.tracer, sizeof info->tracer);
    info->footprint_nbytes = j->index->info.footprint_nbytes;
}

static void run_with_index(joining *j, kr_join *join)
{
    kr_work *w = j->work;
    const kr_join_job *job = j->job;
    kr_join_info *info = &join->info;
    kr_stopwatch watch;
    j->index = job->right_index;
    memcpy(info->spec, j->index->info.spec, sizeof info->spec);
    snprintf(info->device, sizeof info->device, "%s", w->device->name);
    snprintf(info->indexed, sizeof info->indexed, "right");
    kr_join_check_rows(w, job->left, NULL, "join parts of it");
    KR_STEP(w, kr_index_await(j->index, w->stream, w->err));
    kr_join_watch(w, &watch);
    probe(j, job->left, job->left_upper, join);
    kr_users_mark(w->device, w->stream);
    kr_join_unwatch(w, join);
    fill_info(j, info);
}

/* Builds and probes. */
static void run_indexed(joining *j, kr_join *join)
{
    kr_work *w = j->work;
    const kr_join_job *job = j->job;
    const kr_column *probes = j->indexes_left ? job->right : job->left;
    kr_join_check_rows(w, probes, NULL, "join parts of it");
    kr_index *made = covers(j) ? build_covering(j) : kr_join_build(w, job, &j->side, &join->info);
    kr_work_lap(w, "build");
    j->index = made;
    if (kr_work_goes_on(w)) {
        probe(j, probes, j->indexes_left ? job->right_upper : NULL, join);
        fill_info(j, &join->info);
    }
    kr_index_release(made, w->stream);
}

/* A merge that finds out that no side has to be indexed needs no look at the columns. */
typedef struct asking {
    joining *j;
    kr_join_info *info;
} asking;

static void look(const asking *a)
{
    joining *j = a->j;
    if (!j->is_looked)
        kr_join_look(j->work, j->job, 1, &j->side, a->info);
    j->is_looked = 1;
    j->indexes_left = j->side.is_left;
}

/* Asked about a left side that ascends and a right one that does not. */
static int may_sort(void *ctx)
{
    const asking *a = ctx;
    kr_work_lap(a->j->work, "order");
    look(a);
    return !a->j->indexes_left && !a->j->side.near.n;
}

static void run(joining *j, kr_join *join)
{
    kr_work *w = j->work;
    kr_stopwatch watch;
    asking a = {j, &join->info};
    if (j->job->right_index) {
        run_with_index(j, join);
        return;
    }
    j->side = kr_join_decide(w, j->job, &join->info);
    if (!kr_work_goes_on(w))
        return;
    kr_join_watch(w, &watch);
    if (!kr_join_sort_merge(w, j->job, may_sort, &a, join)) {
        look(&a);
        if (j->side.near.n)
            kr_join_bits_run(w, j->job, &j->side.near, join);
        else
            run_indexed(j, join);
    }
    kr_join_unwatch(w, join);
}

void kr_join_run(kr_work *w, const kr_join_job *job, kr_join *join)
{
    joining j = {.work = w, .job = job};
    kr_peak peak;
    kr_work_peak_begin(w, &peak);
    run(&j, join);
    join->info.peak_nbytes = kr_work_peak_end(w, &peak);
}
