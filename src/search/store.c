#include "search/store.h"
#include "search/store_body.h"

/* Both widths: kr_store_pack of store_body.h. */
extern const kr_program kr_store_pack_u32, kr_store_pack_u64;

static uint64_t key_nbytes(const kr_store *store)
{
    return store->key_bits / 8;
}

static uint64_t entry_nbytes(const kr_store *store)
{
    return key_nbytes(store) + sizeof(uint32_t);
}

void kr_store_estimate(const kr_shape *shape, kr_estimate *estimate)
{
    kr_sorted_estimate(shape, estimate);
    const uint64_t both = 2 * estimate->footprint_nbytes;
    if (shape->spec->options[KR_SEARCH_LAYOUT] == KR_LAYOUT_AOS && estimate->peak_nbytes < both)
        estimate->peak_nbytes = both;
}

void kr_store_release(kr_device *device, kr_store *store, kr_stream *stream)
{
    kr_buffer_release(device, &store->packed, stream);
    kr_sorted_release(device, &store->sorted, stream);
}

/* Moves the sorted columns into one array of packed entries. */
static kr_status pack(const kr_build *build, kr_store *store, kr_error *err)
{
    const uint64_t n = store->sorted.n;
    kr_status status = kr_buffer_allocate(build->device, n * entry_nbytes(store), build->stream,
                                          "packed entries", "layout=soa", &store->packed, err);
    if (status != KR_OK)
        return status;
    const kr_pack_params params = {store->sorted.keys.data, store->sorted.rows.data, store->packed.data};
    status = kr_device_run(build->device, store->key_bits == 64 ? &kr_store_pack_u64 : &kr_store_pack_u32,
                           &params, n, build->stream, err);
    kr_sorted_release(build->device, &store->sorted, build->stream);
    store->sorted.n = n;
    kr_stopwatch_lap(build->watch, "pack");
    return status;
}

kr_status kr_store_build(const kr_build *build, kr_store *store, kr_error *err)
{
    kr_store made = {
        .key_bits = kr_type_key_bits(build->keys.type),
        .aos = build->spec->options[KR_SEARCH_LAYOUT] == KR_LAYOUT_AOS,
    };
    kr_status status = kr_sorted_build(build, &made.sorted, err);
    if (status == KR_OK && made.aos)
        status = pack(build, &made, err);
    if (status == KR_OK)
        *store = made;
    else
        kr_store_release(build->device, &made, build->stream);
    return status;
}

kr_entries kr_store_entries(const kr_store *store)
{
    return (kr_entries){
        .keys = store->aos ? store->packed.data : store->sorted.keys.data,
        .rows = store->sorted.rows.data,
        .n = (uint32_t)store->sorted.n,
        .aos = store->aos,
    };
}

kr_rows_view kr_store_rows(const kr_store *store)
{
    if (!store->aos)
        return (kr_rows_view){store->sorted.rows.data, sizeof(uint32_t), {0}};
    return (kr_rows_view){(const char *)store->packed.data + key_nbytes(store), entry_nbytes(store), {0}};
}

uint32_t kr_store_parts(const kr_store *store, kr_part parts[KR_STATS_PARTS])
{
    uint32_t n = 0;
    if (store->aos) {
        parts[n++] = (kr_part){"entries", store->packed.nbytes};
    } else {
        parts[n++] = (kr_part){"keys", store->sorted.keys.nbytes};
        parts[n++] = (kr_part){"row ids", store->sorted.rows.nbytes};
    }
    return n;
}

kr_status kr_store_validate(kr_device *device, const kr_store *store, kr_error *err)
{
    const kr_sorted_check check = {
        .keys = store->aos ? store->packed.data : store->sorted.keys.data,
        .key_stride = store->aos ? entry_nbytes(store) : key_nbytes(store),
        .rows = kr_store_rows(store),
        .n = store->sorted.n,
        .key_bits = store->key_bits,
    };
    return kr_sorted_validate(device, &check, err);
}
