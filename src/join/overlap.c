#include "join/overlap.h"
#include "index/kinds/choose.h"
#include "index/results/bitmap.h"
#include "index/results/found.h"
#include "join/overlap_body.h"

#include <stdio.h>
#include <string.h>

#define HELP "join parts of the sides, or use kr_join_overlap_chunks"

static void *take(const overlap *o, uint64_t nbytes, const char *what)
{
    return kr_work_take_or(o->work, nbytes, what, HELP);
}

/* ---- Intervals as codes ------------------------------------------------------------------------ */

static kr_column codes_of(const overlap_side *side, const void *codes, int with_validity)
{
    return (kr_column){.type = side->type,
                       .count = side->n,
                       .data = codes,
                       .validity = with_validity ? side->validity : NULL};
}

static void take_bounds(const overlap *o, overlap_side *side)
{
    for (int i = 0; i < 2; ++i) {
        side->bounds[i] = take(o, side->n * kr_type_width(side->type), "intervals as codes");
        side->bound[i] = codes_of(side, side->bounds[i], 0);
    }
}

static void take_side(const overlap *o, overlap_side *side, int with_ends)
{
    const uint64_t nbytes = side->n * kr_type_width(side->type);
    side->starts = take(o, nbytes, "intervals as codes");
    side->ends = with_ends ? take(o, nbytes, "intervals as codes") : NULL;
    side->validity = take(o, side->n / 8 + 1, "which intervals are not empty");
    side->start = codes_of(side, side->starts, 1);
    side->end = codes_of(side, side->ends, 1);
    take_bounds(o, side);
}

static void encode(overlap *o, int number, const kr_column from[2], int with_ends)
{
    kr_work *w = o->work;
    overlap_side *side = &o->sides[number];
    const kr_column *start = &from[0], *end = &from[1];
    side->n = start->count;
    side->type = kr_type_key_bits(start->type) == 64 ? KR_U64 : KR_U32;
    uint8_t *flags = take(o, side->n, "flags of intervals");
    take_side(o, side, with_ends);
    const overlap_codes_params params = {
        .start = start->data,
        .end = end->data,
        .start_validity = start->validity,
        .end_validity = end->validity,
        .start_offset = start->validity_offset,
        .end_offset = end->validity_offset,
        .starts = side->starts,
        .ends = side->ends,
        .lower = side->bounds[0],
        .upper = side->bounds[1],
        .flags = flags,
        .type = start->type,
        .out_type = side->type,
        .open = o->job->open != 0,
        .skip = number == 0,
    };
    kr_work_run(w, &overlap_codes, &params, side->n);
    kr_bitmap_pack(w, flags, side->n, side->validity);
    kr_work_give(w, flags);
}

static void bring_side(overlap *o, int number, const kr_column *const columns[2], int with_ends)
{
    kr_work *w = o->work;
    kr_column from[2];
    for (int i = 0; i < 2; ++i)
        from[i] = kr_column_bring(w, columns[i], "a copy of the intervals");
    kr_work_lap(w, "copy");
    encode(o, number, from, with_ends);
    kr_work_lap(w, "prepare");
    for (int i = 0; i < 2; ++i)
        kr_join_give_column(w, &from[i]);
}

/* ---- Matches ----------------------------------------------------------------------------------- */

static kr_index *build(overlap *o, const kr_column *keys)
{
    kr_work *w = o->work;
    kr_index *index = NULL;
    KR_STEP(w, kr_index_make(w->device, &o->spec, keys, NULL, w->stream, &index, w->err));
    kr_work_lap(w, "build");
    return index;
}

/* The ranges of one side among the starts of the other. Blocks. */
static void find(overlap *o, int number)
{
    kr_work *w = o->work;
    const overlap_side *indexed = &o->sides[number], *probing = &o->sides[!number];
    kr_query *query = &o->queries[number];
    kr_matches *matches = &o->matches[number];
    o->indexes[number] = build(o, &indexed->start);
    kr_query_make(w, o->indexes[number], &probing->bound[0], &probing->bound[1], query);
    *matches = kr_matches_find(w, query);
    kr_work_read(w, &o->found[number], KR_PLACE_IN(matches->offsets, probing->n), sizeof o->found[number]);
}

overlap overlap_open(kr_work *w, const kr_overlap_job *job, int with_ends)
{
    overlap o = {.work = w, .job = job};
    KR_STEP(w, kr_choose(w->device, job->spec, &o.spec, NULL, w->err));
    KR_STEP(w, kr_query_check(o.spec.kind, 1, w->err));
    kr_join_check_rows(w, job->left[0], job->right[0], "join parts of it");
    bring_side(&o, 0, job->left, with_ends);
    bring_side(&o, 1, job->right, with_ends);
    return o;
}

void overlap_find(overlap *o)
{
    find(o, 0);
    find(o, 1);
}

void overlap_close(overlap *o)
{
    for (int i = 0; i < 2; ++i) {
        kr_matches_give(o->work, &o->matches[i]);
        kr_index_release(o->indexes[i], o->work->stream);
    }
}

/* ---- Left rows with a partner, or without ----------------------------------------------------------- */

/* counts[i] := right starts up to the end of left row i (`before` 0), or right ends before its start. */
static void count(overlap *o, int before, const kr_index *index, uint64_t *counts)
{
    kr_work *w = o->work;
    const overlap_side *left = &o->sides[0];
    const overlap_before_params params = {left->starts,    left->ends, left->bounds[0],
                                          left->bounds[1], left->type, (uint32_t)before};
    kr_query query;
    kr_work_run(w, &overlap_before, &params, left->n);
    kr_query_make(w, index, &left->bound[0], &left->bound[1], &query);
    kr_query_locate(w, &query, KR_PUT_COUNT, counts);
}

/* Left rows with (1) or without a partner. The ranges of the left side are not needed any more. */
static kr_found select_left(overlap *o, uint32_t wanted)
{
    kr_work *w = o->work;
    const uint64_t n = o->sides[0].n;
    uint64_t *begun = take(o, n * sizeof *begun, "starts up to each interval");
    uint64_t *ended = take(o, n * sizeof *ended, "ends before each interval");
    uint32_t *answers = take(o, n * sizeof *answers, "which rows have partners");
    count(o, 0, o->indexes[1], begun);
    kr_index *ends = build(o, &o->sides[1].end);
    count(o, 1, ends, ended);
    kr_index_release(ends, w->stream);
    const overlap_partner_params params = {begun, ended, answers, o->sides[0].validity};
    kr_work_run(w, &overlap_partner, &params, n);
    const kr_found_job job = {.answers = answers, .n = n, .wanted = wanted, .help = HELP};
    const kr_found found = kr_found_list(w, &job);
    kr_work_give(w, answers);
    kr_work_give(w, ended);
    kr_work_give(w, begun);
    return found;
}

static void keep_left(overlap *o, kr_join *join)
{
    o->indexes[1] = build(o, &o->sides[1].start);
    const kr_found found = select_left(o, kr_join_wants_partner(o->job->type));
    kr_join_keep(o->work, join, found.probes, NULL, found.n);
}

/* ---- Pairs ----------------------------------------------------------------------------------------- */

/* The pairs of query `number`: its indexed rows to one column, its probes to the other. */
static void copy_pairs(overlap *o, int number, uint32_t *left, uint32_t *right)
{
    const kr_matches_copy_job part = {
        .count = o->queries[number].n,
        .capacity = o->found[number],
        .out = number ? right : left,
        .probes = number ? left : right,
        .order = KR_ORDER_KEY,
    };
    kr_matches_copy(o->work, &o->queries[number], &o->matches[number], &part);
}

/* Both columns of the result: the pairs, then left rows that are alone, whose right rows are all ones. */
static void keep_pairs(overlap *o, kr_join *join)
{
    kr_work *w = o->work;
    const int keeps_left = kr_join_keeps_left(o->job->type);
    overlap_find(o);
    if (keeps_left && kr_work_goes_on(w) && o->indexes[1]->ops->kept)
        take_bounds(o, &o->sides[0]); /* its ranges are searched once more when pairs are copied */
    const kr_found alone = keeps_left ? select_left(o, 0) : (kr_found){.n = 0};
    const uint64_t pairs = o->found[0] + o->found[1], n = pairs + alone.n;
    if (o->found[0] > UINT64_MAX / 64 || o->found[1] > UINT64_MAX / 64)
        KR_STEP(w, kr_fail(w->err, KR_ERR_LIMIT, "%llu and %llu pairs are too many; " HELP,
                           (unsigned long long)o->found[0], (unsigned long long)o->found[1]));
    uint32_t *left = take(o, n * sizeof *left, "left rows of pairs");
    uint32_t *right = take(o, n * sizeof *right, "right rows of pairs");
    copy_pairs(o, 0, left, right);
    copy_pairs(o, 1, left + o->found[0], right + o->found[0]);
    kr_join_write_alone(w, alone.probes, alone.n, left + pairs, right + pairs);
    kr_work_give(w, alone.probes);
    if (!o->job->unordered) {
        kr_join_sort(w, keeps_left ? UINT32_MAX : o->sides[1].n, &right, &left, n);
        kr_join_sort(w, o->sides[0].n, &left, &right, n);
    }
    kr_join_keep(w, join, left, right, n);
}

/* ---- The whole join ---------------------------------------------------------------------------- */

static void fill_info(const overlap *o, kr_join_info *info)
{
    const kr_index_info *of = &o->indexes[1]->info;
    memcpy(info->spec, of->spec, sizeof info->spec);
    memcpy(info->tracer, of->tracer, sizeof info->tracer);
    snprintf(info->device, sizeof info->device, "%s", o->work->device->name);
    snprintf(info->indexed, sizeof info->indexed, o->indexes[0] ? "both" : "right");
    info->footprint_nbytes =
        of->footprint_nbytes + (o->indexes[0] ? o->indexes[0]->info.footprint_nbytes : 0);
}

void kr_overlap_run(kr_work *w, const kr_overlap_job *job, kr_join *join)
{
    const int has_pairs = kr_join_has_pairs(job->type);
    kr_stopwatch watch;
    kr_peak peak;
    kr_work_peak_begin(w, &peak);
    kr_join_watch(w, &watch);
    overlap o = overlap_open(w, job, !has_pairs || kr_join_keeps_left(job->type));
    if (has_pairs)
        keep_pairs(&o, join);
    else
        keep_left(&o, join);
    kr_work_lap(w, "pairs");
    kr_join_unwatch(w, join);
    if (kr_work_goes_on(w))
        fill_info(&o, &join->info);
    overlap_close(&o);
    join->info.peak_nbytes = kr_work_peak_end(w, &peak);
}
