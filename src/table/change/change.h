/* Rows appended to a table and deleted from it. All need exclusive access, have checked arguments, and block.
 * On failure the table is as it was, unless the device was lost. */
#ifndef KEYRAY_TABLE_CHANGE_CHANGE_H
#define KEYRAY_TABLE_CHANGE_CHANGE_H

#include "table/storage/table.h"

/* Columns of the table's types and of equal length, at least one row. */
void kr_change_append_rows(kr_work *work, kr_table *table, const kr_column *columns);

void kr_change_delete_rows(kr_work *work, kr_table *table, const uint32_t *rows, uint64_t n,
                           uint64_t *n_deleted);
/* The rows for which a condition holds; NULL: all. */
void kr_change_delete_selected(kr_work *work, kr_table *table, const kr_condition *condition,
                               uint64_t *n_deleted);

#endif
