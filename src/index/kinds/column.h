/* Checks columns, and copies host columns to a device. */
#ifndef KEYRAY_INDEX_KINDS_COLUMN_H
#define KEYRAY_INDEX_KINDS_COLUMN_H

#include "base/devices/work.h"

/* Checks a column's type, count, alignment and place, and (the second) that there are data; `what` names it
 * in the error. *reaches, unless NULL: stays as it is if the device reaches all arrays, else becomes 0. */
kr_status kr_column_check_shape(kr_device *device, const kr_column *column, const char *what, int *reaches,
                                kr_error *err);
kr_status kr_column_check(kr_device *device, const kr_column *column, const char *what, int *reaches,
                          kr_error *err);

/* Refuses codes of different dictionaries, and codes of texts beside numbers; the words name both in the
 * error. */
kr_status kr_column_check_texts(const char *what, uint64_t dictionary, const char *other,
                                uint64_t other_dictionary, kr_error *err);

/* Copies `nbytes` from wherever they are. On a CPU a progress callback can cancel it halfway. */
kr_status kr_column_bring_bytes(kr_device *device, void *to, const void *from, uint64_t nbytes,
                                kr_stream *stream, kr_error *err);
/* Copies `nbytes` to the device, through pinned buffers so that reading and copying overlap. Blocks. */
kr_status kr_column_upload(kr_device *device, void *to, const void *from, uint64_t nbytes, kr_stream *stream,
                           kr_error *err);

/* Bytes of a validity bitmap from its first used byte on. */
static inline uint64_t kr_column_validity_nbytes(const kr_column *column)
{
    return (column->validity_offset % 8 + column->count + 7) / 8;
}

/* Rows first .. first + n - 1. */
kr_column kr_column_slice(const kr_column *column, uint64_t first, uint64_t n);

/* 1 if the device reaches all arrays; a column may be NULL. */
int kr_column_is_reached(kr_device *device, const kr_column *column);

/* The column in device memory: the caller's own arrays, or copies, which are scratch memory of the work.
 * Blocks where it copies. */
kr_column kr_column_bring(kr_work *work, const kr_column *column, const char *what);

/* The same for longer than a work: the buffers hold the copies. */
typedef struct kr_resident {
    kr_column column;
    kr_buffer data, validity;
} kr_resident;
kr_status kr_column_resident_make(kr_device *device, const kr_column *column, const char *what,
                                  kr_stream *stream, kr_resident *resident, kr_error *err);
void kr_column_resident_release(kr_device *device, kr_resident *resident, kr_stream *stream);

#endif
