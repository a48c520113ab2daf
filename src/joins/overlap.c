#include "joins/overlap.h"
#include "joins/overlap_body.h"
#include "kinds/choose.h"
#include "results/bitmap.h"
#include "results/found.h"

#include <stdio.h>
#include <string.h>

#define HELP "join parts of the sides, or use kr_join_overlap_chunks"

static kr_status allocate(const overlap *o, uint64_t nbytes, const char *what, kr_buffer *buffer,
                          kr_error *err)
{
    return kr_buffer_allocate(o->device, nbytes, NULL, what, HELP, buffer, err);
}

/* ---- Intervals as codes ------------------------------------------------------------------------ */

static kr_status allocate_side(const overlap *o, overlap_side *side, int with_ends, kr_buffer *flags,
                               kr_error *err)
{
    const uint64_t nbytes = side->n * kr_type_width(side->type);
    kr_buffer *const all[] = {&side->starts, &side->bounds[0], &side->bounds[1], &side->ends};
    kr_status status = allocate(o, side->n, "flags of intervals", flags, err);
    for (int i = 0; i < (with_ends ? 4 : 3) && status == KR_OK; ++i)
        status = allocate(o, nbytes, "intervals as codes", all[i], err);
    return status == KR_OK
               ? allocate(o, side->n / 8 + 1, "which intervals are not empty", &side->validity, err)
               : status;
}

static kr_column codes_of(const overlap_side *side, const kr_buffer *codes, int with_validity)
{
    return (kr_column){.type = side->type,
                       .count = side->n,
                       .data = codes->data,
                       .validity = with_validity ? side->validity.data : NULL};
}

static kr_status encode(overlap *o, int number, const kr_resident from[2], int with_ends, kr_error *err)
{
    overlap_side *side = &o->sides[number];
    const kr_column *start = &from[0].column, *end = &from[1].column;
    kr_buffer flags = {0};
    side->n = start->count;
    side->type = kr_type_key_bits(start->type) == 64 ? KR_U64 : KR_U32;
    kr_status status = allocate_side(o, side, with_ends, &flags, err);
    const overlap_codes_params params = {
        .start = start->data,
        .end = end->data,
        .start_validity = start->validity,
        .end_validity = end->validity,
        .start_offset = start->validity_offset,
        .end_offset = end->validity_offset,
        .starts = side->starts.data,
        .ends = side->ends.data,
        .lower = side->bounds[0].data,
        .upper = side->bounds[1].data,
        .flags = flags.data,
        .type = start->type,
        .out_type = side->type,
        .open = o->job->open != 0,
        .skip = number == 0,
    };
    if (status == KR_OK)
        status = kr_device_run(o->device, &overlap_codes, &params, side->n, NULL, err);
    if (status == KR_OK)
        status = kr_bitmap_pack(o->device, flags.data, side->n, side->validity.data, NULL, err);
    kr_buffer_release(o->device, &flags, NULL);
    side->start = codes_of(side, &side->starts, 1);
    side->end = codes_of(side, &side->ends, 1);
    for (int i = 0; i < 2; ++i)
        side->bound[i] = codes_of(side, &side->bounds[i], 0);
    return status;
}

static kr_status bring_side(overlap *o, int number, const kr_column *const columns[2], int with_ends,
                            kr_error *err)
{
    kr_resident from[2] = {{.data = {0}}, {.data = {0}}};
    kr_status status = KR_OK;
    for (int i = 0; i < 2 && status == KR_OK; ++i)
        status = kr_resident_make(o->device, columns[i], "a copy of the intervals", NULL, &from[i], err);
    kr_stopwatch_lap(&o->watch, "copy");
    if (status == KR_OK)
        status = encode(o, number, from, with_ends, err);
    kr_stopwatch_lap(&o->watch, "prepare");
    for (int i = 0; i < 2; ++i)
        kr_resident_release(o->device, &from[i], NULL);
    return status;
}

/* ---- Matches ----------------------------------------------------------------------------------- */

static kr_status build(overlap *o, const kr_column *keys, kr_index **index, kr_error *err)
{
    const kr_status status = kr_index_make(o->device, &o->spec, keys, NULL, NULL, index, err);
    kr_stopwatch_lap(&o->watch, "build");
    return status;
}

/* The ranges of one side among the starts of the other. Blocks. */
static kr_status find(overlap *o, int number, kr_error *err)
{
    const overlap_side *indexed = &o->sides[number], *probing = &o->sides[!number];
    kr_status status = build(o, &indexed->start, &o->indexes[number], err);
    if (status == KR_OK)
        status = kr_query_make(o->indexes[number], &probing->bound[0], &probing->bound[1], NULL, &o->watch,
                               &o->queries[number], err);
    if (status == KR_OK)
        status = kr_matches_find(&o->queries[number], &o->matches[number], err);
    if (status == KR_OK)
        status = kr_device_copy(o->device, &o->found[number],
                                (const uint64_t *)o->matches[number].offsets.data + probing->n,
                                sizeof(uint64_t), NULL, err);
    return status == KR_OK ? kr_device_sync(o->device, NULL, err) : status;
}

static kr_status check(overlap *o, kr_error *err)
{
    const kr_overlap_job *job = o->job;
    kr_status status = kr_choose(o->device, job->spec, &o->spec, NULL, err);
    if (status == KR_OK)
        status = kr_query_check(o->spec.kind, 1, err);
    return status == KR_OK ? kr_join_check_rows(job->left[0], job->right[0], "join parts of it", err)
                           : status;
}

kr_status overlap_open(overlap *o, const kr_overlap_job *job, int with_ends, kr_error *err)
{
    *o = (overlap){.job = job, .device = job->device};
    kr_status status = check(o, err);
    if (status != KR_OK)
        return status;
    kr_stopwatch_start(&o->watch, job->device, NULL);
    status = bring_side(o, 0, job->left, with_ends, err);
    if (status == KR_OK)
        status = bring_side(o, 1, job->right, with_ends, err);
    return status;
}

kr_status overlap_find(overlap *o, kr_error *err)
{
    kr_status status = find(o, 0, err);
    return status == KR_OK ? find(o, 1, err) : status;
}

void overlap_close(overlap *o)
{
    kr_stopwatch_stop(&o->watch);
    for (int i = 0; i < 2; ++i) {
        overlap_side *side = &o->sides[i];
        kr_buffer *const all[] = {&side->starts, &side->bounds[0], &side->bounds[1], &side->ends,
                                  &side->validity};
        if (o->queries[i].index)
            kr_matches_release(&o->queries[i], &o->matches[i]);
        kr_index_destroy(o->indexes[i]);
        for (int j = 0; j < 5; ++j)
            kr_buffer_release(o->device, all[j], NULL);
    }
}

/* ---- Left rows with a partner, or without ----------------------------------------------------------- */

/* counts[i] := right starts up to the end of left row i (`before` 0), or right ends before its start. */
static kr_status count(overlap *o, int before, const kr_index *index, uint64_t *counts, kr_error *err)
{
    overlap_side *left = &o->sides[0];
    const overlap_before_params params = {left->starts.data,    left->ends.data, left->bounds[0].data,
                                          left->bounds[1].data, left->type,      (uint32_t)before};
    kr_query query;
    kr_status status = kr_device_run(o->device, &overlap_before, &params, left->n, NULL, err);
    if (status == KR_OK)
        status = kr_query_make(index, &left->bound[0], &left->bound[1], NULL, &o->watch, &query, err);
    return status == KR_OK ? kr_query_locate(&query, KR_PUT_COUNT, counts, err) : status;
}

/* Lists left rows with (1) or without a partner. The ranges of the left side are not needed any more. */
static kr_status select_left(overlap *o, uint32_t wanted, kr_found *found, kr_error *err)
{
    const uint64_t n = o->sides[0].n;
    kr_buffer begun = {0}, ended = {0}, answers = {0};
    kr_index *ends = NULL;
    kr_status status = allocate(o, n * sizeof(uint64_t), "starts up to each interval", &begun, err);
    if (status == KR_OK)
        status = allocate(o, n * sizeof(uint64_t), "ends before each interval", &ended, err);
    if (status == KR_OK)
        status = allocate(o, n * sizeof(uint32_t), "which rows have partners", &answers, err);
    if (status == KR_OK)
        status = count(o, 0, o->indexes[1], begun.data, err);
    if (status == KR_OK)
        status = build(o, &o->sides[1].end, &ends, err);
    if (status == KR_OK)
        status = count(o, 1, ends, ended.data, err);
    kr_index_destroy(ends);
    const overlap_partner_params params = {begun.data, ended.data, answers.data, o->sides[0].validity.data};
    if (status == KR_OK)
        status = kr_device_run(o->device, &overlap_partner, &params, n, NULL, err);
    const kr_found_job job = {
        .device = o->device, .answers = &answers, .n = n, .wanted = wanted, .help = HELP};
    if (status == KR_OK)
        status = kr_found_list(&job, found, err);
    kr_buffer_release(o->device, &answers, NULL);
    kr_buffer_release(o->device, &ended, NULL);
    kr_buffer_release(o->device, &begun, NULL);
    return status;
}

/* ---- Pairs ----------------------------------------------------------------------------------------- */

/* The pairs of query `number`: its indexed rows to one column, its probes to the other. */
static kr_status copy_pairs(overlap *o, int number, uint32_t *left, uint32_t *right, kr_error *err)
{
    const kr_matches_copy_job part = {
        .count = o->queries[number].n,
        .capacity = o->found[number],
        .out = number ? right : left,
        .probes = number ? left : right,
        .order = KR_ORDER_KEY,
    };
    return kr_matches_copy(&o->queries[number], &o->matches[number], &part, err);
}

/* Both columns of the result: the pairs, then left rows that are alone, whose right rows are all ones. */
static kr_status list_pairs(overlap *o, const kr_found *alone, kr_join *join, kr_error *err)
{
    const uint64_t pairs = o->found[0] + o->found[1], n = pairs + alone->n;
    if (o->found[0] > UINT64_MAX / 64 || o->found[1] > UINT64_MAX / 64)
        return kr_fail(err, KR_ERR_LIMIT, "%llu and %llu pairs are too many; " HELP,
                       (unsigned long long)o->found[0], (unsigned long long)o->found[1]);
    kr_status status = allocate(o, n * sizeof(uint32_t), "left rows of pairs", &join->left, err);
    if (status == KR_OK)
        status = allocate(o, n * sizeof(uint32_t), "right rows of pairs", &join->right, err);
    uint32_t *left = join->left.data, *right = join->right.data;
    if (status == KR_OK)
        status = copy_pairs(o, 0, left, right, err);
    if (status == KR_OK)
        status = copy_pairs(o, 1, left + o->found[0], right + o->found[0], err);
    if (status == KR_OK)
        status = kr_join_write_alone(o->device, &alone->probes, alone->n, left + pairs, right + pairs, err);
    join->info.pairs = n;
    return status;
}

static kr_status inner_or_left(overlap *o, kr_join *join, kr_error *err)
{
    kr_found alone = {.n = 0};
    kr_status status = overlap_find(o, err);
    if (status == KR_OK && o->job->type == KR_JOIN_LEFT)
        status = select_left(o, 0, &alone, err);
    if (status == KR_OK)
        status = list_pairs(o, &alone, join, err);
    kr_buffer_release(o->device, &alone.probes, NULL);
    if (status == KR_OK && !o->job->unordered)
        status = kr_join_sort(o->device, o->job->type == KR_JOIN_LEFT ? UINT32_MAX : o->sides[1].n,
                              &join->right, &join->left, join->info.pairs, err);
    if (status == KR_OK && !o->job->unordered)
        status = kr_join_sort(o->device, o->sides[0].n, &join->left, &join->right, join->info.pairs, err);
    return status;
}

static kr_status semi_or_anti(overlap *o, kr_join *join, kr_error *err)
{
    kr_found found = {.n = 0};
    kr_status status = build(o, &o->sides[1].start, &o->indexes[1], err);
    if (status == KR_OK)
        status = select_left(o, o->job->type == KR_JOIN_SEMI, &found, err);
    join->left = found.probes;
    join->info.pairs = found.n;
    return status;
}

static void fill_info(const overlap *o, kr_join_info *info)
{
    const kr_index_info *of = &o->indexes[1]->info;
    memcpy(info->spec, of->spec, sizeof info->spec);
    memcpy(info->tracer, of->tracer, sizeof info->tracer);
    snprintf(info->device, sizeof info->device, "%s", o->device->name);
    snprintf(info->indexed, sizeof info->indexed, o->indexes[0] ? "both" : "right");
    info->footprint_nbytes =
        of->footprint_nbytes + (o->indexes[0] ? o->indexes[0]->info.footprint_nbytes : 0);
}

kr_status kr_overlap_run(const kr_overlap_job *job, kr_join *join, kr_error *err)
{
    const int one_side = job->type == KR_JOIN_SEMI || job->type == KR_JOIN_ANTI;
    overlap o;
    kr_peak peak;
    kr_peak_begin(&peak, job->device);
    kr_status status = overlap_open(&o, job, one_side || job->type == KR_JOIN_LEFT, err);
    if (status == KR_OK)
        status = one_side ? semi_or_anti(&o, join, err) : inner_or_left(&o, join, err);
    if (status == KR_OK)
        status = kr_device_sync(job->device, NULL, err);
    kr_stopwatch_lap(&o.watch, "pairs");
    if (status == KR_OK)
        fill_info(&o, &join->info);
    overlap_close(&o);
    join->info.peak_nbytes = kr_peak_end(&peak);
    join->phases = o.watch.phases;
    return status;
}
