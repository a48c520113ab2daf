/* The columns of a table, as conditions see them. */
#ifndef KEYRAY_TABLE_CONDITION_COLUMNS_H
#define KEYRAY_TABLE_CONDITION_COLUMNS_H

#include "base/key/key.h"
#include "base/util/error.h"

#define KR_NO_COLUMN 0xFFFFFFFFu

/* What a plan needs to know of a table. */
typedef struct kr_plan_columns {
    uint32_t n;
    const kr_column *columns; /* types, and whether there is validity */
    const char *const *names;
    int (*find_text)(void *ctx, uint32_t column, const char *text, size_t nbytes, uint32_t *code);
    void *ctx;
    const kr_unit *units; /* of timestamp64; NULL: microseconds */
} kr_plan_columns;

static inline kr_unit kr_plan_unit(const kr_plan_columns *columns, uint32_t column)
{
    return columns->units ? columns->units[column] : KR_UNIT_US;
}

/* The largest code of a type. */
static inline uint64_t kr_plan_most_code(uint32_t type)
{
    return ~(uint64_t)0 >> (64 - kr_type_significant_bits(type));
}

#endif
