#include "lightweight/store.h"
#include "lightweight/store_body.h"
#include "results/dense.h"

#include <stdlib.h>

/* Both widths: kr_store_pack of store_body.h. */
extern const kr_program kr_store_pack_u32, kr_store_pack_u64;

static uint32_t layout_of(const kr_spec *spec)
{
    return (uint32_t)spec->options[KR_SEARCH_LAYOUT];
}

int kr_store_packs(const kr_spec *spec)
{
    return layout_of(spec) != KR_LAYOUT_SOA;
}

void kr_store_estimate(const kr_shape *shape, uint64_t n_slots, int moved, kr_need *estimate)
{
    kr_sorted_estimate(shape, estimate);
    if (!moved)
        return;
    const uint32_t key_nbytes = kr_type_key_bits(shape->type) / 8;
    const uint64_t kept = n_slots * kr_layout_nbytes(layout_of(shape->spec), key_nbytes);
    const uint64_t both = estimate->footprint_nbytes + kept;
    estimate->footprint_nbytes = kept;
    if (estimate->peak_nbytes < both)
        estimate->peak_nbytes = both;
}

void kr_store_release(kr_device *device, kr_store *store, kr_stream *stream)
{
    kr_buffer_release(device, &store->rows, stream);
    kr_buffer_release(device, &store->keys, stream);
}

static kr_store describe(const kr_build *build, const kr_sorted *sorted)
{
    return (kr_store){
        .n = sorted->n,
        .lowest = sorted->lowest,
        .highest = sorted->highest,
        .key_bits = kr_type_key_bits(build->keys.type),
        .layout = layout_of(build->spec),
        .by_one = build->spec->options[KR_SEARCH_SCAN_THREADS] == 0,
    };
}

kr_status kr_store_reserve(kr_device *device, kr_stream *stream, const kr_store *like, uint64_t n_slots,
                           const char *help, kr_store *store, kr_error *err)
{
    kr_store made = *like;
    const int apart = made.layout == KR_LAYOUT_SOA;
    made.keys = made.rows = (kr_buffer){0};
    kr_status status =
        kr_buffer_allocate(device, n_slots * kr_layout_stride(made.layout, made.key_bits / 8), stream,
                           apart ? "keys in their places" : "packed entries", help, &made.keys, err);
    if (status == KR_OK && apart)
        status = kr_buffer_allocate(device, n_slots * sizeof(uint32_t), stream, "row ids in their places",
                                    help, &made.rows, err);
    if (status == KR_OK)
        *store = made;
    else
        kr_store_release(device, &made, stream);
    return status;
}

kr_status kr_store_open(const kr_build *build, const kr_sorted *sorted, uint64_t n_slots, const char *help,
                        kr_store *store, kr_error *err)
{
    const kr_store like = describe(build, sorted);
    return kr_store_reserve(build->device, build->stream, &like, n_slots, help, store, err);
}

static kr_status pack(const kr_build *build, const kr_sorted *sorted, kr_store *store, kr_error *err)
{
    kr_status status = kr_store_open(build, sorted, sorted->n, "layout=soa", store, err);
    if (status != KR_OK)
        return status;
    const kr_pack_params params = {sorted->keys.data, sorted->rows.data, kr_store_entries(store)};
    status = kr_device_run(build->device, store->key_bits == 64 ? &kr_store_pack_u64 : &kr_store_pack_u32,
                           &params, store->n, build->stream, err);
    kr_stopwatch_lap(build->watch, "place");
    if (status != KR_OK)
        kr_store_release(build->device, store, build->stream);
    return status;
}

kr_status kr_store_build(const kr_build *build, kr_store *store, kr_error *err)
{
    kr_sorted sorted = {0};
    kr_status status = kr_sorted_build(build, &sorted, err);
    if (status != KR_OK)
        return status;
    if (kr_store_packs(build->spec)) {
        status = pack(build, &sorted, store, err);
        kr_sorted_release(build->device, &sorted, build->stream);
        return status;
    }
    *store = describe(build, &sorted);
    store->keys = sorted.keys;
    store->rows = sorted.rows;
    return KR_OK;
}

kr_entries kr_store_entries(const kr_store *store)
{
    return kr_entries_of(store->layout, store->key_bits / 8, store->keys.data, store->rows.data, store->n);
}

void kr_store_destroy(kr_device *device, void *self)
{
    kr_store_release(device, self, NULL);
    free(self);
}

kr_rows kr_store_rows(const void *self)
{
    const kr_store *store = self;
    const kr_entries entries = kr_store_entries(store);
    kr_rows rows = kr_dense_rows(entries.rows, entries.row_stride, store->n);
    rows.by_one = store->by_one;
    return rows;
}

void kr_store_key_range(const void *self, uint64_t *lowest, uint64_t *highest)
{
    const kr_store *store = self;
    *lowest = store->lowest;
    *highest = store->highest;
}

uint32_t kr_store_components(const void *self, kr_component components[KR_COMPONENTS_MOST])
{
    const kr_store *store = self;
    const int apart = store->layout == KR_LAYOUT_SOA;
    components[0] = (kr_component){apart ? "keys" : "entries", store->keys.nbytes};
    if (!apart)
        return 1;
    components[1] = (kr_component){"row ids", store->rows.nbytes};
    return 2;
}

kr_status kr_store_validate(kr_device *device, const void *self, kr_error *err)
{
    const kr_store *store = self;
    const kr_sorted_check check = {kr_store_entries(store), store->key_bits};
    return kr_sorted_validate(device, &check, err);
}
