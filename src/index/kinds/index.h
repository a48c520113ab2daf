/* An index: a family's structure on a device, and what the library knows about it. */
#ifndef KEYRAY_INDEX_KINDS_INDEX_H
#define KEYRAY_INDEX_KINDS_INDEX_H

#include "index/kinds/column.h"
#include "index/kinds/family.h"

struct kr_index {
    kr_device *device;
    const kr_family_ops *ops;
    kr_spec spec;
    void *self;
    void *ready;               /* event after the build; NULL on host devices */
    _Atomic uint32_t is_ready; /* 1: the event has passed, so that nobody need wait for it */
    uint64_t version;          /* raised by every change */
    uint64_t row_limit;        /* row ids are below it */
    uint64_t dictionary;       /* of the keys, see kr_column */
    uint32_t key_bits;         /* low bits in which keys of the index differ */
    uint32_t is_unique;        /* 1: no two rows have the same key; 0: perhaps, always so after a change */
    kr_phases phases;          /* of the build or the last change */
    kr_index_info info;
};

/* kr_index_create with checked arguments. */
kr_status kr_index_make(kr_device *device, const kr_spec *spec, const kr_column *keys,
                        const uint32_t *row_ids, kr_stream *stream, kr_index **index, kr_error *err);

/* The same for keys of u32 or u64 that are all below 2^used_bits, with row ids 0, 1, 2, ... */
kr_status kr_index_make_narrow(kr_device *device, const kr_spec *spec, const kr_column *keys,
                               uint32_t used_bits, kr_stream *stream, kr_index **index, kr_error *err);

/* kr_index_destroy, for a call that counts its memory on that stream. */
void kr_index_release(kr_index *index, kr_stream *stream);

/* kr_index_set_keys with checked arguments and at least one key. Blocks. */
kr_status kr_index_set_keys_apply(kr_index *index, const uint32_t *row_ids, const kr_column *keys,
                                  kr_stream *stream, kr_error *err);

/* kr_index_update with checked arguments; next_row of `wanted` is not read. Blocks. */
kr_status kr_index_update_apply(kr_index *index, const kr_update *wanted, kr_stream *stream, kr_error *err);

/* kr_index_validate with checked arguments. Blocks. */
kr_status kr_index_check(const kr_index *index, kr_error *err);

/* Makes `stream` wait for the build. */
kr_status kr_index_await(const kr_index *index, kr_stream *stream, kr_error *err);

/* A shape for estimates; fails with more rows than an index holds. row_ids: NULL, or the caller's. */
kr_status kr_index_shape_make(kr_device *device, const kr_spec *spec, const kr_column *column,
                              const uint32_t *row_ids, kr_shape *shape, kr_error *err);

#endif
