/* How a table would answer a condition, as text. */
#ifndef KEYRAY_SCANS_EXPLAIN_H
#define KEYRAY_SCANS_EXPLAIN_H

#include "scans/table.h"

/* Lines that end in '\n', cut off at nbytes. */
void kr_plan_explain(const kr_table *table, const kr_plan *plan, char *text, size_t nbytes);

#endif
