/* Lookups of partitioned batches in a store. */
#ifndef KEYRAY_INDEX_LIGHTWEIGHT_PARTS_H
#define KEYRAY_INDEX_LIGHTWEIGHT_PARTS_H

#include "index/lightweight/parts_levels.h"
#include "index/lightweight/store.h"

/* A family's `ordered`, for a kind whose structure begins with a store in key order. */
extern const kr_ordered_ops kr_store_ordered_u32, kr_store_ordered_u64;
/* A family's `locate` for a job with a partition, in a store in key order. `levels`: or NULL; not with layout
 * aos. Enqueue. */
void kr_parts_locate_u32(kr_work *work, const kr_store *store, const kr_parts_levels *levels,
                         const kr_locate *job);
void kr_parts_locate_u64(kr_work *work, const kr_store *store, const kr_parts_levels *levels,
                         const kr_locate *job);

#endif
