/* Tables of three columns for the tests of kind bindex, and what validation finds of them. */
#ifndef KEYRAY_TESTS_BINDEX_TABLES_H
#define KEYRAY_TESTS_BINDEX_TABLES_H

#include "cpu_device.h"
#include "random.h"
#include "table/storage/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS_MOST = 200003, COLUMNS = 3 };

/* ---- Columns --------------------------------------------------------------------------------- */

enum { CONSTANT, ASCENDING, DESCENDING, FEW, SKEWED, RANDOM, LIMITS, ALL_NULL, SHAPES };
static const kr_type types[] = {KR_U32, KR_I32, KR_I64, KR_U8, KR_F32, KR_F64, KR_I16};
enum { TYPES = sizeof types / sizeof *types };

typedef struct values {
    kr_type type;
    int64_t at[ROWS_MOST];
    uint8_t data[8 * ROWS_MOST];
    uint8_t validity[ROWS_MOST / 8 + 2]; /* from bit 5 on */
    int has_nulls;
} values;
static values columns[COLUMNS];

static int64_t lowest(kr_type type)
{
    return type == KR_I32 ? INT32_MIN : type == KR_I64 ? INT64_MIN : type == KR_I16 ? INT16_MIN : 0;
}

/* Floats hold integers below 2^24. */
static int64_t highest(kr_type type)
{
    return type == KR_U32                     ? UINT32_MAX
           : type == KR_I32                   ? INT32_MAX
           : type == KR_I64                   ? INT64_MAX
           : type == KR_U8                    ? UINT8_MAX
           : type == KR_I16                   ? INT16_MAX
           : type == KR_F32 || type == KR_F64 ? 1 << 24
                                              : 0;
}

static int64_t value_of(kr_rng *rng, kr_type type, int shape, uint64_t i, uint64_t n)
{
    const uint64_t wide = kr_rng_next(rng) >> 33, most = (uint64_t)highest(type);
    switch (shape) {
    case CONSTANT: return 77;
    case ASCENDING: return (int64_t)(i % (most + 1));
    case DESCENDING: return (int64_t)((n - i) % (most + 1));
    case FEW: return (int64_t)kr_rng_below(rng, 5) * 10;
    case SKEWED: return (int64_t)(kr_rng_below(rng, 2) ? 42 : (wide >> kr_rng_below(rng, 31)) % (most + 1));
    case LIMITS:
        return kr_rng_below(rng, 3) == 0   ? lowest(type)
               : kr_rng_below(rng, 2) == 0 ? highest(type)
                                           : (int64_t)kr_rng_below(rng, 100);
    default: return (int64_t)(wide % (most + 1));
    }
}

static void store(values *v, uint64_t i, int64_t value)
{
    const uint32_t width = kr_type_nbytes(v->type);
    v->at[i] = value;
    if (v->type == KR_F32)
        ((float *)v->data)[i] = (float)value;
    else if (v->type == KR_F64)
        ((double *)v->data)[i] = (double)value;
    else
        memcpy(v->data + i * width, &value, width);
}

/* Rows first .. n - 1. */
static void fill(values *v, kr_rng *rng, int shape, uint64_t first, uint64_t n)
{
    for (uint64_t i = first; i < n; ++i) {
        const int valid = shape != ALL_NULL && kr_rng_below(rng, 7) != 0;
        store(v, i, value_of(rng, v->type, shape, i, n));
        v->validity[(i + 5) / 8] &= (uint8_t) ~(1 << (i + 5) % 8);
        v->validity[(i + 5) / 8] |= (uint8_t)(valid << (i + 5) % 8);
    }
}

static void describe(kr_column described[COLUMNS], uint64_t n)
{
    for (uint32_t c = 0; c < COLUMNS; ++c)
        described[c] = (kr_column){.type = columns[c].type,
                                   .count = n,
                                   .data = columns[c].data,
                                   .validity = columns[c].has_nulls ? columns[c].validity : NULL,
                                   .validity_offset = columns[c].has_nulls ? 5 : 0};
}

static kr_table *make(const char *spec, uint64_t n)
{
    kr_column described[COLUMNS];
    kr_table *table = NULL;
    kr_error err = {0};
    kr_estimate need = {.struct_size = sizeof need};
    kr_table_info info = {.struct_size = sizeof info};
    describe(described, n);
    if (kr_table_create(device, spec, described, NULL, COLUMNS, NULL, NULL, &table, &err) != KR_OK)
        fail_msg("%s", err.text);
    assert_int_equal(kr_table_estimate(device, spec, described, COLUMNS, NULL, &need, &err), KR_OK);
    assert_int_equal(kr_table_query(table, &info, &err), KR_OK);
    assert_true(need.footprint_nbytes >= info.footprint_nbytes);
    assert_true(need.peak_nbytes >= info.peak_nbytes);
    if (kr_table_validate(table, &err) != KR_OK)
        fail_msg("%s", err.text);
    return table;
}

/* ---- Damage ---------------------------------------------------------------------------------- */

static void expect_damage(kr_table *table, const char *text)
{
    kr_error err = {0};
    assert_int_equal(kr_table_validate(table, &err), KR_ERR_INVARIANT);
    if (!strstr(err.text, text))
        fail_msg("'%s', not '%s'", err.text, text);
}

/* Scans would leave their buffers: found without a look at the columns. */
static void expect_danger(kr_table *table, const char *text)
{
    kr_work work = kr_work_on(table->device, NULL, NULL);
    table->ops->check(&work, table->self);
    assert_int_equal(kr_work_end(&work), KR_ERR_INVARIANT);
    expect_damage(table, text);
}

#endif
