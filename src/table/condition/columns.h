/* The columns of a table, as conditions see them. */
#ifndef KEYRAY_TABLE_CONDITION_COLUMNS_H
#define KEYRAY_TABLE_CONDITION_COLUMNS_H

#include "base/key/key.h"
#include "base/util/error.h"
#include "table/condition/intervals.h"

#define KR_NO_COLUMN 0xFFFFFFFFu

/* What conditions ask of the dictionaries of a table (table/storage/texts.h). Several threads may at once. */
typedef struct kr_plan_texts {
    int (*has)(const void *ctx, uint32_t column);        /* 1: the column's codes are of a dictionary here */
    int (*is_ordered)(const void *ctx, uint32_t column); /* 1: codes are in the order of the texts */
    uint32_t (*count)(const void *ctx, uint32_t column); /* of its texts; codes are below it */
    /* Of each text the first code that is not below it, and the first that is above it; of prefixes: that is
     * behind all that begin with it. Without an order: its code and one more, or the same number twice. */
    kr_status (*bounds)(const void *ctx, uint32_t column, const kr_column *texts, int are_prefixes,
                        uint32_t *lower, uint32_t *upper, kr_error *err);
    /* Adds the codes first .. first + n - 1 whose text the pattern matches (kr_texts_match). */
    kr_status (*match)(const void *ctx, uint32_t column, const uint16_t *pattern, uint64_t n_pattern,
                       uint32_t first, uint32_t n, kr_code_set *set, kr_error *err);
    /* The first bytes of a text, with a NUL behind them; how many it has, or UINT64_MAX after a failure. */
    uint64_t (*show)(const void *ctx, uint32_t column, uint32_t code, char *text, size_t nbytes);
} kr_plan_texts;

/* What a plan needs to know of a table. */
typedef struct kr_plan_columns {
    uint32_t n;
    const kr_column *columns; /* types, and whether there is validity */
    const char *const *names;
    int (*find_text)(void *ctx, uint32_t column, const char *text, size_t nbytes, uint32_t *code);
    void *ctx;
    const kr_unit *units;       /* of timestamp64; NULL: microseconds */
    const kr_plan_texts *texts; /* NULL: no column has a dictionary of the table */
    const void *of_texts;       /* what its functions get */
} kr_plan_columns;

/* 1: the column has a dictionary of the table. */
static inline int kr_plan_has_texts(const kr_plan_columns *columns, uint32_t column)
{
    return columns->texts && columns->texts->has(columns->of_texts, column);
}

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
