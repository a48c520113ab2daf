#include "index/lightweight/store.h"
#include "index/lightweight/store_params.h"
#include "index/results/dense.h"

#include <stdlib.h>

/* kr_store_pack of store_width_body.h, for both widths. */
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

/* Without entries. */
static kr_store describe(const kr_spec *spec, uint32_t type)
{
    return (kr_store){
        .key_bits = kr_type_key_bits(type),
        .layout = layout_of(spec),
        .by_one = spec->options[KR_SEARCH_SCAN_THREADS] == 0,
    };
}

static kr_store describe_sorted(const kr_build *build, const kr_sorted *sorted)
{
    kr_store store = describe(build->spec, (uint32_t)build->keys.type);
    store.n = sorted->n;
    store.first_row = sorted->first_row;
    store.lowest = sorted->lowest;
    store.highest = sorted->highest;
    return store;
}

void kr_store_keep(kr_work *w, kr_store *store)
{
    store->keys = kr_work_keep(w, store->keys.data);
    store->rows = kr_work_keep(w, store->rows.data);
}

kr_store kr_store_reserve(kr_work *w, const kr_store *like, uint64_t n_slots, const char *help)
{
    kr_store made = *like;
    const int apart = made.layout == KR_LAYOUT_SOA;
    const uint64_t keys_nbytes = n_slots * kr_layout_stride(made.layout, made.key_bits / 8);
    made.rows = (kr_buffer){0};
    made.keys = kr_work_buffer(w, keys_nbytes, apart ? "keys in their places" : "packed entries", help);
    if (apart)
        made.rows = kr_work_buffer(w, n_slots * sizeof(uint32_t), "row ids in their places", help);
    return made;
}

kr_store kr_store_open(kr_work *w, const kr_build *build, const kr_sorted *sorted, uint64_t n_slots,
                       const char *help)
{
    const kr_store like = describe_sorted(build, sorted);
    return kr_store_reserve(w, &like, n_slots, help);
}

static kr_store pack(kr_work *w, const kr_build *build, const kr_sorted *sorted)
{
    const kr_store store = kr_store_open(w, build, sorted, sorted->n, "layout=soa");
    const kr_pack_params params = {sorted->keys.data, sorted->rows.data, kr_store_entries(&store)};
    kr_work_run(w, store.key_bits == 64 ? &kr_store_pack_u64 : &kr_store_pack_u32, &params, store.n);
    kr_sorted_give(w, sorted);
    kr_work_lap(w, "place");
    return store;
}

kr_store kr_store_build(kr_work *w, const kr_build *build)
{
    if (kr_store_packs(build->spec)) {
        const kr_sorted whole = kr_sorted_build(w, build);
        return pack(w, build, &whole);
    }
    const kr_sorted sorted = kr_sorted_build_clustered(w, build);
    kr_store store = describe_sorted(build, &sorted);
    store.keys = sorted.keys;
    store.rows = sorted.rows;
    return store;
}

int kr_store_is_clustered(const kr_store *store)
{
    return store->layout == KR_LAYOUT_SOA && store->n && !store->rows.data;
}

kr_entries kr_store_with_rows(kr_work *w, const kr_store *store, const void **numbered)
{
    *numbered = NULL;
    if (!kr_store_is_clustered(store))
        return kr_store_entries(store);
    const kr_buffer rows = kr_sorted_number(w, store->first_row, store->n);
    *numbered = rows.data;
    return kr_entries_of(KR_LAYOUT_SOA, store->key_bits / 8, store->keys.data, rows.data, store->n);
}

void kr_store_leave_rows(kr_work *w, kr_store *store)
{
    const uint32_t first = kr_sorted_first_row(w, store->rows.data, store->n);
    if (first == KR_NO_ROW)
        return;
    kr_work_give(w, store->rows.data);
    store->rows = (kr_buffer){0};
    store->first_row = first;
}

kr_entries kr_store_entries(const kr_store *store)
{
    if (kr_store_is_clustered(store))
        return kr_entries_of_codes(store->key_bits / 8, store->keys.data, store->first_row, store->n);
    return kr_entries_of(store->layout, store->key_bits / 8, store->keys.data, store->rows.data, store->n);
}

void kr_store_destroy(kr_device *device, void *self, kr_stream *stream)
{
    kr_store_release(device, self, stream);
    free(self);
}

kr_rows kr_store_rows(const void *self)
{
    const kr_store *store = self;
    const kr_entries entries = kr_store_entries(store);
    kr_rows rows = kr_store_is_clustered(store) ? kr_row_numbers(store->first_row, store->n)
                                                : kr_dense_rows(entries.rows, entries.row_stride, store->n);
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

int kr_store_validate(kr_work *w, const void *self)
{
    const kr_store *store = self;
    const kr_sorted_check check = {kr_store_entries(store), store->key_bits, store->lowest, store->highest};
    return kr_sorted_validate(w, &check);
}

void kr_store_image(kr_image *image, const kr_image_of *of, uint32_t before, int in_order, kr_store *store)
{
    if (kr_image_loads(image))
        *store = describe(of->spec, of->type);
    kr_image_u64(image, "n", &store->n, 0, KR_NO_ROW - 1);
    kr_sorted_image_ends(image, store->key_bits, &store->lowest, &store->highest);
    const uint64_t slots = store->n ? store->n + before : 0;
    kr_image_buffer(image, "keys", &store->keys,
                    slots * kr_layout_stride(store->layout, store->key_bits / 8));
    if (in_order && kr_image_offers(image, "first row", kr_store_is_clustered(store)))
        kr_image_u32(image, "first row", &store->first_row, 0, (uint32_t)(KR_NO_ROW - store->n));
    else if (store->layout == KR_LAYOUT_SOA)
        kr_image_buffer(image, "rows", &store->rows, slots * sizeof(uint32_t));
}
