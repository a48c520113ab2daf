/* Saving and loading for memory_faults.c. */
#ifndef KEYRAY_TESTS_FAULT_SAVED_H
#define KEYRAY_TESTS_FAULT_SAVED_H

#include "check.h"

static unsigned char saved_bytes[1 << 20];

/* All pieces of an index, or of a table, to saved_bytes. */
static kr_status save_to_memory(const kr_index *index, const kr_table *table, uint64_t *nbytes, kr_error *err)
{
    const kr_attachment attached = {"note", "abc", 3};
    const kr_save_options options = {
        .struct_size = sizeof options, .attachments = &attached, .n_attachments = 1};
    kr_pieces *pieces = NULL;
    const void *data = NULL;
    uint64_t n = 1;
    kr_status status = index ? kr_index_pieces(index, &options, &pieces, err)
                             : kr_table_pieces(table, &options, &pieces, err);
    *nbytes = 0;
    while (!status && n) {
        status = kr_pieces_next(pieces, &data, &n, NULL, err);
        if (!status && *nbytes + n <= sizeof saved_bytes) {
            memcpy(saved_bytes + *nbytes, data, n);
            *nbytes += n;
        }
    }
    kr_pieces_destroy(pieces);
    return status;
}

/* `path` NULL: from saved_bytes, else from that file, which is mapped. `index` NULL: a table. */
static kr_status load_saved(kr_device *device, const char *path, uint64_t nbytes, kr_stream *stream,
                            kr_index **index, kr_table **table, kr_error *err)
{
    kr_saved *saved = NULL;
    kr_status status = path ? kr_saved_open(path, NULL, &saved, err)
                            : kr_saved_open_memory(saved_bytes, nbytes, NULL, &saved, err);
    if (!status)
        status = kr_saved_check(saved, err);
    if (!status)
        status = index ? kr_index_load(device, saved, stream, index, err)
                       : kr_table_load(device, saved, NULL, stream, table, err);
    kr_saved_close(saved);
    return status;
}

#endif
