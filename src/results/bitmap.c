#include "results/bitmap.h"
#include "results/bitmap_body.h"

kr_status kr_bitmap_pack(kr_device *device, const uint8_t *flags, uint64_t n, uint8_t *bitmap,
                         kr_stream *stream, kr_error *err)
{
    const pack_params params = {flags, bitmap, n};
    return kr_device_run(device, &bitmap_pack, &params, (n + 7) / 8, stream, err);
}

kr_status kr_bitmap_mark(kr_device *device, const uint32_t *ids, uint64_t n, uint32_t *bitmap,
                         kr_stream *stream, kr_error *err)
{
    const mark_params params = {ids, bitmap};
    return kr_device_run(device, &bitmap_mark, &params, n, stream, err);
}

kr_status kr_selection_list(kr_device *device, const kr_selection *selection, kr_stream *stream,
                            kr_buffer *rows, uint64_t *count, kr_error *err)
{
    const uint64_t n = selection->n;
    kr_buffer places = {0}, made = {0};
    uint64_t found = 0;
    kr_status status =
        kr_buffer_allocate(device, (n + 1) * sizeof(uint64_t), stream, "places of rows", NULL, &places, err);
    select_params params = {selection->bitmap, selection->offsets, places.data, NULL, selection->wanted, 0};
    if (status == KR_OK)
        status = kr_device_fill(device, places.data, 0, places.nbytes, stream, err);
    if (status == KR_OK)
        status = kr_device_run(device, &bitmap_select_count, &params, n, stream, err);
    if (status == KR_OK)
        status = kr_device_exclusive_sum(device, places.data, n + 1, stream, err);
    if (status == KR_OK)
        status = kr_device_copy(device, &found, (const uint64_t *)places.data + n, sizeof found, stream, err);
    if (status == KR_OK)
        status = kr_device_sync(device, stream, err);
    if (status == KR_OK)
        status =
            kr_buffer_allocate(device, found * sizeof(uint32_t), stream, "selected rows", NULL, &made, err);
    params.rows = made.data;
    if (status == KR_OK)
        status = kr_device_run(device, &bitmap_select_write, &params, n, stream, err);
    kr_buffer_release(device, &places, stream);
    if (status != KR_OK) {
        kr_buffer_release(device, &made, stream);
        return status;
    }
    *rows = made;
    *count = found;
    return KR_OK;
}
