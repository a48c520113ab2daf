#include "lookup/order.h"
#include "key/encode.h"

void kr_order_release(kr_device *device, kr_order *order, kr_stream *stream)
{
    kr_buffer_release(device, &order->positions, stream);
    kr_buffer_release(device, &order->codes, stream);
}

kr_status kr_order_make(kr_device *device, const kr_probe_plan *plan, uint64_t n, kr_stream *stream,
                        kr_batch *batch, kr_order *order, kr_error *err)
{
    const uint32_t bits = kr_type_key_bits(batch->lower_type);
    const uint64_t nbytes = n * (bits / 8);
    const char *help = "use probes=as-is";
    kr_buffer raw = {0};
    kr_order made = {0};
    kr_sort sort = {.key_bits = bits, .first_bit = plan->first_bit, .end_bit = plan->end_bit, .n = n};
    kr_status status = kr_buffer_allocate(device, nbytes, stream, "sorted probes", help, &made.codes, err);
    if (status == KR_OK)
        status = kr_buffer_allocate(device, n * sizeof(uint32_t), stream, "the order of probes", help,
                                    &made.positions, err);
    sort.keys_in = batch->lower;
    if (status == KR_OK && batch->lower_type != KR_U32 && batch->lower_type != KR_U64) {
        status = kr_buffer_allocate(device, nbytes, stream, "encoded probes", help, &raw, err);
        const kr_encode_job job = {batch->lower, NULL, raw.data, n, batch->lower_type};
        if (status == KR_OK)
            status = kr_encode(device, &job, stream, err);
        sort.keys_in = raw.data;
    }
    sort.keys_out = made.codes.data;
    sort.rows_out = made.positions.data;
    if (status == KR_OK)
        status = kr_device_sort(device, &sort, stream, err);
    kr_buffer_release(device, &raw, stream);
    if (status != KR_OK) {
        kr_order_release(device, &made, stream);
        return status;
    }
    batch->lower = made.codes.data;
    batch->lower_type = bits == 64 ? KR_U64 : KR_U32;
    batch->order = made.positions.data;
    *order = made;
    return KR_OK;
}
