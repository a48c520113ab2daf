/* Spreading spans over threads: one thread a span where there are many, whole groups and several slices a
 * span where there are few, so that a single range over everything still uses the device. */
#ifndef KEYRAY_CORE_SLICES_H
#define KEYRAY_CORE_SLICES_H

#include "core/reduce.h"
#include "devices/device.h"

typedef struct kr_slices {
    const kr_span *spans; /* n * per_span of them: the slices, or the caller's spans where per_span is 1 */
    uint64_t *offsets;    /* the same for ROWS */
    uint32_t per_span;
    uint32_t spread; /* threads per slice */
    kr_buffer span_buffer, offset_buffer;
} kr_slices;

/* `offsets` of the spans, or NULL. Enqueues. */
kr_status kr_slices_make(kr_device *device, const kr_span *spans, uint64_t *offsets, uint64_t n,
                         kr_stream *stream, kr_slices *slices, kr_error *err);
void kr_slices_release(kr_device *device, kr_slices *slices, kr_stream *stream);

#endif
