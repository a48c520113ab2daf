/* Sorts a batch by its keys, so that neighbouring probes touch neighbouring entries. */
#ifndef KEYRAY_INDEX_LOOKUP_ORDER_H
#define KEYRAY_INDEX_LOOKUP_ORDER_H

#include "index/lookup/plan.h"

/* Sorts n <= 2^32 - 1 probes and changes *batch to the reordered batch, which is scratch memory of the work;
 * enqueues. */
void kr_order_make(kr_work *work, const kr_probe_plan *plan, uint64_t n, kr_batch *batch);

#endif
