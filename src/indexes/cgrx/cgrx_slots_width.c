/* The slots of entries, in one layout, at one key width. */
#include "indexes/cgrx/cgrx_nodes.h"

/* Bytes from a slot's key to the next one's. */
static uint32_t stride_of(uint32_t layout)
{
    if (layout == CGRX_COLUMN)
        return sizeof(kr_key);
    return layout == CGRX_ROW ? 2 * sizeof(kr_key) : sizeof(kr_key) + sizeof(uint32_t);
}

cgrx_store KR_W(cgrx_store_of)(const cgrx_slots *slots)
{
    const uint32_t stride = stride_of(slots->layout);
    char *keys = slots->keys.data;
    if (slots->layout == CGRX_COLUMN)
        return (cgrx_store){keys, slots->rows.data, stride, sizeof(uint32_t)};
    return (cgrx_store){keys, keys ? keys + sizeof(kr_key) : NULL, stride, stride};
}

uint64_t KR_W(cgrx_slot_nbytes)(uint32_t layout)
{
    return stride_of(layout) + (layout == CGRX_COLUMN ? sizeof(uint32_t) : 0);
}

kr_status KR_W(cgrx_slots_allocate)(kr_device *device, kr_stream *stream, uint32_t layout, uint64_t n,
                                    cgrx_slots *slots, kr_error *err)
{
    cgrx_slots made = {.layout = layout};
    const int apart = layout == CGRX_COLUMN;
    kr_status status =
        kr_buffer_allocate(device, n * stride_of(layout), stream,
                           apart ? "keys of buckets" : "entries of buckets", NULL, &made.keys, err);
    if (status == KR_OK && apart)
        status = kr_buffer_allocate(device, n * sizeof(uint32_t), stream, "row ids of buckets", NULL,
                                    &made.rows, err);
    if (status == KR_OK)
        *slots = made;
    else
        cgrx_slots_release(device, stream, &made);
    return status;
}
