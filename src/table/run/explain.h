/* How a table would answer a condition, as text. */
#ifndef KEYRAY_TABLE_RUN_EXPLAIN_H
#define KEYRAY_TABLE_RUN_EXPLAIN_H

#include "table/storage/table.h"

/* Lines that end in '\n', cut off at nbytes. */
kr_status kr_scan_explain_plan(const kr_table *table, const kr_plan *plan, char *text, size_t nbytes,
                               kr_error *err);

#endif
