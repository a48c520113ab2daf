/* ROWS: offsets by lengths and a prefix sum, row ids by copying those of each match. */
#include "core/query.h"
#include "core/reduce.h"

void kr_matches_release(const kr_query *query, kr_matches *matches)
{
    kr_buffer_release(query->index->device, &matches->offsets, query->stream);
    kr_buffer_release(query->index->device, &matches->matches, query->stream);
}

kr_status kr_matches_find(const kr_query *query, kr_matches *matches, kr_error *err)
{
    kr_device *device = query->index->device;
    const uint64_t n = query->n;
    const char *help = "kr_lookup_chunks needs less";
    kr_matches made = {0};
    kr_status status =
        kr_buffer_allocate(device, n * sizeof(kr_match), query->stream, "matches", help, &made.matches, err);
    if (status == KR_OK)
        status = kr_buffer_allocate(device, (n + 1) * sizeof(uint64_t), query->stream, "offsets", help,
                                    &made.offsets, err);
    if (status == KR_OK)
        status = kr_device_fill(device, made.offsets.data, 0, made.offsets.nbytes, query->stream, err);
    if (status == KR_OK)
        status = kr_query_locate(query, KR_PUT_MATCH, made.matches.data, err);
    const rows_params params = {.matches = made.matches.data, .offsets = made.offsets.data};
    if (status == KR_OK)
        status = kr_device_run(device, &reduce_rows_length, &params, n, query->stream, err);
    if (status == KR_OK)
        status = kr_device_exclusive_sum(device, made.offsets.data, n + 1, query->stream, err);
    kr_stopwatch_lap(query->watch, "offsets");
    if (status == KR_OK)
        *matches = made;
    else
        kr_matches_release(query, &made);
    return status;
}

static kr_status copy_rows(const kr_query *query, const kr_matches *matches, const kr_matches_part *part,
                           uint32_t *out, uint32_t *probes, kr_error *err)
{
    kr_device *device = query->index->device;
    const kr_rows rows = query->index->ops->rows(query->index->self);
    const rows_params params = {
        .matches = (const kr_match *)matches->matches.data + part->first,
        .offsets = (uint64_t *)matches->offsets.data + part->first,
        .view = rows.view,
        .out = out,
        .probes = probes,
        .base = part->base,
        .capacity = part->capacity,
        .spread = kr_spread_of(device->ops->is_host, part->count),
    };
    const uint64_t threads = (part->count << params.spread.slice_bits) * params.spread.threads;
    return kr_device_run(device, rows.walk->copy, &params, threads, query->stream, err);
}

/* Row ids and the probes they belong to, and room to sort both into. */
typedef struct pairs {
    kr_buffer rows, probes, rows_sorted, probes_sorted;
} pairs;

static kr_status allocate_pairs(const kr_query *query, uint64_t n, pairs *made, kr_error *err)
{
    kr_buffer *const all[] = {&made->rows, &made->probes, &made->rows_sorted, &made->probes_sorted};
    kr_status status = KR_OK;
    for (int i = 0; i < 4 && status == KR_OK; ++i)
        status = kr_buffer_allocate(query->index->device, n * sizeof(uint32_t), query->stream,
                                    "ordering row ids", "KR_ORDER_KEY or kr_lookup_chunks", all[i], err);
    /* what the copy leaves out belongs to a probe after the last */
    for (int i = 0; i < 2 && status == KR_OK; ++i)
        status = kr_device_fill(query->index->device, all[i]->data, 0xFF, all[i]->nbytes, query->stream, err);
    return status;
}

static void release_pairs(const kr_query *query, pairs *made)
{
    kr_buffer *const all[] = {&made->probes_sorted, &made->rows_sorted, &made->probes, &made->rows};
    for (int i = 0; i < 4; ++i)
        kr_buffer_release(query->index->device, all[i], query->stream);
}

static uint32_t bits_of(uint64_t largest)
{
    return largest >> 32 ? 32 : 32 - kr_clz32((uint32_t)largest);
}

/* Two stable sorts, by row id and then by probe, leave row ids ascending within each probe. */
static kr_status copy_ordered(const kr_query *query, const kr_matches *matches, const kr_matches_part *part,
                              kr_error *err)
{
    kr_device *device = query->index->device;
    pairs p = {{0}, {0}, {0}, {0}};
    kr_status status = allocate_pairs(query, part->capacity, &p, err);
    if (status == KR_OK)
        status = copy_rows(query, matches, part, p.rows.data, p.probes.data, err);
    if (status == KR_OK) {
        const kr_sort by_row = {.key_bits = 32,
                                .end_bit = bits_of(query->index->row_limit),
                                .n = part->capacity,
                                .keys_in = p.rows.data,
                                .keys_out = p.rows_sorted.data,
                                .rows_in = p.probes.data,
                                .rows_out = p.probes_sorted.data};
        status = kr_device_sort(device, &by_row, query->stream, err);
    }
    if (status == KR_OK) {
        const kr_sort by_probe = {.key_bits = 32,
                                  .end_bit = bits_of(part->count),
                                  .n = part->capacity,
                                  .keys_in = p.probes_sorted.data,
                                  .keys_out = p.probes.data,
                                  .rows_in = p.rows_sorted.data,
                                  .rows_out = part->out};
        status = kr_device_sort(device, &by_probe, query->stream, err);
    }
    release_pairs(query, &p);
    return status;
}

kr_status kr_matches_copy(const kr_query *query, const kr_matches *matches, const kr_matches_part *part,
                          kr_error *err)
{
    if (part->count == 0 || part->capacity == 0)
        return KR_OK;
    if (part->capacity > UINT64_MAX / 16)
        return kr_fail(err, KR_ERR_LIMIT, "room for %llu row ids is more than any memory holds",
                       (unsigned long long)part->capacity);
    if (part->count >= KR_NO_ROW)
        return kr_fail(err, KR_ERR_LIMIT,
                       "ROWS for %llu probes at once; at most 4294967294, or kr_lookup_chunks",
                       (unsigned long long)part->count);
    /* the rows of one key are numbered in ascending order (core/match.h) */
    const int sort = part->order == KR_ORDER_ROW && query->batch.upper;
    const kr_status status = sort ? copy_ordered(query, matches, part, err)
                                  : copy_rows(query, matches, part, part->out, part->probes, err);
    kr_stopwatch_lap(query->watch, "rows");
    return status;
}
