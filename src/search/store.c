#include "search/store.h"
#include "search/store_body.h"
#include "sorted/sorted.h"

#include <stdlib.h>

/* Both widths: kr_store_place of store_body.h. */
extern const kr_program kr_store_place_u32, kr_store_place_u64;

static uint64_t key_nbytes(const kr_store *store)
{
    return store->key_bits / 8;
}

static uint64_t entry_nbytes(const kr_store *store)
{
    return key_nbytes(store) + sizeof(uint32_t);
}

static uint64_t slots_of(uint32_t k, uint64_t n)
{
    return n ? n + kr_eytzinger_first(k) : 0;
}

static kr_lists lists_of(const kr_store *store)
{
    return (kr_lists){.tree = store->tree};
}

void kr_store_estimate(const kr_shape *shape, uint32_t k, kr_estimate *estimate)
{
    kr_sorted_estimate(shape, estimate);
    if (!k && shape->spec->options[KR_SEARCH_LAYOUT] == KR_LAYOUT_SOA)
        return;
    const uint64_t entry = kr_type_key_bits(shape->type) / 8 + sizeof(uint32_t);
    const uint64_t kept = slots_of(k, shape->count) * entry, both = shape->count * entry + kept;
    estimate->footprint_nbytes = kept;
    if (estimate->peak_nbytes < both)
        estimate->peak_nbytes = both;
}

static void release(kr_device *device, kr_store *store, kr_stream *stream)
{
    kr_buffer_release(device, &store->rows, stream);
    kr_buffer_release(device, &store->keys, stream);
}

/* Moves sorted columns to where they stand. */
static kr_status place(const kr_build *build, const kr_sorted *sorted, kr_store *store, kr_error *err)
{
    const uint64_t slots = slots_of(store->tree.k, store->n);
    const char *help = store->tree.k ? "kind array" : "layout=soa";
    kr_status status = kr_buffer_allocate(
        build->device, slots * (store->aos ? entry_nbytes(store) : key_nbytes(store)), build->stream,
        store->aos ? "packed entries" : "keys in Eytzinger order", help, &store->keys, err);
    if (status == KR_OK && !store->aos)
        status = kr_buffer_allocate(build->device, slots * sizeof(uint32_t), build->stream,
                                    "row ids in Eytzinger order", help, &store->rows, err);
    const kr_place_params params = {sorted->keys.data, sorted->rows.data, store->keys.data, store->rows.data,
                                    lists_of(store)};
    if (status == KR_OK)
        status =
            kr_device_run(build->device, store->key_bits == 64 ? &kr_store_place_u64 : &kr_store_place_u32,
                          &params, store->n, build->stream, err);
    kr_stopwatch_lap(build->watch, "place");
    return status;
}

kr_status kr_store_build(const kr_build *build, uint32_t k, kr_store *store, kr_error *err)
{
    kr_sorted sorted = {0};
    kr_status status = kr_sorted_build(build, &sorted, err);
    if (status != KR_OK)
        return status;
    kr_store made = {
        .n = sorted.n,
        .lowest = sorted.lowest,
        .highest = sorted.highest,
        .key_bits = kr_type_key_bits(build->keys.type),
        .aos = build->spec->options[KR_SEARCH_LAYOUT] == KR_LAYOUT_AOS,
        .scan = build->spec->options[KR_SEARCH_SCAN_THREADS] ? 0 : KR_SCAN_BY_ONE,
    };
    if (k)
        made.tree = kr_eytzinger_of(k, (uint32_t)sorted.n);
    if (k || made.aos) {
        status = place(build, &sorted, &made, err);
        kr_sorted_release(build->device, &sorted, build->stream);
    } else {
        made.keys = sorted.keys;
        made.rows = sorted.rows;
    }
    if (status == KR_OK)
        *store = made;
    else
        release(build->device, &made, build->stream);
    return status;
}

kr_entries kr_store_entries(const kr_store *store)
{
    return (kr_entries){store->keys.data, store->rows.data, (uint32_t)store->n, store->aos};
}

void kr_store_destroy(kr_device *device, void *self)
{
    release(device, self, NULL);
    free(self);
}

kr_rows_view kr_store_rows(const void *self)
{
    const kr_store *store = self;
    kr_rows_view view = {.rows = store->rows.data, .stride = sizeof(uint32_t), .lists = lists_of(store)};
    if (store->aos && store->keys.data) {
        view.rows = (const char *)store->keys.data + key_nbytes(store);
        view.stride = entry_nbytes(store);
    }
    return view;
}

uint32_t kr_store_scan(const void *self)
{
    return ((const kr_store *)self)->scan;
}

uint64_t kr_store_n_rows(const void *self)
{
    return ((const kr_store *)self)->n;
}

void kr_store_key_range(const void *self, uint64_t *lowest, uint64_t *highest)
{
    const kr_store *store = self;
    *lowest = store->lowest;
    *highest = store->highest;
}

uint32_t kr_store_parts(const void *self, kr_part parts[KR_STATS_PARTS])
{
    const kr_store *store = self;
    parts[0] = (kr_part){store->aos ? "entries" : "keys", store->keys.nbytes};
    if (store->aos)
        return 1;
    parts[1] = (kr_part){"row ids", store->rows.nbytes};
    return 2;
}

kr_status kr_store_validate(kr_device *device, const void *self, kr_error *err)
{
    const kr_store *store = self;
    const kr_sorted_check check = {
        .keys = store->keys.data,
        .key_stride = store->aos ? entry_nbytes(store) : key_nbytes(store),
        .rows = kr_store_rows(store),
        .n = store->n,
        .key_bits = store->key_bits,
    };
    return kr_sorted_validate(device, &check, err);
}
