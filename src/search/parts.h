/* Lookups of partitioned batches in a store. */
#ifndef KEYRAY_SEARCH_PARTS_H
#define KEYRAY_SEARCH_PARTS_H

#include "search/store.h"

/* A family's `cuts`, of a kind whose structure begins with its store. Enqueue. */
kr_status kr_parts_cuts_u32(kr_device *device, const void *self, uint32_t bits, void *keys, kr_stream *stream,
                            kr_error *err);
kr_status kr_parts_cuts_u64(kr_device *device, const void *self, uint32_t bits, void *keys, kr_stream *stream,
                            kr_error *err);
/* A family's `locate` where job->partition is there, in a store in key order. Enqueue. */
kr_status kr_parts_locate_u32(kr_device *device, const kr_store *store, const kr_locate *job,
                              kr_stream *stream, kr_error *err);
kr_status kr_parts_locate_u64(kr_device *device, const kr_store *store, const kr_locate *job,
                              kr_stream *stream, kr_error *err);

#endif
