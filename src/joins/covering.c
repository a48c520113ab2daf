#include "joins/covering.h"
#include "joins/covering_body.h"
#include "joins/pairs.h"
#include "key/encode.h"
#include "kinds/index.h"
#include "kinds/nearest.h"
#include "results/bitmap.h"

#define HELP "join parts of the sides, or use kr_join_chunks"

static kr_status allocate(const kr_covering *c, uint64_t nbytes, const char *what, kr_buffer *buffer,
                          kr_error *err)
{
    return kr_buffer_allocate(c->device, nbytes, c->stream, what, HELP, buffer, err);
}

static uint64_t code_nbytes(const kr_covering *c)
{
    return kr_type_nbytes(c->type);
}

/* ---- The build -------------------------------------------------------------------------------- */

/* Ranges as codes, and which of them are not empty. */
typedef struct coded {
    kr_buffer lowers, uppers, flags, validity;
} coded;

static void release_coded(const kr_covering *c, coded *ranges)
{
    kr_buffer *const all[] = {&ranges->validity, &ranges->flags, &ranges->uppers, &ranges->lowers};
    for (int i = 0; i < 4; ++i)
        kr_buffer_release(c->device, all[i], c->stream);
}

static kr_status encode(const kr_covering *c, const kr_column *lower, const kr_column *upper, coded *ranges,
                        kr_error *err)
{
    const uint64_t n = lower->count, nbytes = n * code_nbytes(c);
    kr_status status = allocate(c, nbytes, "ranges as codes", &ranges->lowers, err);
    if (status == KR_OK)
        status = allocate(c, nbytes, "ranges as codes", &ranges->uppers, err);
    if (status == KR_OK)
        status = allocate(c, n, "flags of ranges", &ranges->flags, err);
    if (status == KR_OK)
        status = allocate(c, n / 8 + 1, "which ranges are not empty", &ranges->validity, err);
    const covering_codes_params params = {
        .lower = lower->data,
        .upper = upper->data,
        .lower_validity = lower->validity,
        .upper_validity = upper->validity,
        .lower_offset = lower->validity_offset,
        .upper_offset = upper->validity_offset,
        .lowers = ranges->lowers.data,
        .uppers = ranges->uppers.data,
        .flags = ranges->flags.data,
        .type = lower->type,
        .out_type = c->type,
    };
    if (status == KR_OK)
        status = kr_device_run(c->device, &covering_codes, &params, n, c->stream, err);
    return status == KR_OK
               ? kr_bitmap_pack(c->device, ranges->flags.data, n, ranges->validity.data, c->stream, err)
               : status;
}

static void lay_out(kr_covering *c)
{
    kr_covering_view *v = &c->view;
    uint64_t n = c->sorted.n;
    v->is_wide = c->type == KR_U64;
    for (v->levels = 0; n; n = n == 1 ? 0 : (n + COVERING_FAN - 1) / COVERING_FAN, ++v->levels)
        v->first[v->levels + 1] = v->first[v->levels] + n;
}

static kr_status fill_levels(kr_covering *c, const coded *ranges, kr_error *err)
{
    kr_covering_view *v = &c->view;
    const uint64_t nbytes = v->first[v->levels] * code_nbytes(c);
    kr_status status = allocate(c, nbytes, "upper bounds of ranges", &c->largest, err);
    if (status == KR_OK)
        status = allocate(c, nbytes, "upper bounds of ranges", &c->reach, err);
    v->largest = c->largest.data;
    v->reach = c->reach.data;
    covering_level_params params = {.view = *v, .uppers = ranges->uppers.data, .rows = c->sorted.rows.data};
    for (; params.level < v->levels && status == KR_OK; ++params.level)
        status = kr_device_run(c->device, &covering_largest, &params,
                               v->first[params.level + 1] - v->first[params.level], c->stream, err);
    while (params.level-- && status == KR_OK)
        status = kr_device_run(c->device, &covering_reach, &params,
                               v->first[params.level + 1] - v->first[params.level], c->stream, err);
    return status;
}

static kr_status sort(kr_covering *c, const kr_spec *spec, const coded *ranges, uint64_t n, kr_error *err)
{
    const kr_build build = {
        .device = c->device,
        .stream = c->stream,
        .spec = spec,
        .keys = {.type = c->type, .count = n, .data = ranges->lowers.data, .validity = ranges->validity.data},
    };
    kr_work w = kr_work_on(c->device, c->stream, err);
    c->sorted = kr_sorted_build(&w, &build);
    kr_sorted_keep(&w, &c->sorted);
    return kr_work_end(&w);
}

/* All but the index. */
static kr_status arrange(kr_covering *c, const kr_spec *spec, const kr_column *lower, const kr_column *upper,
                         kr_error *err)
{
    coded ranges = {{0}, {0}, {0}, {0}};
    c->type = kr_type_key_bits(lower->type) == 64 ? KR_U64 : KR_U32;
    c->n_right = lower->count;
    kr_status status = encode(c, lower, upper, &ranges, err);
    if (status == KR_OK)
        status = sort(c, spec, &ranges, lower->count, err);
    lay_out(c);
    if (status == KR_OK)
        status = fill_levels(c, &ranges, err);
    release_coded(c, &ranges);
    return status;
}

kr_status kr_covering_build(kr_covering *c, const kr_spec *spec, const kr_column *lower,
                            const kr_column *upper, kr_stopwatch *watch, kr_error *err)
{
    kr_status status = arrange(c, spec, lower, upper, err);
    kr_stopwatch_lap(watch, "sort");
    const kr_column keys = {.type = c->type, .count = c->sorted.n, .data = c->sorted.keys.data};
    if (status == KR_OK)
        status = kr_index_make(c->device, spec, &keys, NULL, NULL, &c->index, err);
    kr_buffer_release(c->device, &c->sorted.keys, c->stream);
    return status;
}

void kr_covering_release(kr_covering *c)
{
    kr_index_destroy(c->index);
    kr_buffer *const all[] = {&c->found, &c->slices, &c->rests, &c->ranks};
    for (int i = 0; i < 4; ++i)
        kr_buffer_release(c->device, all[i], c->stream);
    kr_buffer_release(c->device, &c->keys, c->stream);
    kr_buffer_release(c->device, &c->reach, c->stream);
    kr_buffer_release(c->device, &c->largest, c->stream);
    kr_sorted_release(c->device, &c->sorted, c->stream);
}

/* ---- The search ------------------------------------------------------------------------------- */

kr_status kr_covering_query(kr_covering *c, const kr_column *left, kr_stopwatch *watch, kr_query *query,
                            kr_error *err)
{
    const kr_nearby rank = {.how = KR_NEAR_RANK, .type = (uint16_t)c->type};
    kr_column keys = *left;
    kr_status status = allocate(c, left->count * code_nbytes(c), "keys as codes", &c->keys, err);
    const kr_encode_job job = {left->data, NULL, c->keys.data, left->count, left->type};
    kr_work w = kr_work_on(c->device, NULL, err);
    if (status == KR_OK && left->count)
        kr_encode(&w, &job);
    if (status == KR_OK)
        status = kr_work_end(&w);
    keys.type = c->type;
    keys.data = c->keys.data;
    return status == KR_OK ? kr_query_make_nearest(c->index, &keys, &rank, NULL, watch, query, err) : status;
}

static covering_scan_params scan_of(const kr_covering *c, const kr_query *query, const kr_buffer *offsets)
{
    return (covering_scan_params){.view = c->view,
                                  .keys = c->keys.data,
                                  .ranks = c->ranks.data,
                                  .rests = c->rests.data,
                                  .offsets = offsets->data,
                                  .slices = c->slices.data,
                                  .found = c->found.data,
                                  .rows = c->sorted.rows.data,
                                  .n = query->n};
}

/* A prefix sum of n values and the end, which is read. Blocks. */
static kr_status add_up(const kr_covering *c, uint64_t *values, uint64_t n, uint64_t *total, kr_error *err)
{
    const kr_buffer end = {values + n, sizeof *values};
    kr_status status = kr_device_fill(c->device, values + n, 0, sizeof *values, NULL, err);
    if (status == KR_OK)
        status = kr_device_exclusive_sum(c->device, values, n + 1, NULL, err);
    return status == KR_OK ? kr_counters_read(c->device, NULL, &end, total, 1, err) : status;
}

/* Most slices in all, unless there are more keys that need them. */
enum { SLICES = 1 << 18 };

/* Cuts the rests of `long_keys` keys into slices, and adds what these find. Blocks. */
static kr_status count_slices(kr_covering *c, covering_scan_params *params, uint64_t long_keys, kr_error *err)
{
    const uint64_t n = params->n;
    uint64_t found = 0;
    kr_status status = allocate(c, (n + 1) * sizeof(uint64_t), "slices of keys", &c->slices, err);
    params->slices = c->slices.data;
    params->most = SLICES / long_keys + 1;
    if (status == KR_OK)
        status = kr_device_run(c->device, &covering_slices, params, n, NULL, err);
    if (status == KR_OK)
        status = add_up(c, params->slices, n, &c->n_slices, err);
    if (status == KR_OK)
        status = allocate(c, (c->n_slices + 1) * sizeof(uint64_t), "pairs of slices", &c->found, err);
    params->found = c->found.data;
    if (status == KR_OK)
        status = kr_device_run(c->device, &covering_slice_count, params, c->n_slices, NULL, err);
    if (status == KR_OK)
        status = add_up(c, params->found, c->n_slices, &found, err);
    return status == KR_OK ? kr_device_run(c->device, &covering_slice_add, params, n, NULL, err) : status;
}

/* counts: whether some key has several; keys that need slices. Blocks. */
static kr_status count(kr_covering *c, covering_scan_params *params, const kr_buffer *counts, kr_error *err)
{
    uint64_t seen[2] = {0, 0};
    kr_status status = kr_device_run(c->device, &covering_count, params, params->n, NULL, err);
    if (status == KR_OK)
        status = kr_counters_read(c->device, NULL, counts, seen, 2, err);
    if (status == KR_OK && seen[1]) {
        status = count_slices(c, params, seen[1], err);
        if (status == KR_OK)
            status = kr_counters_read(c->device, NULL, counts, seen, 2, err);
    }
    c->several = seen[0] != 0;
    return status;
}

kr_status kr_covering_find(kr_covering *c, const kr_query *query, int first, kr_buffer *offsets,
                           kr_error *err)
{
    const uint64_t n = query->n;
    kr_buffer counts = {0};
    uint64_t pairs = 0;
    kr_status status = allocate(c, n * sizeof(uint32_t), "ranks of keys", &c->ranks, err);
    if (status == KR_OK)
        status = kr_query_locate(query, KR_PUT_ROW, c->ranks.data, err);
    if (status == KR_OK)
        status = allocate(c, (n + 1) * sizeof(uint64_t), "offsets of pairs", offsets, err);
    if (status == KR_OK && !first)
        status = allocate(c, n * sizeof(uint32_t), "ranges that are left", &c->rests, err);
    if (status == KR_OK)
        status = kr_counters_make(c->device, NULL, 2, &counts, err);
    covering_scan_params params = scan_of(c, query, offsets);
    params.counts = counts.data;
    params.first = (uint64_t)first;
    if (status == KR_OK)
        status = count(c, &params, &counts, err);
    if (status == KR_OK)
        status = add_up(c, params.offsets, n, &pairs, err);
    kr_buffer_release(c->device, &counts, NULL);
    kr_stopwatch_lap(query->watch, "count");
    return status;
}

kr_status kr_covering_list(const kr_covering *c, const kr_query *query, const kr_buffer *offsets, uint64_t n,
                           int ordered, kr_buffer *left, kr_buffer *right, kr_error *err)
{
    kr_status status = kr_join_allocate(c->device, n, "left rows", left, err);
    if (status == KR_OK)
        status = kr_join_allocate(c->device, n, "right rows", right, err);
    covering_scan_params params = scan_of(c, query, offsets);
    params.left = left->data;
    params.right = right->data;
    if (status == KR_OK && n)
        status = kr_device_run(c->device, &covering_list, &params, query->n, NULL, err);
    if (status == KR_OK && n)
        status = kr_device_run(c->device, &covering_slice_list, &params, c->n_slices, NULL, err);
    kr_stopwatch_lap(query->watch, "rows");
    if (status != KR_OK || !n || !ordered || !c->several)
        return status;
    status = kr_join_sort(c->device, c->n_right, right, left, n, err);
    return status == KR_OK ? kr_join_sort(c->device, query->n, left, right, n, err) : status;
}

/* ---- Parts of ranges --------------------------------------------------------------------------- */

/* A column of n values in memory of its own. */
static kr_status make_bound(const kr_covering *c, kr_type type, uint64_t n, kr_resident *bound, kr_error *err)
{
    *bound = (kr_resident){.column = {.type = type, .count = n}};
    const kr_status status =
        allocate(c, n * kr_type_nbytes(type), "ranges without what others hold", &bound->data, err);
    bound->column.data = bound->data.data;
    return status;
}

kr_status kr_ranges_part(kr_device *device, const kr_spec *spec, kr_stream *stream, kr_resident *low,
                         kr_resident *high, kr_error *err)
{
    const kr_type type = low->column.type;
    kr_covering c = {.device = device, .stream = stream};
    kr_resident parts[2] = {{.data = {0}}, {.data = {0}}};
    kr_status status = arrange(&c, spec, &low->column, &high->column, err);
    kr_resident_release(device, high, stream);
    kr_resident_release(device, low, stream);
    if (status == KR_OK)
        status = make_bound(&c, type, c.sorted.n, &parts[0], err);
    if (status == KR_OK)
        status = make_bound(&c, type, c.sorted.n, &parts[1], err);
    const covering_part_params params = {
        c.view, c.sorted.keys.data, parts[0].data.data, parts[1].data.data, type, 0};
    if (status == KR_OK)
        status = kr_device_run(device, &covering_part, &params, c.sorted.n, stream, err);
    kr_covering_release(&c);
    *low = parts[0];
    *high = parts[1];
    return status;
}
