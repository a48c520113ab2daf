/* An index: a family's structure on a device, and what core knows of it. */
#ifndef KEYRAY_CORE_INDEX_H
#define KEYRAY_CORE_INDEX_H

#include "core/family.h"

struct kr_index {
    kr_device *device;
    const kr_family_ops *ops;
    kr_spec spec;
    void *self;
    void *ready;        /* event after the build; NULL on host devices */
    uint64_t row_limit; /* row ids are below it */
    uint32_t key_bits;  /* low bits in which keys of the index differ */
    kr_index_info info;
};

/* kr_index_create with checked arguments. */
kr_status kr_index_make(kr_device *device, const kr_spec *spec, const kr_column *keys,
                        const uint32_t *row_ids, kr_stream *stream, kr_index **index, kr_error *err);

/* Makes `stream` wait for the build. */
kr_status kr_index_await(const kr_index *index, kr_stream *stream, kr_error *err);

/* A shape for estimates; `column` NULL fails. */
kr_status kr_shape_make(kr_device *device, const kr_spec *spec, const kr_column *column, int has_row_ids,
                        kr_shape *shape, kr_error *err);

/* Checks a column's type, data and alignment; `what` names it in the error. */
kr_status kr_column_check(const kr_column *column, const char *what, kr_error *err);

/* Brings `nbytes` to the device, through pinned chunks so that reading and copying overlap. Blocks. */
kr_status kr_upload(kr_device *device, void *to, const void *from, uint64_t nbytes, kr_stream *stream,
                    kr_error *err);

/* Bytes of a validity bitmap from its first used byte on. */
static inline uint64_t kr_validity_nbytes(const kr_column *column)
{
    return (column->validity_offset % 8 + column->count + 7) / 8;
}

/* A column in device memory: the caller's own, or copies held by the buffers. */
typedef struct kr_resident {
    kr_column column;
    kr_buffer data, validity;
} kr_resident;
kr_status kr_resident_make(kr_device *device, const kr_column *column, const char *what, kr_stream *stream,
                           kr_resident *resident, kr_error *err);
void kr_resident_release(kr_device *device, kr_resident *resident, kr_stream *stream);

#endif
