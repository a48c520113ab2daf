#include "joins/asof.h"
#include "joins/asof_state.h"
#include "kinds/choose.h"
#include "kinds/nearest.h"
#include "results/found.h"

#include <stdio.h>
#include <string.h>

#define ASOF_HELP "join parts of the left side"

/* ---- The search ------------------------------------------------------------------------------- */

/* By a merge or by an index of `right`, whose codes are below 2^used_bits. `keys` is its memory if it was
 * made for this: released once the index is there. */
static kr_status search(asof *a, const kr_column *left, const kr_column *right, kr_buffer *keys,
                        const kr_nearby *near, uint32_t used_bits, kr_error *err)
{
    kr_device *device = a->keys.device;
    kr_index *index = NULL;
    kr_status status = KR_OK;
    if (device->ops->is_host) {
        int done = 0;
        status = kr_type_key_bits(right->type) == 64 ? asof_merge_u64(a, left, right, near, &done, err)
                                                     : asof_merge_u32(a, left, right, near, &done, err);
        if (status != KR_OK || done)
            return status;
    }
    status = keyed_index(&a->keys, right, used_bits, &index, err);
    if (keys)
        kr_buffer_release(device, keys, NULL);
    if (status == KR_OK)
        status = keyed_locate(&a->keys, index, left, near, a->rows.data, err);
    kr_index_destroy(index);
    return status;
}

static kr_status find_rows(asof *a, kr_error *err)
{
    keys_folded folded;
    kr_nearby near = a->near;
    if (!a->keys.n_equal)
        return search(a, asof_times(a, &a->keys.left), asof_times(a, &a->keys.right), NULL, &near, 0, err);
    kr_status status = keys_fold_sides(&a->keys, &folded, err);
    near.how |= KR_NEAR_GROUPED;
    near.low_bits = (uint16_t)folded.low_bits;
    if (status == KR_OK)
        status = folded.bits
                     ? search(a, &folded.left, &folded.right, &folded.right_data, &near, folded.bits, err)
                     : asof_ranked(a, err);
    keys_folded_release(&a->keys, &folded);
    return status;
}

/* ---- The result ------------------------------------------------------------------------------- */

/* Every left row, and what it got. */
static kr_status take_all(asof *a, kr_join *join, kr_error *err)
{
    const uint64_t n = a->keys.left.n;
    const kr_status status = keyed_allocate(&a->keys, n * sizeof(uint32_t), "left rows", &join->left, err);
    join->right = a->rows;
    a->rows = (kr_buffer){0};
    join->info.pairs = n;
    return status == KR_OK ? kr_number(a->keys.device, join->left.data, n, NULL, err) : status;
}

static kr_status take_some(asof *a, kr_join_type type, kr_join *join, kr_error *err)
{
    const kr_found_job job = {.device = a->keys.device,
                              .answers = &a->rows,
                              .n = a->keys.left.n,
                              .wanted = type != KR_JOIN_ANTI,
                              .with_rows = type == KR_JOIN_INNER,
                              .help = ASOF_HELP};
    kr_found found;
    const kr_status status = kr_found_list(&job, &found, err);
    if (status == KR_OK) {
        join->left = found.probes;
        join->right = found.rows;
        join->info.pairs = found.n;
    }
    return status;
}

/* ---- The whole join --------------------------------------------------------------------------- */

static kr_status bring_side(asof *a, const kr_column *time, const kr_column *by, keys_side *side,
                            kr_error *err)
{
    const uint32_t n_by = a->keys.n_equal;
    const kr_status status = keyed_bring(&a->keys, side, by, 0, n_by, "a copy of the groups", err);
    return status == KR_OK ? keyed_bring(&a->keys, side, time, n_by, 1, "a copy of the times", err) : status;
}

static kr_status join_sides(asof *a, const kr_asof_job *job, kr_join *join, kr_error *err)
{
    kr_status status = bring_side(a, job->left, job->left_by, &a->keys.left, err);
    if (status == KR_OK)
        status = bring_side(a, job->right, job->right_by, &a->keys.right, err);
    kr_stopwatch_lap(&a->keys.watch, "copy");
    if (status == KR_OK)
        status = keyed_allocate(&a->keys, job->left->count * sizeof(uint32_t),
                                "the right row of each left row", &a->rows, err);
    if (status == KR_OK)
        status = find_rows(a, err);
    if (status == KR_OK)
        status = job->type == KR_JOIN_LEFT ? take_all(a, join, err) : take_some(a, job->type, join, err);
    if (status == KR_OK)
        status = kr_device_sync(a->keys.device, NULL, err);
    kr_stopwatch_lap(&a->keys.watch, "pairs");
    keyed_release(&a->keys);
    kr_buffer_release(a->keys.device, &a->rows, NULL);
    return status;
}

static kr_status check(asof *a, const kr_asof_job *job, kr_error *err)
{
    kr_status status = kr_choose(a->keys.device, job->spec, &a->keys.spec, NULL, err);
    if (status == KR_OK)
        status = kr_kind_check(a->keys.spec.kind, KR_CAN_NEAREST, err);
    return status == KR_OK ? kr_join_check_rows(job->left, job->right, "join parts", err) : status;
}

kr_status kr_asof_run(const kr_asof_job *job, kr_join *join, kr_error *err)
{
    asof a = {.near = job->near,
              .keys = {.device = job->device,
                       .n = job->n_by + 1,
                       .n_equal = job->n_by,
                       .help = ASOF_HELP,
                       .tracer = "none"}};
    kr_join_info *info = &join->info;
    kr_peak peak;
    kr_status status = check(&a, job, err);
    if (status != KR_OK)
        return status;
    kr_peak_begin(&peak, job->device);
    kr_stopwatch_start(&a.keys.watch, job->device, NULL);
    status = join_sides(&a, job, join, err);
    kr_stopwatch_stop(&a.keys.watch);
    info->peak_nbytes = kr_peak_end(&peak);
    if (status == KR_OK)
        status = kr_spec_format(&a.keys.spec, info->spec, sizeof info->spec, err);
    snprintf(info->device, sizeof info->device, "%s", job->device->name);
    memcpy(info->tracer, a.keys.tracer, sizeof info->tracer);
    snprintf(info->indexed, sizeof info->indexed, "%s", a.merged ? "none" : "right");
    info->footprint_nbytes = a.keys.footprint_nbytes;
    join->phases = a.keys.watch.phases;
    return status;
}
