#include "core/slices.h"

/* Enough slices for every multiprocessor's warps, or every core's thread, a few times over. */
enum { GPU_SLICES = 1 << 17, CPU_SLICES = 1 << 10, MOST_PER_SPAN = 1 << 12, GROUP = 32 };

void kr_slices_release(kr_device *device, kr_slices *slices, kr_stream *stream)
{
    kr_buffer_release(device, &slices->offset_buffer, stream);
    kr_buffer_release(device, &slices->span_buffer, stream);
}

static uint32_t slices_per_span(const kr_device *device, uint64_t n)
{
    const uint64_t wanted = (device->ops->is_host ? CPU_SLICES : GPU_SLICES) / n;
    return wanted < 2 ? 1 : wanted < MOST_PER_SPAN ? (uint32_t)wanted : MOST_PER_SPAN;
}

kr_status kr_slices_make(kr_device *device, const kr_span *spans, uint64_t *offsets, uint64_t n,
                         kr_stream *stream, kr_slices *slices, kr_error *err)
{
    kr_slices made = {.spans = spans, .offsets = offsets, .per_span = n ? slices_per_span(device, n) : 1};
    made.spread = made.per_span > 1 && !device->ops->is_host ? GROUP : 1;
    *slices = made;
    if (made.per_span == 1)
        return KR_OK;
    const uint64_t count = n * made.per_span;
    kr_status status =
        kr_buffer_allocate(device, count * sizeof(kr_span), stream, "slices", NULL, &made.span_buffer, err);
    if (status == KR_OK && offsets)
        status = kr_buffer_allocate(device, count * sizeof(uint64_t), stream, "offsets of slices", NULL,
                                    &made.offset_buffer, err);
    const slice_params params = {spans,         offsets, made.span_buffer.data, made.offset_buffer.data,
                                 made.per_span, 0};
    if (status == KR_OK)
        status = kr_device_run(device, &reduce_slice, &params, count, stream, err);
    made.spans = made.span_buffer.data;
    made.offsets = made.offset_buffer.data;
    if (status == KR_OK)
        *slices = made;
    else
        kr_slices_release(device, &made, stream);
    return status;
}
