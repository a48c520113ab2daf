/* Lookups of partitioned batches in sorted entries. */
#ifndef KEYRAY_SEARCH_PARTS_H
#define KEYRAY_SEARCH_PARTS_H

#include "core/family.h"
#include "search/entries.h"

/* A family's `cuts`; `lists` says where positions lie, NULL: in slots of the same number. Enqueue. */
kr_status kr_parts_cuts_u32(kr_device *device, const kr_entries *entries, const kr_lists *lists,
                            uint32_t bits, void *keys, kr_stream *stream, kr_error *err);
kr_status kr_parts_cuts_u64(kr_device *device, const kr_entries *entries, const kr_lists *lists,
                            uint32_t bits, void *keys, kr_stream *stream, kr_error *err);
/* A family's `locate` where job->partition is there and slots are positions. Enqueue. */
kr_status kr_parts_locate_u32(kr_device *device, const kr_entries *entries, const kr_locate *job,
                              kr_stream *stream, kr_error *err);
kr_status kr_parts_locate_u64(kr_device *device, const kr_entries *entries, const kr_locate *job,
                              kr_stream *stream, kr_error *err);

#endif
