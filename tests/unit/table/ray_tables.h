/* Tables of four columns for tests of kinds that cast rays: random ones, conditions on them, counters. */
#ifndef KEYRAY_TESTS_RAY_TABLES_H
#define KEYRAY_TESTS_RAY_TABLES_H

#include "device_name.h"
#include "predicates.h"

#include <keyray/keyray.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COLUMNS = 4, ROWS_MOST = 30000 };

typedef struct table {
    kr_device *device;
    kr_table *scanned;
    kr_column columns[COLUMNS];
    void *data[COLUMNS];
    uint8_t *validity[COLUMNS];
    uint64_t n;
} table;

static const char *const names[COLUMNS] = {"a", "b", "c", "d"};

/* ---- Tables ---------------------------------------------------------------------------------- */

enum {
    EVEN,     /* over the whole type */
    FEW,      /* values */
    ONE,      /* value */
    EXTREMES, /* of the type */
    ASCENDING,
    SKEWED,  /* half of the rows have one value, a quarter another, ... */
    CROWDED, /* seven of ten rows, in every column the same, have CROWD_CODE */
    SHAPES
};
enum { CROWD_CODE = 77 };

static inline uint64_t bits_of(kr_rng *rng, uint32_t shape, kr_type type, uint64_t row)
{
    switch (shape) {
    case FEW: return kr_value_of_code(type, 1000 + kr_rng_below(rng, 5));
    case ONE: return kr_value_of_code(type, 77);
    case EXTREMES: return kr_value_extreme(type, kr_rng_below(rng, 40));
    case ASCENDING: return kr_value_of_code(type, 100 + row);
    case CROWDED: return kr_value_of_code(type, row % 10 < 7 ? CROWD_CODE : kr_rng_next(rng));
    case SKEWED: return kr_value_of_code(type, kr_rng_next(rng) >> 1 >> kr_rng_below(rng, 63));
    default: return kr_value_of_code(type, kr_rng_next(rng));
    }
}

/* Random columns, and a device for them. */
static inline void fill(table *t, kr_rng *rng, const kr_type types[COLUMNS], const uint32_t shapes[COLUMNS],
                        uint64_t n, int nulls)
{
    memset(t, 0, sizeof *t);
    assert_int_equal(kr_device_open(device_name, NULL, &t->device, NULL), KR_OK);
    t->n = n;
    for (uint32_t c = 0; c < COLUMNS; ++c) {
        const int has_nulls = nulls && c != 1;
        t->data[c] = calloc(n + 1, 8);
        t->validity[c] = calloc(n / 8 + 2, 1);
        for (uint64_t r = 0; r < n; ++r) {
            kr_value_store_bits(types[c], t->data[c], r, bits_of(rng, shapes[c], types[c], r));
            if (kr_rng_below(rng, nulls == 2 ? 20 : 3))
                t->validity[c][(r + 5) / 8] |= (uint8_t)(1 << (r + 5) % 8);
        }
        t->columns[c] = (kr_column){.type = types[c],
                                    .count = n,
                                    .data = t->data[c],
                                    .validity = has_nulls ? t->validity[c] : NULL,
                                    .validity_offset = has_nulls ? 5 : 0};
    }
}

static inline void empty(table *t)
{
    kr_device_close(t->device);
    for (uint32_t c = 0; c < COLUMNS; ++c) {
        free(t->validity[c]);
        free(t->data[c]);
    }
}

/* Skips the test where nothing casts rays. */
static inline void create(table *t, const char *spec)
{
    kr_error err = {0};
    const kr_status status =
        kr_table_create(t->device, spec, t->columns, names, COLUMNS, NULL, NULL, &t->scanned, &err);
    if (status == KR_ERR_UNSUPPORTED) {
        print_message("skipped: %s\n", err.text);
        skip();
    }
    if (status != KR_OK)
        fail_msg("%s: %s", spec, err.text);
}

/* ---- Conditions ------------------------------------------------------------------------------ */

static inline kr_condition *condition_of(const table *t, const kr_predicate *predicates, uint32_t n)
{
    kr_condition *whole = NULL;
    kr_error err = {0};
    if (kr_predicates_condition(t->columns, names, predicates, n, &whole, &err) != KR_OK)
        fail_msg("%s", err.text);
    return whole;
}

/* The bitmap of a condition, and its report. */
static inline void scan(const table *t, const kr_condition *condition, const uint32_t *alive,
                        uint32_t *bitmap, kr_report *report)
{
    const kr_scan_sink sink = {sizeof sink, KR_SCAN_BITMAP, 0, bitmap, NULL, NULL, 0};
    const kr_scan_sink *sinks[] = {&sink};
    const kr_condition *conditions[] = {condition};
    const kr_scan_options options = {sizeof options, alive, report, report != NULL, 0};
    kr_error err = {0};
    if (kr_scan(t->scanned, conditions, sinks, 1, &options, NULL, &err) != KR_OK)
        fail_msg("%s", err.text);
}

/* ---- Counters -------------------------------------------------------------------------------- */

static inline uint64_t counter(const kr_report *report, const char *name)
{
    for (uint32_t i = 0; i < kr_report_counter_count(report); ++i)
        if (strcmp(kr_report_counter_name(report, i), name) == 0)
            return kr_report_counter_value(report, i);
    fail_msg("there is no counter '%s'", name);
    return 0;
}

static inline uint64_t counter_of_table(const table *t, const char *name)
{
    for (uint32_t i = 0; i < kr_table_counter_count(t->scanned); ++i)
        if (strcmp(kr_table_counter_name(t->scanned, i), name) == 0)
            return kr_table_counter_value(t->scanned, i);
    fail_msg("there is no counter '%s'", name);
    return 0;
}

static inline void fill_distinct(table *t, kr_rng *rng)
{
    const kr_type types[COLUMNS] = {KR_U32, KR_U32, KR_U32, KR_U32};
    const uint32_t shapes[COLUMNS] = {ASCENDING, ASCENDING, ASCENDING, ASCENDING};
    fill(t, rng, types, shapes, ROWS_MOST, 0);
    for (uint32_t c = 0; c < COLUMNS; ++c)
        for (uint64_t r = ROWS_MOST - 1; r > 0; --r) {
            uint32_t *values = t->data[c];
            const uint64_t other = kr_rng_below(rng, r + 1);
            const uint32_t kept = values[r];
            values[r] = values[other];
            values[other] = kept;
        }
}

/* Three columns of distinct values 100, 101, ..., in the scene of a, b and c; bins of 1,875 rows. Cubes are
 * narrower than half a bin, so rays across a region reach little beyond it. */

#endif
