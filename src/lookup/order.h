/* Sorts a batch by its keys, so that neighbouring probes touch neighbouring entries. */
#ifndef KEYRAY_LOOKUP_ORDER_H
#define KEYRAY_LOOKUP_ORDER_H

#include "lookup/plan.h"

typedef struct kr_order {
    kr_buffer codes;     /* of the lower bounds, in their new order */
    kr_buffer positions; /* uint32_t: their positions before */
} kr_order;

/* Sorts n <= 2^32 - 1 probes and changes *batch to the reordered batch; enqueues. */
kr_status kr_order_make(kr_device *device, const kr_probe_plan *plan, uint64_t n, kr_stream *stream,
                        kr_batch *batch, kr_order *order, kr_error *err);
void kr_order_release(kr_device *device, kr_order *order, kr_stream *stream);

#endif
