/* Leaves as text, and text that grows within its room. */
#ifndef KEYRAY_TABLE_CONDITION_DESCRIBE_H
#define KEYRAY_TABLE_CONDITION_DESCRIBE_H

#include "table/condition/plan.h"

#include <stddef.h>

/* "a between 3 and 7 or a is null": values, not codes, such that the condition of this text selects the same
 * rows. Texts are those of the condition, which must still be there. Cut off at nbytes. */
void kr_leaf_describe(const kr_leaf *leaf, const kr_plan_columns *columns, char *text, size_t nbytes);

/* Appends; what does not fit is cut off. */
void kr_leaf_text_add(char *text, size_t nbytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
