/* The slots of all entries, in one layout, at one key width. */
#include "indexes/cgrx/cgrx_nodes.h"

kr_entries KR_W(cgrx_storage_entries)(const cgrx_storage *storage, uint64_t n)
{
    return kr_entries_of(storage->layout, sizeof(kr_key), storage->keys.data, storage->rows.data, n);
}

kr_status KR_W(cgrx_storage_allocate)(kr_device *device, kr_stream *stream, uint32_t layout, uint64_t n,
                                      cgrx_storage *storage, kr_error *err)
{
    cgrx_storage made = {.layout = layout};
    const int apart = layout == KR_LAYOUT_SOA;
    kr_status status =
        kr_buffer_allocate(device, n * kr_layout_stride(layout, sizeof(kr_key)), stream,
                           apart ? "keys of buckets" : "entries of buckets", NULL, &made.keys, err);
    if (status == KR_OK && apart)
        status = kr_buffer_allocate(device, n * sizeof(uint32_t), stream, "row ids of buckets", NULL,
                                    &made.rows, err);
    if (status == KR_OK)
        *storage = made;
    else
        cgrx_storage_release(device, stream, &made);
    return status;
}
