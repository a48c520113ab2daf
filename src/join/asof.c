#include "join/asof.h"
#include "index/kinds/choose.h"
#include "index/kinds/nearest.h"
#include "index/results/found.h"
#include "join/asof_state.h"

#include <stdio.h>
#include <string.h>

#define ASOF_HELP "join parts of the left side"

/* ---- The search ------------------------------------------------------------------------------- */

/* By a merge or by an index of `right`, whose codes are below 2^used_bits if that is not 0: then the column
 * was made for this, and is given back once the index is there. */
static void search(asof *a, const kr_column *left, const kr_column *right, const kr_nearby *near,
                   uint32_t used_bits)
{
    kr_work *w = a->keys.work;
    if (w->device->ops->is_host &&
        (kr_type_key_bits(right->type) == 64 ? asof_merge_u64(a, left, right, near)
                                             : asof_merge_u32(a, left, right, near)))
        return;
    kr_index *index = keyed_index(&a->keys, right, used_bits);
    if (used_bits)
        kr_work_give(w, right->data);
    keyed_locate(&a->keys, index, left, near, a->rows);
    kr_index_release(index, w->stream);
}

/* With groups: in the order of time, by one key of all columns, or, if that takes more than 64 bits, by
 * numbers. */
static void search_groups(asof *a)
{
    kr_nearby near = a->near;
    if (asof_sweep(a))
        return;
    const keys_folded folded = keys_fold_sides(&a->keys);
    near.how |= KR_NEAR_GROUPED;
    near.low_bits = (uint16_t)folded.low_bits;
    if (folded.bits)
        search(a, &folded.left, &folded.right, &near, folded.bits);
    else
        asof_ranked(a);
}

static void find_rows(asof *a)
{
    kr_work *w = a->keys.work;
    const uint32_t mark = kr_work_mark(w);
    if (a->keys.n_equal)
        search_groups(a);
    else
        search(a, asof_times(a, &a->keys.left), asof_times(a, &a->keys.right), &a->near, 0);
    kr_work_give_since(w, mark);
}

/* ---- The result ------------------------------------------------------------------------------- */

/* Every left row, and what it got. */
static void keep_all(asof *a, kr_join *join)
{
    const uint64_t n = a->keys.left.n;
    uint32_t *left = keyed_take(&a->keys, n * sizeof *left, "left rows");
    kr_found_number(a->keys.work, left, n);
    kr_join_keep(a->keys.work, join, left, a->rows, n);
}

static void keep_some(asof *a, kr_join_type type, kr_join *join)
{
    const kr_found_job job = {.answers = a->rows,
                              .n = a->keys.left.n,
                              .wanted = type != KR_JOIN_ANTI,
                              .with_rows = (uint32_t)kr_join_has_pairs(type),
                              .help = ASOF_HELP};
    const kr_found found = kr_found_list(a->keys.work, &job);
    kr_join_keep(a->keys.work, join, found.probes, found.rows, found.n);
}

/* ---- The whole join --------------------------------------------------------------------------- */

static void bring_side(asof *a, const kr_column *time, const kr_column *by, keys_side *side)
{
    const uint32_t n_by = a->keys.n_equal;
    keyed_bring(&a->keys, side, by, 0, n_by, "a copy of the groups");
    keyed_bring(&a->keys, side, time, n_by, 1, "a copy of the times");
}

static void join_sides(asof *a, const kr_asof_job *job, kr_join *join)
{
    kr_work *w = a->keys.work;
    bring_side(a, job->left, job->left_by, &a->keys.left);
    bring_side(a, job->right, job->right_by, &a->keys.right);
    kr_work_lap(w, "copy");
    a->rows = keyed_take(&a->keys, job->left->count * sizeof *a->rows, "the right row of each left row");
    find_rows(a);
    if (kr_join_keeps_left(job->type))
        keep_all(a, join);
    else
        keep_some(a, job->type, join);
    kr_work_lap(w, "pairs");
}

static void check(asof *a, const kr_asof_job *job)
{
    kr_work *w = a->keys.work;
    KR_STEP(w, kr_choose(w->device, job->spec, &a->keys.spec, NULL, w->err));
    KR_STEP(w, kr_kind_check(a->keys.spec.kind, KR_CAN_NEAREST, w->err));
    kr_join_check_rows(w, job->left, job->right, "join parts");
}

static void fill_info(const asof *a, kr_join_info *info)
{
    kr_work *w = a->keys.work;
    KR_STEP(w, kr_spec_format(&a->keys.spec, info->spec, sizeof info->spec, w->err));
    snprintf(info->device, sizeof info->device, "%s", w->device->name);
    memcpy(info->tracer, a->keys.tracer, sizeof info->tracer);
    snprintf(info->indexed, sizeof info->indexed, "%s", a->merged ? "none" : "right");
    info->footprint_nbytes = a->keys.footprint_nbytes;
}

void kr_asof_run(kr_work *w, const kr_asof_job *job, kr_join *join)
{
    asof a = {
        .near = job->near,
        .keys = {.work = w, .n = job->n_by + 1, .n_equal = job->n_by, .help = ASOF_HELP, .tracer = "none"}};
    kr_stopwatch watch;
    kr_peak peak;
    check(&a, job);
    if (!kr_work_goes_on(w))
        return;
    kr_work_peak_begin(w, &peak);
    kr_join_watch(w, &watch);
    join_sides(&a, job, join);
    kr_join_unwatch(w, join);
    keyed_release(&a.keys);
    join->info.peak_nbytes = kr_work_peak_end(w, &peak);
    fill_info(&a, &join->info);
}
