#include "joins/asof.h"
#include "joins/asof_body.h"
#include "kinds/choose.h"
#include "kinds/nearest.h"
#include "results/found.h"

#include <stdio.h>
#include <string.h>

#define ASOF_HELP "join parts of the left side"

/* ---- Indexes and memory ---------------------------------------------------------------------- */

kr_status asof_allocate(asof *a, uint64_t nbytes, const char *what, kr_buffer *buffer, kr_error *err)
{
    return kr_buffer_allocate(a->device, nbytes, NULL, what, ASOF_HELP, buffer, err);
}

/* Indexes keep account of their own peak and begin it anew. */
static void note_peak(asof *a)
{
    const uint64_t most = kr_device_peak_end(a->device);
    a->peak_nbytes = most > a->peak_nbytes ? most : a->peak_nbytes;
}

kr_status asof_index(asof *a, const kr_column *keys, uint32_t used_bits, kr_index **index, kr_error *err)
{
    note_peak(a);
    const kr_status status = used_bits
                                 ? kr_index_make_narrow(a->device, &a->spec, keys, used_bits, index, err)
                                 : kr_index_make(a->device, &a->spec, keys, NULL, NULL, index, err);
    note_peak(a);
    (void)kr_device_peak_begin(a->device);
    kr_stopwatch_lap(&a->watch, "build");
    if (status == KR_OK) {
        const kr_index_info *info = &(*index)->info;
        a->footprint_nbytes =
            info->footprint_nbytes > a->footprint_nbytes ? info->footprint_nbytes : a->footprint_nbytes;
        memcpy(a->tracer, info->tracer, sizeof a->tracer);
    }
    return status;
}

kr_status asof_locate(asof *a, const kr_index *index, const kr_column *probes, const kr_nearby *near,
                      uint32_t *out, kr_error *err)
{
    kr_query query;
    kr_status status = near ? kr_query_make_nearest(index, probes, near, NULL, &a->watch, &query, err)
                            : kr_query_make(index, probes, NULL, NULL, &a->watch, &query, err);
    return status == KR_OK ? kr_query_locate(&query, KR_PUT_ROW, out, err) : status;
}

uint32_t asof_bits(uint64_t largest)
{
    uint32_t bits = 0;
    for (; largest; largest >>= 1)
        ++bits;
    return bits;
}

/* ---- One key that holds the groups and the time ----------------------------------------------- */

/* On a GPU so many threads read a column; on a CPU each takes so many rows. */
enum { EXTENT_THREADS = 1 << 17, EXTENT_ROWS = 1 << 12 };

/* `ends`: of two counters, merged with those of columns before. */
static kr_status add_extent(asof *a, const kr_column *column, uint64_t *ends, kr_error *err)
{
    const uint64_t threads = a->device->ops->group_threads == 1 ? column->count / EXTENT_ROWS + 1
                             : column->count < EXTENT_THREADS   ? column->count
                                                                : EXTENT_THREADS;
    const asof_extent_params params = {.data = column->data,
                                       .validity = column->validity,
                                       .validity_offset = column->validity_offset,
                                       .ends = ends,
                                       .n = column->count,
                                       .each = threads ? (column->count + threads - 1) / threads : 0,
                                       .type = column->type};
    return kr_device_run(a->device, &asof_extent, &params, threads, NULL, err);
}

/* Where the parts of a key lie. Groups that the right side lacks have no partner, so its range is enough for
 * them; distances of times need the range of both sides. Blocks. */
static kr_status find_parts(asof *a, asof_part parts[ASOF_PARTS], kr_error *err)
{
    const uint32_t n = a->job->n_by;
    uint64_t ends[2 * ASOF_PARTS] = {0};
    kr_buffer counters = {0};
    kr_status status = kr_counters_make(a->device, NULL, 2 * ASOF_PARTS, &counters, err);
    uint64_t *at = counters.data;
    for (uint32_t j = 0; j < n && status == KR_OK; ++j)
        status = add_extent(a, &a->right.by[j].column, at + 2 * j, err);
    if (status == KR_OK)
        status = add_extent(a, &a->right.time.column, at + 2 * n, err);
    if (status == KR_OK)
        status = add_extent(a, &a->left.time.column, at + 2 * n, err);
    if (status == KR_OK)
        status = kr_counters_read(a->device, NULL, &counters, ends, 2 * ASOF_PARTS, err);
    kr_buffer_release(a->device, &counters, NULL);
    for (uint32_t j = 0; j <= n; ++j) {
        const uint64_t lowest = ~ends[2 * j], highest = ends[2 * j + 1];
        parts[j].type = j < n ? a->right.by[j].column.type : a->right.time.column.type;
        parts[j].lowest = lowest <= highest ? lowest : 0;
        parts[j].span = lowest <= highest ? highest - lowest : 0;
    }
    return status;
}

/* The layout of a key, the first group in its highest bits: 0 if it takes more than 64. Groups have two
 * numbers more than the range needs, for rows of either side that have no partner. */
static uint32_t place_parts(asof *a, asof_part parts[ASOF_PARTS])
{
    const uint32_t n = a->job->n_by, time = parts[n].type;
    uint32_t bits = 0;
    if (time == KR_F32 || time == KR_F64) { /* distances need the whole code */
        parts[n].lowest = 0;
        parts[n].span = ~(uint64_t)0 >> (64 - kr_type_key_bits(time));
    }
    for (uint32_t j = n + 1; j-- > 0;) {
        parts[j].shift = bits;
        if (j < n && parts[j].span > ~(uint64_t)0 - 2)
            return 0;
        bits += asof_bits(j < n ? parts[j].span + 2 : parts[j].span);
        if (bits > 64)
            return 0;
    }
    return bits;
}

/* `unlike`: 1 and 2 give rows without a partner a group of their own on each side. */
static kr_status fold(asof *a, const asof_side *side, const asof_part parts[ASOF_PARTS], uint32_t bits,
                      uint32_t unlike, kr_buffer *buffer, kr_column *keys, kr_error *err)
{
    const uint32_t n = a->job->n_by;
    *keys = (kr_column){.type = bits > 32 ? KR_U64 : KR_U32, .count = side->time.column.count};
    asof_fold_params params = {
        .absent = (parts[0].span + unlike) << parts[0].shift, .n_parts = n + 1, .out_type = keys->type};
    kr_status status =
        asof_allocate(a, keys->count * kr_type_width(keys->type), "the keys of both columns", buffer, err);
    for (uint32_t j = 0; j <= n; ++j) {
        const kr_column *column = j < n ? &side->by[j].column : &side->time.column;
        params.parts[j] = parts[j];
        params.parts[j].data = column->data;
        params.parts[j].validity = column->validity;
        params.parts[j].validity_offset = column->validity_offset;
    }
    keys->data = params.out = buffer->data;
    return status == KR_OK ? kr_device_run(a->device, &asof_fold, &params, keys->count, NULL, err) : status;
}

kr_status asof_folded(asof *a, int *fits, kr_error *err)
{
    asof_part parts[ASOF_PARTS] = {{0}};
    kr_buffer buffers[2] = {{0}, {0}};
    kr_column left, right;
    kr_nearby near = a->job->near;
    kr_status status = find_parts(a, parts, err);
    const uint32_t bits = status == KR_OK ? place_parts(a, parts) : 0;
    *fits = bits != 0;
    if (!bits)
        return status;
    near.how |= KR_NEAR_GROUPED;
    near.low_bits = (uint16_t)parts[a->job->n_by - 1].shift;
    status = fold(a, &a->right, parts, bits, 1, &buffers[0], &right, err);
    if (status == KR_OK)
        status = fold(a, &a->left, parts, bits, 2, &buffers[1], &left, err);
    kr_stopwatch_lap(&a->watch, "fold");
    if (status == KR_OK)
        status = asof_search(a, &left, &right, &buffers[0], &near, bits, err);
    kr_buffer_release(a->device, &buffers[1], NULL);
    kr_buffer_release(a->device, &buffers[0], NULL);
    return status;
}

kr_status asof_search(asof *a, const kr_column *left, const kr_column *right, kr_buffer *keys,
                      const kr_nearby *near, uint32_t used_bits, kr_error *err)
{
    kr_index *index = NULL;
    kr_status status = KR_OK;
    if (a->device->ops->is_host) {
        int done = 0;
        status = kr_type_key_bits(right->type) == 64 ? asof_merge_u64(a, left, right, near, &done, err)
                                                     : asof_merge_u32(a, left, right, near, &done, err);
        if (status != KR_OK || done)
            return status;
    }
    status = asof_index(a, right, used_bits, &index, err);
    if (keys)
        kr_buffer_release(a->device, keys, NULL);
    if (status == KR_OK)
        status = asof_locate(a, index, left, near, a->rows.data, err);
    kr_index_destroy(index);
    return status;
}

/* ---- The result ------------------------------------------------------------------------------- */

/* Every left row, and what it got. */
static kr_status take_all(asof *a, kr_join *join, kr_error *err)
{
    const uint64_t n = a->job->left->count;
    const kr_status status = asof_allocate(a, n * sizeof(uint32_t), "left rows", &join->left, err);
    join->right = a->rows;
    a->rows = (kr_buffer){0};
    join->info.pairs = n;
    return status == KR_OK ? kr_number(a->device, join->left.data, n, NULL, err) : status;
}

static kr_status take_some(asof *a, kr_join *join, kr_error *err)
{
    const kr_found_job job = {.device = a->device,
                              .answers = &a->rows,
                              .n = a->job->left->count,
                              .wanted = a->job->type != KR_JOIN_ANTI,
                              .with_rows = a->job->type == KR_JOIN_INNER,
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

static kr_status bring_side(asof *a, const kr_column *time, const kr_column *by, asof_side *side,
                            kr_error *err)
{
    kr_status status = kr_resident_make(a->device, time, "a copy of the times", NULL, &side->time, err);
    for (uint32_t j = 0; j < a->job->n_by && status == KR_OK; ++j)
        status = kr_resident_make(a->device, &by[j], "a copy of the groups", NULL, &side->by[j], err);
    return status;
}

static void release_side(asof *a, asof_side *side)
{
    for (uint32_t j = 0; j < a->job->n_by; ++j)
        kr_resident_release(a->device, &side->by[j], NULL);
    kr_resident_release(a->device, &side->time, NULL);
}

static kr_status find_rows(asof *a, kr_error *err)
{
    int fits = 0;
    if (!a->job->n_by)
        return asof_search(a, &a->left.time.column, &a->right.time.column, NULL, &a->job->near, 0, err);
    const kr_status status = asof_folded(a, &fits, err);
    return status == KR_OK && !fits ? asof_ranked(a, err) : status;
}

static kr_status join_sides(asof *a, kr_join *join, kr_error *err)
{
    const kr_asof_job *job = a->job;
    kr_status status = bring_side(a, job->left, job->left_by, &a->left, err);
    if (status == KR_OK)
        status = bring_side(a, job->right, job->right_by, &a->right, err);
    kr_stopwatch_lap(&a->watch, "copy");
    if (status == KR_OK)
        status = asof_allocate(a, job->left->count * sizeof(uint32_t), "the right row of each left row",
                               &a->rows, err);
    if (status == KR_OK)
        status = find_rows(a, err);
    if (status == KR_OK)
        status = job->type == KR_JOIN_LEFT ? take_all(a, join, err) : take_some(a, join, err);
    if (status == KR_OK)
        status = kr_device_sync(a->device, NULL, err);
    kr_stopwatch_lap(&a->watch, "pairs");
    release_side(a, &a->right);
    release_side(a, &a->left);
    kr_buffer_release(a->device, &a->rows, NULL);
    return status;
}

static kr_status check(asof *a, kr_error *err)
{
    kr_status status = kr_choose(a->device, a->job->spec, &a->spec, NULL, err);
    if (status == KR_OK)
        status = kr_kind_check(a->spec.kind, KR_CAN_NEAREST, err);
    if (status == KR_OK && (a->job->left->count >= KR_NO_ROW || a->job->right->count >= KR_NO_ROW))
        return kr_fail(err, KR_ERR_LIMIT,
                       "%llu and %llu rows: a side of a join has at most 4294967294; join parts",
                       (unsigned long long)a->job->left->count, (unsigned long long)a->job->right->count);
    return status;
}

kr_status kr_asof_run(const kr_asof_job *job, kr_join *join, kr_error *err)
{
    asof a = {.job = job, .device = job->device, .tracer = "none"};
    kr_join_info *info = &join->info;
    kr_status status = check(&a, err);
    if (status != KR_OK)
        return status;
    const uint64_t before = kr_device_peak_begin(job->device);
    kr_stopwatch_start(&a.watch, job->device, NULL);
    status = join_sides(&a, join, err);
    kr_stopwatch_stop(&a.watch);
    note_peak(&a);
    if (status == KR_OK)
        status = kr_spec_format(&a.spec, info->spec, sizeof info->spec, err);
    snprintf(info->device, sizeof info->device, "%s", job->device->name);
    memcpy(info->tracer, a.tracer, sizeof info->tracer);
    snprintf(info->indexed, sizeof info->indexed, "%s", a.merged ? "none" : "right");
    info->footprint_nbytes = a.footprint_nbytes;
    info->peak_nbytes = a.peak_nbytes > before ? a.peak_nbytes - before : 0;
    join->phases = a.watch.phases;
    return status;
}
