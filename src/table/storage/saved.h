/* Tables in files. */
#ifndef KEYRAY_TABLE_STORAGE_SAVED_H
#define KEYRAY_TABLE_STORAGE_SAVED_H

#include "table/storage/table.h"

/* kr_table_pieces with checked arguments. */
kr_status kr_table_make_pieces(const kr_table *table, const kr_save_options *options, kr_pieces **pieces,
                               kr_error *err);

/* The checked arguments of kr_table_load. A table holds the file as long as it borrows from it. */
typedef struct kr_table_load_job {
    kr_device *device;
    const kr_saved *saved;
    kr_table_options options;
} kr_table_load_job;

void kr_table_make_loaded(kr_work *work, const kr_table_load_job *job, kr_table **table);

/* Before a change: memory of a mapped file is copied, and the file let go. On failure the table is as it was.
 */
void kr_table_own(kr_work *work, kr_table *table);

#endif
