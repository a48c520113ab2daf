/* Which rows of a column are indexed, in ascending order of their row ids: the order from which a stable
 * sort by key makes (key, row id). */
#ifndef KEYRAY_SORTED_ROWS_H
#define KEYRAY_SORTED_ROWS_H

#include "core/family.h"

typedef struct kr_row_list {
    uint64_t n;
    kr_buffer index;      /* positions in the column; none: 0 .. n - 1 */
    kr_buffer ids;        /* row ids, when they had to be made */
    const uint32_t *rows; /* row ids; NULL: 0 .. n - 1. Points into ids, index or the caller's */
} kr_row_list;

kr_status kr_row_list_make(const kr_build *build, kr_row_list *list, kr_error *err);
void kr_row_list_release(kr_device *device, kr_row_list *list, kr_stream *stream);

/* A few zeroed uint64_t on the device that programs count in, and their values brought back (blocks). */
kr_status kr_counters_make(kr_device *device, kr_stream *stream, uint32_t n, kr_buffer *counters,
                           kr_error *err);
kr_status kr_counters_read(kr_device *device, kr_stream *stream, const kr_buffer *counters, uint64_t *values,
                           uint32_t n, kr_error *err);

/* found[0]: ids that are not above the one before; found[1]: ids that are KR_NO_ROW. Blocks. */
kr_status kr_ids_check(kr_device *device, const uint32_t *ids, uint64_t n, kr_stream *stream,
                       uint64_t found[2], kr_error *err);

#endif
